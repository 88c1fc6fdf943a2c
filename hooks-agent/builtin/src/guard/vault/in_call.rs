//! A vault in a call: the values of the call's threads.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::guard::vault::error::VaultError;
use crate::guard::vault::key::{Sealed, VaultKey};
use crate::guard::vault::token::{label, token, token_around, tokens};
use crate::guard::vault::vault::Vault;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::{Memory, ThreadValueError};

/// What the names of the thread values begin with; the token without its brackets follows.
pub(super) const PREFIX: &str = "vault/";
/// How many tokens are tried for a value, if other data has them.
const TRIES: u8 = 8;
/// How deep data may have tokens in it: an address in a URL.
const DEPTH: usize = 4;

/// A vault with the threads of a call: its own, and those of the calls that it is part of, so that each
/// thread in a store has the data of the tokens that stand in it.
#[derive(Clone)]
pub(in crate::guard) struct InCall {
    vault: Vault,
    agent: Arc<str>,
    /// The id of the outermost thread, which the tokens belong to.
    thread: Arc<str>,
    /// The innermost first.
    memories: Vec<Arc<Memory>>,
}

/// What was put in place of tokens.
#[derive(Default)]
pub(in crate::guard) struct Revealed {
    /// Data, and its tokens.
    pub(in crate::guard) used: Vec<(String, String)>,
    /// Why a token could not be replaced; of the first one.
    pub(in crate::guard) refused: Option<VaultError>,
}

impl InCall {
    pub(super) fn new(vault: Vault, cx: &CallContext) -> Self {
        let (agent, thread) = (cx.agent_name().into(), cx.outermost().thread_id().into());
        Self { vault, agent, thread, memories: memories(cx) }
    }

    pub(super) fn of_thread(vault: Vault, thread: &str, memories: Vec<Arc<Memory>>) -> Self {
        Self { vault, agent: "".into(), thread: thread.into(), memories }
    }

    /// Returns the token of a value, and keeps the value.
    pub(in crate::guard) fn keep(&self, kind: &str, value: &str) -> Result<String, VaultError> {
        let label = label(kind);
        let mut free = None;
        for key in self.vault.keys() {
            for attempt in 0..TRIES {
                let token = name(key, &self.thread, &label, value, attempt);
                if !self.is_known(&token) {
                    free.get_or_insert(token);
                    break;
                }
                // Of another value, if it is not this one.
                if self.open(&token).is_ok_and(|kept| kept == value) {
                    return Ok(token);
                }
            }
        }
        let token = free.ok_or(VaultError::Seal)?;
        self.seal(&token, value)?;
        Ok(token)
    }

    /// Returns the token of the thread that the range is inside of.
    pub(in crate::guard) fn token_around(
        &self,
        text: &str,
        range: &Range<usize>,
    ) -> Option<Range<usize>> {
        let token = token_around(text, range)?;
        self.is_known(&text[token.clone()]).then_some(token)
    }

    /// Returns the range with all of a token of the thread that it begins or ends inside of.
    pub(in crate::guard) fn with_whole_tokens(
        &self,
        text: &str,
        range: Range<usize>,
    ) -> Range<usize> {
        let Range { start, end } = range;
        let first = start..text.ceil_char_boundary(start + 1);
        let last = text.floor_char_boundary(end.saturating_sub(1))..end;
        let start = self.token_around(text, &first).map_or(start, |token| token.start);
        let end = self.token_around(text, &last).map_or(end, |token| token.end);
        start..end
    }

    /// Returns a text with the data in place of tokens, if there are any.
    pub(in crate::guard) fn text(&self, text: &str, revealed: &mut Revealed) -> Option<String> {
        self.text_at(DEPTH, text, revealed)
    }

    fn text_at(&self, depth: usize, text: &str, revealed: &mut Revealed) -> Option<String> {
        let (mut out, mut sent) = (String::new(), 0);
        for range in tokens(text) {
            let token = &text[range.clone()];
            match self.open(token) {
                Ok(value) => {
                    let value = match depth.checked_sub(1) {
                        Some(depth) => self.text_at(depth, &value, revealed).unwrap_or(value),
                        None => value,
                    };
                    out.push_str(&text[sent..range.start]);
                    out.push_str(&value);
                    sent = range.end;
                    revealed.used.push((value, token.to_owned()));
                }
                Err(error) => drop(revealed.refused.get_or_insert(error)),
            }
        }
        out.push_str(&text[sent..]);
        (sent > 0).then_some(out)
    }

