//! The report of the differences between a recording and a replay.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

/// What differs between a recording and a replay.
///
/// As text, it is the verdict, a line for each [decision](DriftKind::DecisionChanged), which the other
/// differences may come of, and a unified diff for each of those; in JSON an object with `verdict` and
/// `entries`. Its texts are redacted as the tape is. Two replays of the same calls give the same report.
///
/// ```
/// use hooks_agent::replay::{Drift, Verdict};
///
/// let drift = Drift::default();
/// assert_eq!(drift.verdict, Verdict::Identical);
/// drift.assert_no_drift();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Drift {
    /// The gravest verdict of the entries.
    pub verdict: Verdict,
    /// What differs, in the order of the tape.
    pub entries: Vec<DriftEntry>,
}

/// How much differs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing.
    #[default]
    Identical,
    /// White space, the order of keys, ids of tool calls.
    Cosmetic,
    /// What the model, a tool or the caller gets, or what a hook does.
    Changed,
    /// The replay needed something that is not on the tape.
    Broken,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DriftEntry {
    /// Where it is: a call of the tape with a round or the id of a tool call, such as `r1 round 0`.
    pub at: String,
    /// What differs.
    pub kind: DriftKind,
    /// How much it is.
    pub verdict: Verdict,
    /// The place inside of it, such as `messages[0].content[0].text`; empty if it is the whole.
    pub path: String,
    /// What the tape has; absent if it has nothing there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
    /// What the replay has; absent if it has nothing there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Value>,
}

/// What differs. As text and in JSON, it is the variant in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// What a hook did.
    DecisionChanged,
    /// A request to the model.
    RequestChanged,
    /// The arguments of a tool call.
    ToolInputChanged,
    /// The order of tool calls.
    ToolOrder,
    /// A tool call of the tape did not run.
    ToolMissing,
    /// A tool call ran that is not on the tape.
    ToolExtra,
    /// How the call ended.
    OutcomeChanged,
    /// The reply of the call.
    ReplyChanged,
    /// An entry of the tape was not used.
    UnusedEntry,
}

impl DriftKind {
    /// Returns the text of the kind, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DecisionChanged => "decision_changed",
            Self::RequestChanged => "request_changed",
            Self::ToolInputChanged => "tool_input_changed",
            Self::ToolOrder => "tool_order",
            Self::ToolMissing => "tool_missing",
            Self::ToolExtra => "tool_extra",
            Self::OutcomeChanged => "outcome_changed",
            Self::ReplyChanged => "reply_changed",
            Self::UnusedEntry => "unused_entry",
        }
    }
}

/// A difference with its place in the order of the report.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) order: Order,
    pub(crate) entry: DriftEntry,
}

/// The place of a difference: the call of the tape, then the line of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    pub(crate) run: usize,
    pub(crate) line: usize,
}

impl Drift {
    /// Creates the report, in the order of the tape.
    pub(crate) fn of(mut found: Vec<Found>) -> Self {
        found.sort_by(|one, other| {
            let place = |it: &Found| (it.order, it.entry.kind);
            let texts = |it: &Found| (it.entry.at.clone(), it.entry.path.clone());
            place(one).cmp(&place(other)).then_with(|| texts(one).cmp(&texts(other)))
        });
        let entries: Vec<_> = found.into_iter().map(|found| found.entry).collect();
        let verdict = entries.iter().map(|entry| entry.verdict).max().unwrap_or_default();
        Self { verdict, entries }
    }

    /// Returns whether there is an entry of this kind.
    #[must_use]
    pub fn has(&self, kind: DriftKind) -> bool {
        self.entries.iter().any(|entry| entry.kind == kind)
    }

    /// Panics unless the replay is identical, with the report as its message.
    ///
    /// # Panics
    /// Panics if there are entries, also cosmetic ones.
    #[track_caller]
    pub fn assert_no_drift(&self) {
        assert!(self.verdict == Verdict::Identical, "{self}");
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identical => "identical",
            Self::Cosmetic => "cosmetic",
            Self::Changed => "changed",
            Self::Broken => "broken",
        })
    }
}

impl fmt::Display for DriftKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_decision = |entry: &&DriftEntry| entry.kind == DriftKind::DecisionChanged;
        let (decisions, others): (Vec<_>, Vec<_>) = self.entries.iter().partition(is_decision);
        let (decided, differences) =
            (count(decisions.len(), "decision"), count(others.len(), "difference"));
        match (decisions.is_empty(), others.is_empty()) {
            (true, true) => return f.write_str("the replay is identical to the tape"),
            (true, false) => writeln!(f, "the replay is {}: {differences}", self.verdict)?,
            (false, true) => writeln!(f, "the replay is {}: {decided}", self.verdict)?,
            (false, false) => writeln!(
                f,
                "the replay is {}: {decided}, and {differences} that may come of them",
                self.verdict
            )?,
        }
        if !decisions.is_empty() {
            writeln!(f)?;
        }
        for DriftEntry { at, kind, path, recorded, now, .. } in decisions {
            let (recorded, now) = (decision(recorded.as_ref()), decision(now.as_ref()));
            writeln!(f, "{at}: {kind}, {path}: {recorded} -> {now}")?;
        }
        others.iter().try_for_each(|entry| write!(f, "\n{entry}"))
    }
}

fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns what a hook did on one line.
fn decision(decided: Option<&Value>) -> &str {
    decided.and_then(Value::as_str).unwrap_or("nothing")
}

impl fmt::Display for DriftEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.kind)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        if self.verdict != Verdict::Changed {
            write!(f, " ({})", self.verdict)?;
        }
        writeln!(f)?;
        let (recorded, now) = (text(self.recorded.as_ref()), text(self.now.as_ref()));
        let diff = TextDiff::from_lines(recorded.as_str(), now.as_str());
        let mut unified = diff.unified_diff();
        write!(f, "{}", unified.missing_newline_hint(false).header("recorded", "now"))
    }
}

/// Returns a value as lines.
fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => format!("{text}\n"),
        Some(value) => format!("{value:#}\n"),
    }
}
