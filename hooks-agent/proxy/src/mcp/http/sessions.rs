//! The channels of the sessions of a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::mcp::messages::channel::{Channel, Shared};

/// How many sessions have a channel at most.
const MOST: usize = 1024;

/// The most bytes of the id of a session.
const MOST_BYTES: usize = 1024;

/// The channels of sessions, each by the id that the server gave it.
#[derive(Debug)]
pub(crate) struct Sessions {
    shared: Arc<Shared>,
    channels: Mutex<HashMap<String, Arc<Channel>>>,
}

impl Sessions {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, channels: Mutex::default() }
    }

    /// Returns the channel of a session: without an id, one for this request alone. None if there are too many.
    pub(crate) fn channel(&self, id: Option<&str>) -> Option<Arc<Channel>> {
        let new = || Arc::new(Channel::new(self.shared.clone()));
        let Some(id) = id else { return Some(new()) };
        self.with(|channels| match channels.get(id) {
            Some(channel) => Some(channel.clone()),
            None => has_room(channels, id)
                .then(|| channels.entry(id.to_owned()).or_insert_with(new).clone()),
        })
    }

    /// Notes the channel in which a session began.
    pub(crate) fn begin(&self, id: &str, channel: &Arc<Channel>) {
        self.with(|channels| {
            if has_room(channels, id) {
                channels.entry(id.to_owned()).or_insert_with(|| channel.clone());
            }
        });
    }

    pub(crate) fn end(&self, id: &str) {
        self.with(|channels| channels.remove(id));
    }

    fn with<R>(&self, change: impl FnOnce(&mut HashMap<String, Arc<Channel>>) -> R) -> R {
        change(&mut self.channels.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes room for one more session. One that is left begins anew when it has a request: those in which nothing waits
/// are left first, then those that nobody reads.
fn has_room(channels: &mut HashMap<String, Arc<Channel>>, id: &str) -> bool {
    if channels.len() >= MOST {
        channels.retain(|_, channel| Arc::strong_count(channel) > 1 || !channel.is_idle());
    }
    if channels.len() >= MOST {
        channels.retain(|_, channel| Arc::strong_count(channel) > 1);
    }
    channels.len() < MOST && id.len() <= MOST_BYTES
}
