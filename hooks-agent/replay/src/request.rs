//! Requests as they are on a tape.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use hooks_agent_core::message::Msg;
use hooks_agent_core::model::{ChatRequest, ModelOptions, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::TapeError;
use crate::format::{Hasher, Key, Parts, text_of, without_ids};
use crate::redact::Redactor;

/// A redacted request: what the model gets, as JSON with sorted keys.
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) parts: Parts,
    pub(crate) key: Key,
}

impl Request {
    /// Returns the request as a value, with the name of the model.
    pub(crate) fn value(&self) -> Result<Value, TapeError> {
        self.parts.value(Some(&self.model))
    }
}

/// The texts of the messages of a call. Each round sends the same messages again, so that each is
/// redacted and written once.
#[derive(Default)]
pub(crate) struct Texts {
    messages: HashMap<usize, (Arc<Msg>, Text)>,
    tools: Option<(Arc<[ToolSpec]>, Arc<str>)>,
    options: Option<(Arc<ModelOptions>, Arc<str>)>,
    hashed: Hashed,
    /// The last request of the call that is on the tape, with the number of its line.
    pub(crate) written: Option<(usize, Parts)>,
}

/// The messages of the last request, hashed: the next one begins with them, and goes on from there.
#[derive(Default)]
struct Hashed {
    messages: Vec<Arc<str>>,
    hasher: Hasher,
}

impl Hashed {
    /// Returns the key of a request: of its messages without ids, and what comes after them.
    fn key(&mut self, messages: &[Arc<str>], end: &str) -> Key {
        let is_same = |(known, msg): (&Arc<str>, &Arc<str>)| Arc::ptr_eq(known, msg);
        let known = self.messages.len();
        if known > messages.len() || !self.messages.iter().zip(messages).all(is_same) {
            *self = Self::default();
        }
        for msg in &messages[self.messages.len()..] {
            self.hasher.add(if self.messages.is_empty() { "{\"messages\":[" } else { "," });
            self.hasher.add(msg);
            self.messages.push(msg.clone());
        }
        let mut hasher = self.hasher.clone();
        hasher.add(if messages.is_empty() { "{\"messages\":[" } else { "" });
        hasher.add(end);
        hasher.key()
    }
}

#[derive(Clone)]
struct Text {
    whole: Arc<str>,
    /// The same without ids; `None` if there are none.
    without_ids: Option<Arc<str>>,
}

impl Texts {
    /// Redacts a request of the thread.
    pub(crate) fn request(
        &mut self,
        redactor: &Redactor,
        thread: &str,
        model: &str,
        request: &ChatRequest,
    ) -> Result<Request, TapeError> {
        let messages = request.messages.shared();
        let messages = messages.map(|msg| self.message(redactor, thread, msg));
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        if self.tools.as_ref().is_none_or(|(tools, _)| !Arc::ptr_eq(tools, &request.tools)) {
            let text = redacted(redactor, thread, &request.tools)?;
            self.tools = Some((request.tools.clone(), text));
        }
        if self.options.as_ref().is_none_or(|(options, _)| !Arc::ptr_eq(options, &request.options))
        {
            let text = redacted(redactor, thread, &request.options)?;
            self.options = Some((request.options.clone(), text));
        }
        let text =
            |text: Option<&Arc<str>>, none: &str| text.map_or_else(|| none.into(), Arc::clone);
        let tools = text(self.tools.as_ref().map(|(_, text)| text), "[]");
        let options = text(self.options.as_ref().map(|(_, text)| text), "{}");
        let model_text = text_of(&Value::from(model));
        let keyed = messages.iter().map(|text| text.without_ids.as_ref().unwrap_or(&text.whole));
        let end = format!("],\"model\":{model_text},\"options\":{options},\"tools\":{tools}}}");
        let key = self.hashed.key(&keyed.cloned().collect::<Vec<_>>(), &end);
        let messages = messages.into_iter().map(|text| text.whole).collect();
        let parts = Parts { messages, options, tools };
        Ok(Request { model: model.to_owned(), parts, key })
    }

    fn message(
        &mut self,
        redactor: &Redactor,
        thread: &str,
        msg: &Arc<Msg>,
    ) -> Result<Text, TapeError> {
        // The message that is kept with it keeps the address its own.
        let address = Arc::as_ptr(msg) as usize;
        if let Some((_, text)) = self.messages.get(&address) {
            return Ok(text.clone());
        }
        let content = serde_json::to_value(&msg.content)?;
        let value = json!({ "content": content, "name": msg.name, "role": msg.role });
        let value = redactor.value(thread, value)?;
        let plain = without_ids(&value).map(|value| text_of(&value).into());
        let text = Text { whole: text_of(&value).into(), without_ids: plain };
        self.messages.insert(address, (msg.clone(), text.clone()));
        Ok(text)
    }
}

fn redacted(
    redactor: &Redactor,
    thread: &str,
    value: &(impl Serialize + ?Sized),
) -> Result<Arc<str>, TapeError> {
    Ok(text_of(&redactor.value(thread, serde_json::to_value(value)?)?).into())
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").field("messages", &self.messages.len()).finish_non_exhaustive()
    }
}
