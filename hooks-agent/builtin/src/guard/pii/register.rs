//! Counts of what was found where, without the values.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use hooks_agent_core::model::{Finding, TextPlace, Used};

/// The most entries; a model invents names of tools. Further ones are counted without the tool.
const MOST: usize = 10_000;

/// Counts what hooks found: which kind, where, how often, without the values. Clones count together.
///
/// It is what a record of processing needs: which personal data reach an agent, and by which way.
///
/// ```
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::builtin::guard::pii::PiiRegister;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let register = PiiRegister::new();
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let hook = PiiDetection::all().register(&register);
/// let agent = ReActAgent::builder("assistant").model(model).hook(hook).build()?;
/// agent.call("Write to ada@example.com and bob@example.com").await?;
///
/// let counts = register.counts();
/// assert_eq!((&*counts[0].kind, counts[0].count), ("email", 2));
/// assert_eq!(
///     serde_json::to_string(&counts[0]).unwrap(),
///     r#"{"agent":"assistant","place":"input","kind":"email","is_blocked":false,"count":2}"#
/// );
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct PiiRegister(Arc<Mutex<BTreeMap<Key, u64>>>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    agent: String,
    place: TextPlace,
    tool: Option<String>,
    kind: String,
    is_blocked: bool,
}

/// How often a kind was found at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PiiCount {
    /// The name of the agent.
    pub agent: String,
    /// Where the text was.
    pub place: TextPlace,
    /// The tool, of its arguments and results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was, such as `email`; `unknown` where a text was blocked because it could not be searched.
    pub kind: String,
    /// Whether the text was blocked; else the data was replaced.
    pub is_blocked: bool,
    /// How often. Of a blocked text, what blocked it counts.
    pub count: u64,
}

impl PiiRegister {
    /// Creates a register without counts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the counts by agent, place, tool and kind.
    #[must_use]
    pub fn counts(&self) -> Vec<PiiCount> {
        self.lock().iter().map(|(key, count)| counted(key.clone(), *count)).collect()
    }

    /// Returns the counts, and begins anew.
    #[must_use]
    pub fn take(&self) -> Vec<PiiCount> {
        let counts = std::mem::take(&mut *self.lock());
        counts.into_iter().map(|(key, count)| counted(key, count)).collect()
    }

    /// Counts a finding of this kind.
    pub(in crate::guard) fn count(&self, kind: &str, used: &Used<'_>) {
        let is_blocked = matches!(used.finding, Finding::Block { .. });
        let (agent, kind) = (used.agent.to_owned(), kind.to_owned());
        let tool = used.tool.map(ToOwned::to_owned);
        let mut key = Key { agent, place: used.place, tool, kind, is_blocked };
        let mut counts = self.lock();
        if counts.len() >= MOST && !counts.contains_key(&key) {
            key.tool = None;
        }
        *counts.entry(key).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn counted(key: Key, count: u64) -> PiiCount {
    let Key { agent, place, tool, kind, is_blocked } = key;
    PiiCount { agent, place, tool, kind, is_blocked, count }
}
