//! The calls of models and tools in the entries of a run, with how long they took.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::entry::{Label, Packed};

/// Something that a run did, and that has ended.
pub(super) enum Span {
    Model { model: String, is_retry: bool, ms: Option<u64>, first_ms: Option<u64> },
    Tool { name: String, is_error: bool, ms: Option<u64> },
    Hook(HookRun),
}

/// The run of a hook, as its entry has it.
#[derive(Deserialize)]
pub(super) struct HookRun {
    pub(super) hook: String,
    pub(super) event: String,
    pub(super) us: u64,
    pub(super) flow: String,
    pub(super) changed: Vec<IgnoredAny>,
    #[serde(default)]
    pub(super) cut: bool,
    #[serde(default)]
    pub(super) shadow: bool,
}

/// An attempt to have an answer of a model, as its entry has it.
#[derive(Deserialize)]
struct Attempt {
    attempt: u32,
    model: Option<String>,
}

/// A tool call or its result, as its entry has it.
#[derive(Deserialize)]
struct Tool {
    id: String,
    name: String,
    #[serde(default)]
    is_error: bool,
}

/// Reads the entries of one run, in their order.
#[derive(Default)]
pub(super) struct Spans {
    /// When the attempt began that has not ended, and said its first.
    attempt: Option<(u64, Option<u64>)>,
    /// The tool calls that have not ended: their ids, and when they began.
    tools: Vec<(String, u64)>,
}

impl Spans {
    /// Returns what ended with an entry.
    pub(super) fn ended(&mut self, label: Label, data: Packed<'_>) -> Option<Span> {
        match label.kind {
            "model_started" => self.attempt = Some((label.ts, None)),
            "model_first" => {
                if let Some((_, first)) = &mut self.attempt {
                    first.get_or_insert(label.ts);
                }
            }
            "model_finished" | "model_failed" => return self.attempt(label, data.read_any()?),
            "tool_started" => self.tools.push((data.read_any::<Tool>()?.id, label.ts)),
            "tool_finished" => {
                let Tool { id, name, is_error } = data.read_any()?;
                let place = self.tools.iter().position(|(of, _)| *of == id);
                let begun = place.map(|place| self.tools.swap_remove(place).1);
                let ms = begun.map(|begun| label.ts.saturating_sub(begun));
                return Some(Span::Tool { name, is_error, ms });
            }
            Label::HOOK => return Some(Span::Hook(data.read_any()?)),
            _ => {}
        }
        None
    }

    fn attempt(&mut self, label: Label, attempt: Attempt) -> Option<Span> {
        let begun = self.attempt.take();
        let first = begun.and_then(|(begun, first)| Some(first?.saturating_sub(begun)));
        Some(Span::Model {
            model: attempt.model?,
            is_retry: attempt.attempt > 1,
            ms: begun.map(|(begun, _)| label.ts.saturating_sub(begun)),
            first_ms: first,
        })
    }
}
