//! The calls of agents that run, as a tape names them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hooks_agent_core::call::RunId;
use serde_json::Value;

use crate::drift::{Decided, Found};
use crate::request::Texts;

/// The milliseconds since a moment.
pub(crate) fn elapsed(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The agent and the redacted thread of a call: calls of both are recorded and replayed in one order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) agent: String,
    pub(crate) thread: String,
}

/// Which call of an agent something belongs to.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub(crate) id: RunId,
    /// Its name on the tape.
    pub(crate) run: Arc<str>,
    pub(crate) lane: Arc<Lane>,
    /// The thread as the program names it: the scope of numbers of placeholders.
    pub(crate) scope: Arc<str>,
    /// The texts of its messages.
    pub(crate) texts: Arc<Mutex<Texts>>,
    /// The index of the recorded call that it replays.
    pub(crate) recorded: Option<usize>,
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) at: At,
    round: Option<u32>,
    attempts: u32,
    tools: u32,
    /// Whether its first line is written.
    pub(crate) has_line: bool,
    pub(crate) decisions: Vec<Decided>,
    pub(crate) reply: Option<Value>,
    /// Of each tool call from the tape: its number now, and the index of its entry.
    pub(crate) tool_order: Vec<(u32, usize)>,
    pub(crate) found: Vec<Found>,
    /// What was reported before: a prompt that differs is in the request of each round.
    pub(crate) reported: HashSet<String>,
}

impl LiveRun {
    /// Begins a round.
    pub(crate) fn begin_round(&mut self) {
        self.round = Some(self.round.map_or(0, |round| round + 1));
        self.attempts = 0;
    }

    /// Counts a call of the model: the round, and which attempt in it.
    pub(crate) fn count_model(&mut self) -> (u32, u32) {
        let attempt = self.attempts;
        self.attempts += 1;
        (self.round.unwrap_or(0), attempt)
    }

    /// Counts a call of a tool.
    pub(crate) fn count_tool(&mut self) -> u32 {
        self.tools += 1;
        self.tools - 1
    }
}

/// The calls that run.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    live: HashMap<RunId, LiveRun>,
    /// How many calls began in each lane: those that are no part of another, and the others.
    begun: HashMap<(Arc<Lane>, bool), usize>,
    /// How many calls are on the tape.
    named: usize,
}

impl Runs {
    /// Creates the calls of a tape that has so many.
    pub(crate) fn after(named: usize) -> Self {
        Self { named, ..Self::default() }
    }

    /// Counts a call that is not made again.
    pub(crate) fn skip(&mut self, lane: Lane) {
        *self.begun.entry((Arc::new(lane), true)).or_default() += 1;
    }

    pub(crate) fn get(&mut self, id: RunId) -> Option<&mut LiveRun> {
        self.live.get_mut(&id)
    }

    /// Begins a call. `pair` finds the recorded call of this number in its lane, with its name.
    pub(crate) fn begin(
        &mut self,
        id: RunId,
        lane: Lane,
        scope: &str,
        is_root: bool,
        pair: impl FnOnce(&Lane, usize) -> Option<(usize, Arc<str>)>,
        is_recorded: bool,
    ) -> &mut LiveRun {
        let lane = Arc::new(lane);
        let begun = self.begun.entry((lane.clone(), is_root)).or_default();
        let number = *begun;
        *begun += 1;
        let (recorded, run) = match pair(&lane, number) {
            Some((recorded, run)) => (Some(recorded), run),
            None if is_recorded => {
                self.named += 1;
                (None, format!("r{}", self.named).into())
            }
            None => {
                let Lane { agent, thread } = &*lane;
                (None, format!("call {} of {agent} on {thread}", number + 1).into())
            }
        };
        let at = At { id, run, lane, scope: scope.into(), texts: Arc::default(), recorded };
        let run = LiveRun {
            at,
            round: None,
            attempts: 0,
            tools: 0,
            has_line: false,
            decisions: Vec::new(),
            reply: None,
            tool_order: Vec::new(),
            found: Vec::new(),
            reported: HashSet::new(),
        };
        self.live.entry(id).insert_entry(run).into_mut()
    }

    pub(crate) fn end(&mut self, id: RunId) -> Option<LiveRun> {
        self.live.remove(&id)
    }

    /// Ends all calls, in the order of their names.
    pub(crate) fn end_all(&mut self) -> Vec<LiveRun> {
        let mut runs: Vec<_> = self.live.drain().map(|(_, run)| run).collect();
        runs.sort_by(|one, other| one.at.run.cmp(&other.at.run));
        runs
    }
}
