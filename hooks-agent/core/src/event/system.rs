//! The system message of an event.

use std::sync::Arc;

use crate::message::{ContentBlock, Msg, Role};

/// Appends a block to the system message, or creates one. Other holders of the message keep it
/// unchanged.
pub(super) fn append(system: &mut Option<Arc<Msg>>, block: ContentBlock) {
    match system {
        Some(msg) => Arc::make_mut(msg).content.push(block),
        None => *system = Some(Arc::new(Msg::from_blocks(Role::System, "system", vec![block]))),
    }
}
