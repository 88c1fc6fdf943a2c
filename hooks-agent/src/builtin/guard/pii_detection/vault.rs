//! Personal data behind tokens.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::call::CallContext;

/// Keeps personal data and gives out tokens for it, such as `[EMAIL_1]`, so that a model works with
/// the tokens and tools with the data. Clones share what they keep.
///
/// Tokens belong to a thread: the same data has the same token in one thread, and a token of another
/// thread is only text. Agents that run as tools share the tokens of the call that they are part of.
/// The vault is in the memory of the process. It keeps the threads that were used last, 10,000 unless
/// [set](Vault::max_threads). A token that the vault does not know, of a forgotten thread, of another
/// process, or written by somebody, stays a token: no data is given that name.
///
/// Hooks of one agent share one vault: a hook reveals all tokens of its vault, also those of others.
///
/// Pass it to [`PiiDetection::vault`](crate::builtin::guard::PiiDetection::vault).
#[derive(Clone)]
#[must_use]
pub struct Vault {
    threads: Arc<Mutex<Threads>>,
}

/// The most bytes of a token.
const LONGEST: usize = 256;

/// The id of an agent and of a thread.
pub(super) type Key = (String, String);

struct Threads {
    tokens: HashMap<Key, Tokens>,
    uses: u64,
    max: usize,
    /// The highest number of each label in threads that are forgotten.
    forgotten: HashMap<String, usize>,
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
        let (tokens, forgotten) = (HashMap::new(), HashMap::new());
        let threads = Threads { tokens, uses: 0, max: 10_000, forgotten };
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
        self.revealed(&key, text, &mut Vec::new()).unwrap_or_else(|| text.to_owned())
    }

    /// Returns a text with the data in place of the tokens of this thread of the agent of this id.
    #[must_use]
    pub fn reveal_in(&self, agent_id: &str, thread: &str, text: &str) -> String {
        let key = (agent_id.to_owned(), thread.to_owned());
        self.revealed(&key, text, &mut Vec::new()).unwrap_or_else(|| text.to_owned())
    }

    /// Forgets the data of a thread and returns whether there was any.
    #[expect(clippy::must_use_candidate, reason = "it has an effect")]
    pub fn forget(&self, agent_id: &str, thread: &str) -> bool {
        let mut threads = self.lock();
        let tokens = threads.tokens.remove(&(agent_id.to_owned(), thread.to_owned()));
        tokens.map(|tokens| threads.keep_numbers(tokens)).is_some()
    }

    /// Returns the token for a value.
    pub(super) fn token(&self, key: &Key, kind: &str, value: &str) -> String {
        let label = label(kind);
        let mut threads = self.lock();
        let first = threads.forgotten.get(&label).copied().unwrap_or_default();
        let tokens = threads.tokens_of(key);
        let of = (label, value.to_owned());
        if let Some(token) = tokens.of_values.get(&of) {
            return token.clone();
        }
        let count = tokens.counts.entry(of.0.clone()).or_default();
        *count = first.max(*count) + 1;
        let token = format!("[{}_{count}]", of.0);
        tokens.values.insert(token.clone(), value.to_owned());
        tokens.of_values.insert(of, token.clone());
        token
    }

    /// Gives out no token of this label and number, or of a lower number, that the thread does not know.
    pub(super) fn reserve_token(&self, key: &Key, label: &str, number: usize) {
        let mut threads = self.lock();
        let tokens = threads.tokens_of(key);
        if !tokens.values.contains_key(&format!("[{label}_{number}]")) {
            let count = tokens.counts.entry(label.to_owned()).or_default();
            *count = number.max(*count);
        }
    }

    /// Returns the end of the token that the range is inside of, if it is inside of one.
    pub(super) fn token_around(
        &self,
        key: &Key,
        text: &str,
        range: &Range<usize>,
    ) -> Option<usize> {
        let from = text.floor_char_boundary(range.start.saturating_sub(LONGEST));
        let start = from + text[from..range.end].rfind('[')?;
        let until = text.floor_char_boundary(start.saturating_add(LONGEST));
        let end = start + text[start..until].find(']')? + 1;
        let is_inside = start <= range.start && range.end <= end;
        let threads = self.lock();
        let is_token = |tokens: &Tokens| tokens.values.contains_key(&text[start..end]);
        (is_inside && threads.tokens.get(key).is_some_and(is_token)).then_some(end)
    }

    /// Returns a value with the data in place of tokens, if there are any in its strings. Adds these
    /// data and their tokens to `used`.
    pub(super) fn revealed_value(
        &self,
        key: &Key,
        value: &Value,
        used: &mut Vec<(String, String)>,
    ) -> Option<Value> {
        match value {
            Value::String(text) => self.revealed(key, text, used).map(Value::String),
            Value::Array(values) => {
                let mut copy = None;
                for (at, value) in values.iter().enumerate() {
                    if let Some(value) = self.revealed_value(key, value, used) {
                        copy.get_or_insert_with(|| values.clone())[at] = value;
                    }
                }
                copy.map(Value::Array)
            }
            Value::Object(fields) => {
                let mut copy = None;
                for (name, value) in fields {
                    if let Some(value) = self.revealed_value(key, value, used) {
                        copy.get_or_insert_with(|| fields.clone()).insert(name.clone(), value);
                    }
                }
                copy.map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn revealed(&self, key: &Key, text: &str, used: &mut Vec<(String, String)>) -> Option<String> {
        if !text.contains('[') {
            return None;
        }
        let threads = self.lock();
        let tokens = threads.tokens.get(key)?;
        let (mut out, mut rest, mut has_any) = (String::new(), text, false);
        while let Some(end) = rest.find(']') {
            let (head, tail) = rest.split_at(end + 1);
            let token = head.rfind('[').map(|start| head.split_at(start));
            match token.and_then(|(before, token)| Some((before, token, tokens.values.get(token)?)))
            {
                Some((before, token, value)) => {
                    out.push_str(before);
                    out.push_str(value);
                    used.push((value.clone(), token.to_owned()));
                    has_any = true;
                }
                None => out.push_str(head),
            }
            rest = tail;
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
            let oldest = oldest.map(|(key, _)| key.clone());
            if let Some(tokens) = oldest.and_then(|key| self.tokens.remove(&key)) {
                self.keep_numbers(tokens);
            }
        }
        let tokens = self.tokens.entry(key.clone()).or_default();
        tokens.used = self.uses;
        tokens
    }

    /// Keeps which tokens a forgotten thread had, without the data.
    fn keep_numbers(&mut self, tokens: Tokens) {
        for (label, count) in tokens.counts {
            let highest = self.forgotten.entry(label).or_default();
            *highest = count.max(*highest);
        }
    }
}

/// Returns where a token may begin at the end of a text that grows.
pub(super) fn open_token(text: &str) -> Option<usize> {
    let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST));
    let start = from + text[from..].rfind('[')?;
    (!text[start..].contains(']')).then_some(start)
}

/// Returns the name of a kind in its tokens: without brackets, which end a token.
fn label(kind: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() { char } else { '_' };
    kind.chars().take(32).flat_map(char::to_uppercase).map(plain).collect()
}

/// Returns whose tokens a call uses: those of the outermost call that it is part of.
pub(super) fn key(cx: &CallContext) -> Key {
    let outermost = std::iter::successors(Some(cx), |cx| cx.parent()).last().unwrap_or(cx);
    (outermost.agent_id().to_owned(), outermost.thread_id().to_owned())
}

/// The number of threads, and nothing of what is kept.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("threads", &self.lock().tokens.len()).finish()
    }
}
