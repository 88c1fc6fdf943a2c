//! Whose request it is.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use lru::LruCache;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::guarded::Session;
use crate::model::refusal::{Form, Refusal};

/// Headers in which agents say which conversation a request is of.
const HEADERS: [&str; 4] = ["session_id", "session-id", "conversation_id", "conversation-id"];

/// How many responses are known to have a thread.
const MOST: NonZeroUsize = NonZeroUsize::new(65_536).expect("it is not zero");

/// The threads of the last responses, with which others go on.
pub(crate) struct Conversations(Mutex<LruCache<String, Known>>);

/// A response that was answered.
#[derive(Clone)]
struct Known {
    whose: Whose,
    /// What answers its calls that were denied, for which the provider waits.
    unanswered: Arc<[Value]>,
}

/// Whose request it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whose {
    /// The id of the thread.
    pub(crate) thread: Arc<str>,
    /// The digest of what the conversation begins with.
    pub(crate) root: Arc<str>,
}

impl Conversations {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }

    /// Notes the thread of a response, and what answers its calls that were denied.
    pub(crate) fn note(&self, response: &str, session: &Session, unanswered: Vec<Value>) {
        let whose = Whose { thread: session.thread.clone(), root: session.root.clone() };
        let known = Known { whose, unanswered: unanswered.into() };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.put(response.to_owned(), known);
    }

    /// Returns what answers the calls of the response that a request goes on with.
    pub(crate) fn unanswered(&self, body: &Value) -> Arc<[Value]> {
        let known = body["previous_response_id"].as_str().and_then(|id| self.known(id));
        known.map(|known| known.unanswered).unwrap_or_default()
    }

    fn known(&self, response: &str) -> Option<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(response).cloned()
    }

    /// Returns whose request it is. `first` is its first text of a user.
    pub(crate) fn of(
        &self,
        form: Form,
        headers: &HeaderMap,
        body: &Value,
        first: Option<&str>,
    ) -> Result<Whose, Refusal> {
        let mut root: Arc<str> = digest("root", first.unwrap_or_default()).into();
        let mut before = None;
        if let (Form::Responses, Some(id)) = (form, body["previous_response_id"].as_str()) {
            before = self.known(id);
            if let Some(before) = &before {
                root = before.whose.root.clone();
            }
        }
        let goes_on = form == Form::Responses && !body["previous_response_id"].is_null();
        let thread: Arc<str> = match (said(form, headers, body), before) {
            (Some((kind, id)), _) => digest(kind, id).into(),
            (None, Some(before)) => before.whose.thread,
            (None, None) if goes_on => return Err(Refusal::unknown_response()),
            (None, None) => digest("first", first.unwrap_or_default()).into(),
        };
        Ok(Whose { thread, root })
    }
}

/// Returns the id of a conversation that an agent says, and where.
fn said<'a>(
    form: Form,
    headers: &'a HeaderMap,
    body: &'a Value,
) -> Option<(&'static str, &'a str)> {
    let of_header = HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    let of_body = || match form {
        Form::Chat => None,
        Form::Responses => {
            let conversation = &body["conversation"];
            conversation.as_str().or_else(|| conversation["id"].as_str())
        }
        Form::Messages => body["metadata"]["user_id"].as_str(),
    };
    let is_said = |id: &&str| !id.is_empty();
    let of_header = of_header.filter(is_said).map(|id| ("header", id));
    of_header.or_else(|| of_body().filter(is_said).map(|id| ("body", id)))
}

/// Returns a name that says nothing of what it is made of.
fn digest(kind: &str, text: &str) -> String {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(text).finalize();
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    format!("model-{:032x}", u128::from_be_bytes(half))
}
