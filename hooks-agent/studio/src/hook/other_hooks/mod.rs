//! What other hooks did at an event, and what may be shown of it.

pub(super) mod changes;
pub(super) mod pending;
pub(super) mod values;