    /// Returns a value with the data in place of the tokens in its strings, if there are any.
    pub(in crate::guard) fn value(&self, value: &Value, revealed: &mut Revealed) -> Option<Value> {
        match value {
            Value::String(text) => self.text(text, revealed).map(Value::String),
            Value::Array(values) => {
                let mut copy = None;
                for (at, value) in values.iter().enumerate() {
                    if let Some(value) = self.value(value, revealed) {
                        copy.get_or_insert_with(|| values.clone())[at] = value;
                    }
                }
                copy.map(Value::Array)
            }
            Value::Object(fields) => {
                let mut copy = None;
                for (name, value) in fields {
                    if let Some(value) = self.field(name, value, revealed) {
                        copy.get_or_insert_with(|| fields.clone()).insert(name.clone(), value);
                    }
                }
                copy.map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// Returns the value of a field with the data in place of tokens. A token in the name is refused.
    pub(in crate::guard) fn field(
        &self,
        name: &str,
        value: &Value,
        revealed: &mut Revealed,
    ) -> Option<Value> {
        if let Some(range) = tokens(name).next() {
            let token = name[range].to_owned();
            revealed.refused.get_or_insert(VaultError::InName { token });
        }
        self.value(value, revealed)
    }

    fn is_known(&self, token: &str) -> bool {
        let name = value_name(token);
        self.memories.iter().any(|memory| memory.thread_values().has(&name))
    }

    /// Returns the data of a token; data of an old key is sealed with the new one.
    fn open(&self, token: &str) -> Result<String, VaultError> {
        let name = value_name(token);
        for memory in &self.memories {
            let Some(sealed) = memory.thread_values().get::<Sealed>(&name)? else { continue };
            let value = self.open_sealed(token, &sealed)?;
            if *sealed.key != *self.vault.key().id() {
                self.seal(token, &value)?;
            }
            return Ok(value);
        }
        Err(VaultError::Unknown { token: token.to_owned() })
    }

    fn open_sealed(&self, token: &str, sealed: &Sealed) -> Result<String, VaultError> {
        let mut keys = self.vault.keys().iter().filter(|key| *key.id() == *sealed.key).peekable();
        if keys.peek().is_none() {
            let (token, key) = (token.to_owned(), sealed.key.clone());
            return Err(VaultError::Key { token, key });
        }
        keys.find_map(|key| key.open(&self.place(token), sealed))
            .ok_or_else(|| VaultError::Damaged { token: token.to_owned() })
    }

    /// Writes a value into the threads.
    fn seal(&self, token: &str, value: &str) -> Result<(), VaultError> {
        let name = value_name(token);
        if self.memories.is_empty() {
            return Err(ThreadValueError::NoMemory { agent: self.agent.to_string(), name }.into());
        }
        let sealed = self.vault.key().seal(&self.place(token), value).ok_or(VaultError::Seal)?;
        let sealed = serde_json::to_value(sealed)
            .map_err(|source| ThreadValueError::Write { name: name.clone(), source })?;
        for memory in &self.memories {
            memory.thread_values().set(&name, sealed.clone());
        }
        Ok(())
    }

    /// Returns what sealed data belongs to: nowhere else can it be opened.
    fn place(&self, token: &str) -> String {
        format!("{token}{}", self.thread)
    }
}

/// Returns the token of a value in a thread.
pub(super) fn name(key: &VaultKey, thread: &str, label: &str, value: &str, attempt: u8) -> String {
    let parts = [thread.as_bytes(), label.as_bytes(), value.as_bytes(), &[attempt]];
    token(label, key.number(&parts))
}

/// Returns the memories of a call and of those that it is part of, the innermost first.
pub(super) fn memories(cx: &CallContext) -> Vec<Arc<Memory>> {
    let calls = std::iter::successors(Some(cx), |cx| cx.parent());
    calls.filter_map(CallContext::memory).collect()
}

fn value_name(token: &str) -> String {
    format!("{PREFIX}{}", token.trim_matches(['[', ']']))
}

/// Removes the data of a vault from the values of a thread, and returns whether there was any.
pub(super) fn remove(memory: &Memory) -> bool {
    let values: Map<String, Value> = memory.values();
    let names = values.keys().filter(|name| name.starts_with(PREFIX));
    names.map(|name| memory.thread_values().remove(name)).count() > 0
}
