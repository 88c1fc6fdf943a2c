//! Runs of other hooks at an event, and the values that may be shown of them.

pub(super) mod changes;
pub(super) mod pending;
pub(super) mod values;
