//! The reply that a hook supplied after a failure.

use std::sync::Arc;

use crate::call::context::CallContext;
use crate::message::Msg;

struct RecoveredReply(Arc<Msg>);

impl CallContext {
    pub(crate) fn set_recovered_reply(&self, reply: Msg) {
        self.insert(RecoveredReply(Arc::new(reply)));
    }

    pub(crate) fn recovered_reply(&self) -> Option<Arc<Msg>> {
        let reply = self.state().values.get::<RecoveredReply>()?;
        Some(reply.0.clone())
    }
}
