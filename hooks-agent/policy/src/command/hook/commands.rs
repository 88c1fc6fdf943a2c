//! The commands, and how those of one event run.

use std::collections::BTreeSet;
use std::fmt;

use futures::future::{join, join_all};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::ToolUse;
use serde_json::{Map, Value, json};

use crate::command::contract::{CommandEvent, Input};
use crate::command::decide::{Answer, Combined, Outcome, Verdict, combine};
use crate::command::entry::{Checked, OnFailure};
use crate::command::hook::ask::ask;
use crate::command::hook::input::text_of;

/// The commands of all events, in configured order.
pub(super) struct Commands(Vec<Checked>);

/// Shows the names of the commands.
impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|command| &command.name)).finish()
    }
}

/// What the commands of an event are chosen by.
pub(super) struct Occasion<'a> {
    pub(super) event: CommandEvent,
    /// What matchers are tested on, if the event has it.
    pub(super) subject: Option<&'a str>,
    /// The tool call of conditions.
    pub(super) tool: Option<&'a ToolUse>,
}

/// The arguments of a tool call.
type Arguments = Map<String, Value>;

/// A command that matches, at its place in the configured order.
struct Chosen<'a> {
    place: usize,
    command: &'a Checked,
    blocks: bool,
}

impl Commands {
    pub(super) fn new(commands: Vec<Checked>) -> Self {
        Self(commands)
    }

    /// Returns the event and the name of each command.
    pub(super) fn named(&self) -> impl Iterator<Item = (CommandEvent, &str)> {
        self.0.iter().map(|command| (command.event, command.name.as_str()))
    }

    pub(super) fn events(&self) -> impl Iterator<Item = CommandEvent> {
        self.0.iter().map(|command| command.event)
    }

    /// Returns the names of the tools that matchers and conditions name.
    pub(super) fn tools(&self) -> Vec<String> {
        let names: BTreeSet<_> = self.0.iter().flat_map(Checked::tools).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    pub(super) fn listen_to(&self, event: CommandEvent) -> bool {
        self.events().any(|listened| listened == event)
    }

    /// Runs the commands of the occasion and combines what they say. A block of an event that
    /// cannot be blocked is a warning.
    pub(super) async fn run(
        &self,
        cx: &CallContext,
        occasion: Occasion<'_>,
        input: Input,
    ) -> Combined {
        let event = occasion.event;
        let (sequential, parallel): (Vec<_>, Vec<_>) =
            self.chosen(&occasion).into_iter().partition(|it| it.command.is_sequential);
        let at_once = parallel.into_iter().filter(|it| {
            let condition = it.command.condition.as_ref();
            condition.is_none_or(|it| occasion.tool.is_some_and(|tool| it.holds(tool)))
        });
        let at_once =
            at_once.map(async |chosen| (chosen.place, chosen.run(cx, &input, None).await));
        let in_sequence = run_in_sequence(cx, sequential, occasion.tool, &input);
        let (mut outcomes, others) = join(join_all(at_once), in_sequence).await;
        outcomes.extend(others);
        outcomes.sort_by_key(|(place, _)| *place);
        let outcomes: Vec<_> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        let mut combined = combine(&outcomes);
        if combined.verdict == Verdict::Block && !event.can_block() {
            let reason = &combined.reason;
            tracing::warn!(
                target: "hooks_agent::command",
                %event, reason, "a command blocked an event that cannot be blocked"
            );
            combined.verdict = Verdict::None;
        }
        combined
    }

    /// Returns the commands of the event that match. Of equal ones the first is run; if one of them
    /// blocks on failure, it does.
    fn chosen(&self, occasion: &Occasion<'_>) -> Vec<Chosen<'_>> {
        let mut chosen: Vec<Chosen<'_>> = Vec::new();
        let commands = self.0.iter().enumerate();
        let of_event = commands.filter(|(_, it)| it.event == occasion.event);
        for (place, command) in of_event.filter(|(_, it)| it.matcher.matches(occasion.subject)) {
            let blocks = command.on_failure == OnFailure::Block && command.event.can_block();
            match chosen.iter_mut().find(|it| it.command.identity == command.identity) {
                Some(equal) => equal.blocks |= blocks,
                None => chosen.push(Chosen { place, command, blocks }),
            }
        }
        chosen
    }
}

impl<'a> Chosen<'a> {
    /// Runs the command, after `seen` in a sequence: the arguments as earlier commands rewrote
    /// them.
    async fn run(&self, cx: &CallContext, input: &Input, seen: Option<Arguments>) -> Outcome<'a> {
        let Self { command, blocks, .. } = *self;
        let (hook, event) = (command.name.as_str(), command.event);
        let answer = match ask(command, cx, input, blocks).await {
            Ok(answer) => {
                if let Some(message) = &answer.warning {
                    tracing::warn!(
                        target: "hooks_agent::command",
                        hook, %event, message, "a command warns"
                    );
                }
                Some(answer)
            }
            Err(why) => {
                tracing::warn!(
                    target: "hooks_agent::command",
                    hook, %event, why, blocks, "a command failed"
                );
                None
            }
        };
        Outcome { hook, answer, blocks, seen, is_superseded: false }
    }
}

/// Runs the commands one after the other, each with what the former made of the tool call, up to
/// one that blocks.
async fn run_in_sequence<'a>(
    cx: &CallContext,
    chosen: Vec<Chosen<'a>>,
    tool: Option<&ToolUse>,
    input: &Input,
) -> Vec<(usize, Outcome<'a>)> {
    let mut outcomes: Vec<(usize, Outcome<'a>)> = Vec::new();
    if chosen.is_empty() {
        return outcomes;
    }
    let (mut tool, mut input, mut seen) = (tool.cloned(), input.clone(), None);
    for chosen in chosen {
        let condition = chosen.command.condition.as_ref();
        if !condition.is_none_or(|it| tool.as_ref().is_some_and(|tool| it.holds(tool))) {
            continue;
        }
        let outcome = chosen.run(cx, &input, seen.clone()).await;
        let ends = match &outcome.answer {
            None => outcome.blocks,
            Some(answer) => {
                if apply(answer, &mut input, tool.as_mut()) {
                    for (_, earlier) in &mut outcomes {
                        earlier.is_superseded = true;
                    }
                }
                seen = answer.effective_rewrite().cloned().or(seen);
                answer.ends_sequence()
            }
        };
        outcomes.push((chosen.place, outcome));
        if ends {
            break;
        }
    }
    outcomes
}

/// Changes the input for the next command. Returns whether there was a change.
fn apply(answer: &Answer, input: &mut Input, tool: Option<&mut ToolUse>) -> bool {
    if let Some(rewrite) = answer.effective_rewrite() {
        let rewrite = Value::Object(rewrite.clone());
        if let Some(tool) = tool {
            tool.input = rewrite.clone();
        }
        input.tool_input = Some(rewrite);
    }
    if let Some(result) = &answer.result {
        let is_error = input.tool_response.as_ref().map(|it| it["is_error"].clone());
        let content = text_of(result);
        input.tool_response = Some(json!({ "content": content, "is_error": is_error }));
    }
    answer.effective_rewrite().is_some() || answer.result.is_some()
}
