//! Puts a request to the hooks.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::HeaderMap;
use futures::channel::oneshot;
use hooks_agent_core::model::{ChatStream, ModelAnswer};
use hooks_agent_core::options::Globs;
use hooks_agent_guest::{Guard, GuestThread};
use serde_json::Value;

use crate::model::answer::waiting;
use crate::model::guarded::{Known, Outcome, ProxyThreads, Session, TextKey};
use crate::model::refusal::{Form, Refusal};
use crate::model::request::texts::{Place, Said};
use crate::model::request::thread::Conversations;
use crate::model::request::{chat, hosted, messages, responses};

/// What guards requests.
pub(crate) struct RequestGuard {
    pub(crate) guard: Guard,
    pub(crate) threads: Arc<ProxyThreads>,
    pub(crate) known: Known,
    pub(crate) conversations: Arc<Conversations>,
    /// The tools that the policy denies by their names.
    pub(crate) denied: Globs,
}

/// A request that hooks let through.
pub(crate) struct Prepared {
    pub(crate) body: Bytes,
    pub(crate) session: Session,
    pub(crate) is_stream: bool,
    /// The answer as hooks that redact leave it, if there are such hooks. It begins when it is fed.
    pub(crate) answer: Option<(ModelAnswer, oneshot::Sender<ChatStream>)>,
}

/// A text with what hooks made of it, or not yet.
struct Asked {
    place: Place,
    key: TextKey,
    known: Option<Outcome>,
}

impl RequestGuard {
    /// Guards a request. One that is `counted` is answered by a model.
    pub(crate) async fn prepare(
        &self,
        form: Form,
        headers: &HeaderMap,
        bytes: Bytes,
        is_counted: bool,
    ) -> Result<Prepared, Refusal> {
        let unread = |_| Refusal::unread("the request is no JSON");
        let mut body: Value = serde_json::from_slice(&bytes).map_err(unread)?;
        if !body.is_object() {
            return Err(Refusal::unread("the request is no JSON object"));
        }
        match form {
            Form::Chat => {}
            Form::Responses => {
                let unanswered = self.conversations.unanswered(&body);
                responses::answer(&mut body, &unanswered);
            }
            Form::Messages => messages::drop_unsigned(&mut body),
        }
        let texts = match form {
            Form::Chat => chat::texts(&body)?,
            Form::Responses => responses::texts(&body)?,
            Form::Messages => messages::texts(&body)?,
        };
        let places = texts.into_places();
        let first = places.iter().find(|place| place.said == Said::Prompt);
        let first = first.and_then(|place| body.pointer(&place.at)?.as_str());
        let whose = self.conversations.of(form, headers, &body, first)?;
        let (guard, threads) = (self.guard.clone(), self.threads.clone());
        let session = Session::new(guard, threads, whose.thread, whose.root);
        let mut asked = self.asked(&session, &body, places);
        let redacts = is_counted && session.guard.redacts_answers(&session.input("Stop"));
        let screened = async |thread: &mut GuestThread| {
            self.screen(&session, thread, &mut body, &mut asked).await?;
            hosted::remove_denied(&mut body, form, &self.denied, &session, thread).await;
            if is_counted {
                session.count(thread).await?;
            }
            let answer = if redacts {
                let (feed, stream) = waiting();
                Some((session.answer(thread, stream).await?, feed))
            } else {
                None
            };
            Ok::<_, Refusal>(answer)
        };
        let answer = session.update(screened).await??;
        let is_stream = body["stream"] == true;
        // Never the bytes that arrived: of two fields of one name, the upstream may read the other one.
        let body = Bytes::from(body.to_string());
        Ok(Prepared { body, session, is_stream, answer })
    }

    /// Returns the texts with what is known of them. Of texts that are the same, each has a number.
    fn asked(&self, session: &Session, body: &Value, places: Vec<Place>) -> Vec<Asked> {
        let mut numbers: HashMap<TextKey, usize> = HashMap::new();
        let asked = places.into_iter().filter_map(|place| {
            let text = body.pointer(&place.at)?.as_str()?;
            let (kind, id) = match &place.said {
                Said::Prompt => ("prompt", ""),
                Said::Result(call) => ("result", call.id.as_str()),
            };
            let parts = [&*session.thread, &*session.root, kind, id, text];
            let number = numbers.entry(self.known.key(&parts)).or_default();
            let [thread, root, kind, id, text] = parts;
            let key = self.known.key(&[thread, root, kind, id, text, &number.to_string()]);
            *number += 1;
            Some(Asked { known: self.known.get(key), place, key })
        });
        asked.collect()
    }

    /// Asks hooks about the texts that are new, and writes what they made of all of them in their places.
    async fn screen(
        &self,
        session: &Session,
        thread: &mut GuestThread,
        body: &mut Value,
        asked: &mut [Asked],
    ) -> Result<(), Refusal> {
        // Results go on with a turn: what stands beside them is no prompt.
        let goes_on =
            asked.iter().any(|it| it.place.is_latest && matches!(it.place.said, Said::Result(_)));
        let mut begins = !goes_on;
        for Asked { place, key, known } in asked {
            let Some(Value::String(text)) = body.pointer_mut(&place.at) else { continue };
            let outcome = match (known.take(), &place.said) {
                (Some(known), _) => known,
                (None, Said::Result(call)) => session.returned(thread, call, text).await,
                (None, Said::Prompt) => {
                    let begins = place.is_latest && std::mem::take(&mut begins);
                    session.prompt(thread, text, begins).await
                }
            };
            self.known.put(*key, outcome.clone());
            match outcome {
                Outcome::Same => {}
                Outcome::Blocked(reason) => return Err(Refusal::blocked(&*reason)),
                Outcome::Changed(changed) => (*changed).clone_into(text),
            }
        }
        Ok(())
    }
}
