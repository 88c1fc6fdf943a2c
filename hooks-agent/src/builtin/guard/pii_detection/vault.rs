//! Personal data behind tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::call::CallContext;

/// Keeps personal data and gives out tokens for it, such as `[EMAIL_1]`, so that a model works with
/// the tokens and tools with the data. Clones share what they keep.
///
/// Tokens belong to a thread: the same data has the same token in one thread, and a token of another
/// thread is only text. Agents that run as tools share the tokens of the call that they are part of.
/// The vault is in the memory of the process. It keeps the threads that were used last, 10,000 unless
/// [set](Vault::max_threads); the tokens of a forgotten thread stay tokens.
///
/// Pass it to [`PiiDetection::vault`](crate::builtin::guard::PiiDetection::vault).
#[derive(Clone)]
#[must_use]
pub struct Vault {
    threads: Arc<Mutex<Threads>>,
}

/// The id of an agent and of a thread.
type Key = (String, String);

struct Threads {
    tokens: HashMap<Key, Tokens>,
    uses: u64,
    max: usize,
}

#[derive(Default)]
struct Tokens {
    of_values: HashMap<(String, String), String>,
    values: HashMap<String, String>,
    counts: HashMap<String, usize>,
    used: u64,
}

impl Default for Vault {
    fn default() -> Self {
        Self::new()
    }
}

impl Vault {
    /// Creates an empty vault.
    pub fn new() -> Self {
        let threads = Threads { tokens: HashMap::new(), uses: 0, max: 10_000 };
        Self { threads: Arc::new(Mutex::new(threads)) }
    }

    /// Sets how many threads are kept; at least one.
    pub fn max_threads(self, max: usize) -> Self {
        self.lock().max = max.max(1);
        self
    }

    /// Returns a text with the data in place of the tokens of the call's thread: for the program, which
    /// shows a reply to its user.
    #[must_use]
    pub fn reveal(&self, cx: &CallContext, text: &str) -> String {
        let key = key(cx);
        self.revealed(&key.0, &key.1, text).unwrap_or_else(|| text.to_owned())
    }

    /// Returns a text with the data in place of the tokens of this thread of the agent of this id.
    #[must_use]
    pub fn reveal_in(&self, agent_id: &str, thread: &str, text: &str) -> String {
        self.revealed(agent_id, thread, text).unwrap_or_else(|| text.to_owned())
    }

    /// Forgets the data of a thread.
    pub fn forget(&self, agent_id: &str, thread: &str) {
        self.lock().tokens.remove(&(agent_id.to_owned(), thread.to_owned()));
    }

    /// Returns the token for a value.
    pub(super) fn token(&self, key: &(String, String), kind: &str, value: &str) -> String {
        let mut threads = self.lock();
        let tokens = threads.tokens_of(key);
        let of = (kind.to_owned(), value.to_owned());
        if let Some(token) = tokens.of_values.get(&of) {
            return token.clone();
        }
        let count = tokens.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let token = format!("[{}_{count}]", kind.to_uppercase());
        tokens.values.insert(token.clone(), value.to_owned());
        tokens.of_values.insert(of, token.clone());
        token
    }

    /// Returns a value with the data in place of tokens, if there are any in its strings.
    pub(super) fn revealed_value(&self, key: &(String, String), value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => self.revealed(&key.0, &key.1, text).map(Value::String),
            Value::Array(values) => {
                let revealed = values.iter().map(|value| self.revealed_value(key, value));
                let revealed: Vec<_> = revealed.collect();
                revealed.iter().any(Option::is_some).then(|| {
                    let pairs = revealed.into_iter().zip(values);
                    pairs.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect()
                })
            }
            Value::Object(fields) => {
                let mut copy = None;
                for (name, value) in fields {
                    if let Some(value) = self.revealed_value(key, value) {
                        copy.get_or_insert_with(|| fields.clone()).insert(name.clone(), value);
                    }
                }
                copy.map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn revealed(&self, agent_id: &str, thread: &str, text: &str) -> Option<String> {
        if !text.contains('[') {
            return None;
        }
        let threads = self.lock();
        let tokens = threads.tokens.get(&(agent_id.to_owned(), thread.to_owned()))?;
        let (mut out, mut rest, mut has_any) = (String::new(), text, false);
        while let Some(start) = rest.find('[') {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(']').map_or(rest.len(), |end| end + 1);
            match tokens.values.get(&rest[..end]) {
                Some(value) => {
                    out.push_str(value);
                    rest = &rest[end..];
                    has_any = true;
                }
                None => {
                    out.push('[');
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
        has_any.then_some(out)
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    /// Returns the tokens of a thread, which is used now. Forgets the one that was not used for the
    /// longest time if there are too many.
    fn tokens_of(&mut self, key: &Key) -> &mut Tokens {
        self.uses += 1;
        if !self.tokens.contains_key(key) && self.tokens.len() >= self.max {
            let oldest = self.tokens.iter().min_by_key(|(_, tokens)| tokens.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.tokens.remove(&oldest);
            }
        }
        let tokens = self.tokens.entry(key.clone()).or_default();
        tokens.used = self.uses;
        tokens
    }
}

/// Returns whose tokens a call uses: those of the outermost call that it is part of.
pub(super) fn key(cx: &CallContext) -> (String, String) {
    let outermost = std::iter::successors(Some(cx), |cx| cx.parent()).last().unwrap_or(cx);
    (outermost.agent_id().to_owned(), outermost.thread_id().to_owned())
}

/// The number of threads, and nothing of what is kept.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("threads", &self.lock().tokens.len()).finish()
    }
}
