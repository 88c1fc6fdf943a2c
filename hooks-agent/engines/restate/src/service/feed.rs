//! The feed: the events of the last call of a thread, which callers read while the call runs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::event::RunEvent;

/// The name of the object.
pub(crate) const FEED: &str = "AgentFeed";

/// The state that has the events.
const EVENTS: &str = "events";

/// How many events a feed keeps; readers miss older ones.
const MOST: usize = 2_000;

/// How long a reader waits for the next event.
const WAIT: Duration = Duration::from_secs(20);

/// The virtual object with the events of the last call of a thread, by the name `AgentFeed`: it has the
/// same key as the object that runs the call, and is served beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feed;

/// A call that publishes. The handler `open` takes it from the engine alone. `publish` comes through the
/// ingress, where others may call too, so only who knows the token is heard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Opened {
    /// The id of the invocation.
    pub(super) call: Arc<str>,
    pub(super) token: Arc<str>,
}

/// What a call publishes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Published {
    #[serde(flatten)]
    pub(super) of: Opened,
    pub(super) events: Vec<RunEvent>,
    pub(super) is_over: bool,
}

/// Where a reader is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StreamRequest {
    /// The call whose events the reader has; without one, the reader has none.
    pub call: Option<Arc<str>>,
    /// How many events the reader has.
    pub after: u64,
}

/// The next events of a feed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StreamPart {
    /// The call that the events are of; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// The events, oldest first, each with its number from 0. A gap in the numbers are events that are
    /// not kept.
    pub events: Vec<(u64, RunEvent)>,
    /// What [`StreamRequest::after`] is next.
    pub next: u64,
    /// Whether the call is over, so that no more events come.
    pub is_over: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    call: Option<Arc<str>>,
    token: Option<Arc<str>>,
    next: u64,
    events: VecDeque<(u64, RunEvent)>,
    is_over: bool,
    readers: Vec<(String, StreamRequest)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Subscription {
    awakeable: String,
    request: StreamRequest,
}

impl Kept {
    /// Returns what a reader does not have; `None` if there is nothing.
    fn part(&self, request: &StreamRequest) -> Option<StreamPart> {
        let after = if request.call == self.call { request.after } else { 0 };
        let is_new = |(number, _): &&(u64, RunEvent)| *number >= after;
        let events: Vec<_> = self.events.iter().filter(is_new).cloned().collect();
        if events.is_empty() && !(self.is_over && request.call == self.call) {
            return None;
        }
        let (call, next, is_over) = (self.call.clone(), self.next, self.is_over);
        Some(StreamPart { call, events, next, is_over })
    }
}

#[restate_sdk::object(name = "AgentFeed", client_visibility = "pub(crate)")]
impl Feed {
    /// Begins the feed of a call, in place of that of the call before.
    #[handler(ingress_private)]
    async fn open(&self, ctx: ObjectContext<'_>, opened: Json<Opened>) -> Result<(), HandlerError> {
        let Opened { call, token } = opened.into_inner();
        let kept = ctx.get::<Json<Kept>>(EVENTS).await?.unwrap_or_default().into_inner();
        let (call, token) = (Some(call), Some(token));
        ctx.set(EVENTS, Json(Kept { call, token, readers: kept.readers, ..Kept::default() }));
        Ok(())
    }

    /// Takes events of the call that the feed is of, and of nobody else.
    #[handler]
    async fn publish(
        &self,
        ctx: ObjectContext<'_>,
        published: Json<Published>,
    ) -> Result<(), HandlerError> {
        let Published { of: Opened { call, token }, events, is_over } = published.into_inner();
        let mut kept = ctx.get::<Json<Kept>>(EVENTS).await?.unwrap_or_default().into_inner();
        if (&kept.call, &kept.token) != (&Some(call), &Some(token)) {
            let reason = "only the last call of the thread publishes events";
            return Err(TerminalError::new_with_code(403, reason).into());
        }
        for event in events {
            kept.events.push_back((kept.next, event));
            kept.next += 1;
        }
        let excess = kept.events.len().saturating_sub(MOST);
        kept.events.drain(..excess);
        kept.is_over |= is_over;
        let readers = std::mem::take(&mut kept.readers);
        for (awakeable, request) in readers {
            match kept.part(&request) {
                Some(part) => ctx.resolve_awakeable(&awakeable, Json(part)),
                None => kept.readers.push((awakeable, request)),
            }
        }
        ctx.set(EVENTS, Json(kept));
        Ok(())
    }

    #[handler(ingress_private)]
    async fn subscribe(
        &self,
        ctx: ObjectContext<'_>,
        subscription: Json<Subscription>,
    ) -> Result<(), HandlerError> {
        let Subscription { awakeable, request } = subscription.into_inner();
        let mut kept = ctx.get::<Json<Kept>>(EVENTS).await?.unwrap_or_default().into_inner();
        match kept.part(&request) {
            Some(part) => ctx.resolve_awakeable(&awakeable, Json(part)),
            None => {
                kept.readers.push((awakeable, request));
                ctx.set(EVENTS, Json(kept));
            }
        }
        Ok(())
    }

    #[handler(ingress_private)]
    async fn unsubscribe(
        &self,
        ctx: ObjectContext<'_>,
        awakeable: String,
    ) -> Result<(), HandlerError> {
        let mut kept = ctx.get::<Json<Kept>>(EVENTS).await?.unwrap_or_default().into_inner();
        kept.readers.retain(|(known, _)| *known != awakeable);
        ctx.set(EVENTS, Json(kept));
        Ok(())
    }

    /// Returns the events that a reader does not have; waits up to 20 s for the next one.
    #[handler(ingress_private)]
    async fn read(
        &self,
        ctx: SharedObjectContext<'_>,
        request: Json<StreamRequest>,
    ) -> Result<Json<StreamPart>, HandlerError> {
        let request = request.into_inner();
        let kept = ctx.get::<Json<Kept>>(EVENTS).await?.unwrap_or_default().into_inner();
        if let Some(part) = kept.part(&request) {
            return Ok(Json(part));
        }
        let own = |handler: &str| RequestTarget::object(FEED, ctx.key(), handler);
        let (awakeable, part) = ctx.awakeable::<Json<StreamPart>>();
        let subscription = Subscription { awakeable: awakeable.clone(), request: request.clone() };
        let _ = ctx.request::<_, ()>(own("subscribe"), Json(subscription)).send();
        let timeout = ctx.sleep(WAIT);
        let part = restate_sdk::select! {
            part = part => Some(part?),
            _ = timeout => None,
        };
        if let Some(part) = part {
            return Ok(part);
        }
        let _ = ctx.request::<_, ()>(own("unsubscribe"), awakeable).send();
        let StreamRequest { call, after } = request;
        Ok(Json(StreamPart { call, next: after, ..StreamPart::default() }))
    }
}
