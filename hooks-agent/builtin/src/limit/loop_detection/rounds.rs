//! The rounds of a call since its user last said something, and how often they come again.

use std::collections::{BTreeSet, HashMap, HashSet};

use hooks_agent_core::message::{Messages, Msg, Role, ToolResult};

use crate::limit::loop_detection::fold;

/// The most rounds that take turns.
const LONGEST: usize = 4;

/// How many rounds are looked at: what was longer ago does not matter.
const WINDOW: usize = 64;

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Step {
    tool: String,
    arguments: u64,
    result: u64,
}

/// The tool calls of one answer.
#[derive(Debug, Default)]
struct Round {
    /// In the order of their names and digests: what runs at once has no order.
    steps: Vec<Step>,
    /// What the results say beside their arguments, and whether this could be new.
    told: Vec<(String, u64, bool)>,
}

/// How a call goes in circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Circle {
    /// The same tool call has the same result.
    Same { tool: String, times: usize },
    /// Tool calls take turns, with the same results.
    Turns { tools: Vec<String>, times: usize },
    /// No result says anything new.
    NothingNew { rounds: usize },
}

/// The tool calls of a call, in order.
pub(super) struct Rounds(Vec<Round>);

impl Rounds {
    /// Reads the messages since the user last said something. Calls of the tools `polling` are left out, and `reads`
    /// says of which tools every result should be news.
    pub(super) fn of(
        messages: &Messages,
        polling: &BTreeSet<String>,
        mut reads: impl FnMut(&str) -> bool,
    ) -> Self {
        let begin = messages.iter().rposition(|msg| msg.role == Role::User).map_or(0, |at| at + 1);
        let said = messages.iter().skip(begin);
        let is_answer = |msg: &Msg| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
        let answers = said.clone().enumerate().rev().filter(|(_, msg)| is_answer(msg));
        let mut rounds: Vec<_> = answers
            .take(WINDOW)
            .map(|(at, answer)| {
                // Models use ids again: the results of an answer follow it.
                let after = said.clone().skip(at + 1).take_while(|msg| !is_answer(msg));
                let results: HashMap<&str, &ToolResult> = after
                    .flat_map(Msg::tool_results)
                    .map(|result| (result.id.as_str(), result))
                    .collect();
                Round::of(answer, &results, polling, &mut reads)
            })
            .filter(|round| !round.steps.is_empty())
            .collect();
        rounds.reverse();
        Self(rounds)
    }

    /// Returns how the last rounds go in circles, if one of the counts is reached.
    pub(super) fn circle(&self, repeats: usize, stale: usize) -> Option<Circle> {
        self.repeated(repeats).or_else(|| {
            let rounds = self.nothing_new();
            (rounds >= stale).then_some(Circle::NothingNew { rounds })
        })
    }

    fn repeated(&self, enough: usize) -> Option<Circle> {
        let last = self.0.last()?;
        for length in 1..=LONGEST {
            let times = self.times(length);
            let tools = || self.0[self.0.len() - length..].iter().flat_map(|round| &round.steps);
            if length == 1 && times < enough {
                // The same tool call several times in one answer.
                let most = last.steps.chunk_by(PartialEq::eq).max_by_key(|same| same.len())?;
                if most.len() >= enough {
                    let (tool, times) = (most[0].tool.clone(), most.len());
                    return Some(Circle::Same { tool, times });
                }
            }
            if times < enough {
                continue;
            }
            let tools: Vec<_> = tools().map(|step| step.tool.clone()).collect();
            return Some(match &tools[..] {
                [tool] => Circle::Same { tool: tool.clone(), times },
                _ => Circle::Turns { tools, times },
            });
        }
        None
    }

    /// Returns how many times the last `length` rounds have come one after the other.
    fn times(&self, length: usize) -> usize {
        let steps: Vec<_> = self.0.iter().map(|round| &round.steps).collect();
        let mut blocks = steps.rchunks_exact(length);
        let Some(last) = blocks.next() else { return 0 };
        1 + blocks.take_while(|block| *block == last).count()
    }

    /// Returns how many rounds at the end say nothing that no round before said.
    fn nothing_new(&self) -> usize {
        let (mut known, mut rounds) = (HashSet::new(), 0);
        for round in &self.0 {
            let is_stale = round
                .told
                .iter()
                .all(|(tool, told, counts)| *counts && known.contains(&(tool, told)));
            rounds = if is_stale { rounds + 1 } else { 0 };
            known.extend(round.told.iter().map(|(tool, told, _)| (tool, told)));
        }
        rounds
    }
}

impl Round {
    fn of(
        answer: &Msg,
        results: &HashMap<&str, &ToolResult>,
        polling: &BTreeSet<String>,
        reads: &mut impl FnMut(&str) -> bool,
    ) -> Self {
        let mut round = Self::default();
        for call in answer.tool_uses().filter(|call| !polling.contains(&call.name)) {
            let Some(result) = results.get(call.id.as_str()) else { continue };
            let output = &result.output;
            round.steps.push(Step {
                tool: call.name.clone(),
                arguments: fold::arguments(&call.input),
                result: fold::result(output),
            });
            // What changes something has done something, whatever it says.
            let counts = result.is_error || fold::is_empty(output) || reads(&call.name);
            round.told.push((call.name.clone(), fold::told(output, &call.input), counts));
        }
        round.steps.sort_unstable();
        round
    }
}

impl Circle {
    /// Returns what happens, for the model and for people.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Same { tool, times } => {
                format!(
                    "`{tool}` was called {times} times with the same arguments and the same result"
                )
            }
            Self::Turns { tools, times } => {
                let tools: Vec<_> = tools.iter().map(|tool| format!("`{tool}`")).collect();
                format!(
                    "{} were called in turns {times} times, with the same arguments and the same results",
                    tools.join(", ")
                )
            }
            Self::NothingNew { rounds } => {
                format!("in {rounds} rounds no tool returned anything new")
            }
        }
    }
}
