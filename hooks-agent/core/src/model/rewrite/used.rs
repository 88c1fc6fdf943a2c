//! Findings that were used, and where.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::rewrite::find::{Find, Finding};

/// Where a text is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextPlace {
    /// A text of the user.
    Input,
    /// A text of the model.
    Output,
    /// Thoughts of the model.
    Thinking,
    /// The arguments of a tool call of the model.
    ToolArguments,
    /// The result, the error or the progress of a tool.
    ToolResult,
    /// A text that comes in by another [door](crate::call::Door).
    Foreign,
    /// Elsewhere.
    #[default]
    Other,
}

/// A finding that was used: a part of a text was replaced, or the text was blocked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Used<'a> {
    /// The finding, before [`settle`](Find::settle).
    pub finding: &'a Finding,
    /// Where the text is.
    pub place: TextPlace,
    /// The name of the agent; empty outside of one.
    pub agent: &'a str,
    /// The name of the tool, of arguments and results.
    pub tool: Option<&'a str>,
}

/// Where the texts of a rewriter are.
#[derive(Clone)]
pub(super) struct At {
    pub(super) agent: Arc<str>,
    pub(super) place: TextPlace,
    pub(super) tool: Option<Arc<str>>,
    /// Nothing is settled: what would be asked about is known then.
    pub(super) is_trial: bool,
    pub(super) is_counted: bool,
}

impl Default for At {
    fn default() -> Self {
        let place = TextPlace::default();
        Self { agent: Arc::default(), place, tool: None, is_trial: false, is_counted: true }
    }
}

/// A finder at a place.
#[derive(Clone)]
pub(super) struct Finder {
    pub(super) find: Arc<dyn Find>,
    pub(super) at: At,
}

impl Finder {
    pub(super) fn used(&self, finding: &Finding) {
        let At { agent, place, tool, is_counted, .. } = &self.at;
        if *is_counted {
            let (place, tool) = (*place, tool.as_deref());
            self.find.used(&Used { finding, place, agent, tool });
        }
    }
}
