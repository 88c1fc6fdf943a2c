//! Reads the messages of users for a running call.

use crate::call::context::CallContext;
use crate::call::thread::kept::Kept;
use crate::memory::Memory;
use crate::store::{InboxMessage, StoreError};

impl CallContext {
    /// Returns what users have said to the call since it looked last. In a journal nothing is: the engine runs the
    /// call again without it.
    pub(crate) async fn inbox(&self, memory: &Memory) -> Result<Vec<InboxMessage>, StoreError> {
        match self.call.kept.get() {
            Some(Kept::Thread(saver)) => saver.inbox().await,
            Some(Kept::Journal(_)) => Ok(Vec::new()),
            None => Ok(memory.inbox()),
        }
    }
}
