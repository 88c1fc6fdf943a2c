//! The run of another hook, as an entry.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::entry::sizes;

/// The run of another hook.
#[derive(Debug, Serialize)]
pub(crate) struct HookRun {
    pub(crate) hook: Arc<str>,
    pub(crate) event: &'static str,
    pub(crate) level: &'static str,
    pub(crate) priority: i32,
    pub(crate) us: u64,
    pub(crate) flow: &'static str,
    pub(crate) changed: Vec<Change>,
    /// What it changed is too much for an entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shadow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call: Option<Arc<str>>,
}

/// A change that it made, as far as it may be shown.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before_chars: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after_chars: Option<usize>,
    pub(crate) hidden: bool,
}

impl HookRun {
    /// Leaves out what it changed, if that is more than so many bytes.
    pub(crate) fn cut_to(&mut self, most: usize) {
        if self.changed.iter().map(Change::bytes).sum::<usize>() > most {
            self.changed.clear();
            self.cut = true;
        }
    }
}

impl Change {
    fn bytes(&self) -> usize {
        let values = self.before.iter().chain(&self.after);
        self.path.len() + values.map(sizes::value).sum::<usize>()
    }
}
