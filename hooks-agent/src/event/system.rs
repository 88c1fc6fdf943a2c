//! The system message of an event.

use std::sync::Arc;

use crate::message::{ContentBlock, Msg, Role};

/// Adds a block to the system message, or starts one. Who else has the message keeps it as it was.
pub(super) fn append(system: &mut Option<Arc<Msg>>, block: ContentBlock) {
    match system {
        Some(msg) => Arc::make_mut(msg).content.push(block),
        None => *system = Some(Arc::new(Msg::from_blocks(Role::System, "system", vec![block]))),
    }
}
