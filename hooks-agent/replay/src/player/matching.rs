//! Finds the entry for a call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::drift::{DriftEntry, DriftKind, Verdict, differences};
use crate::error::TapeError;
use crate::format::{Key, ToolLine};
use crate::recording::{Entry, RecordedCall, Recording, Step};
use crate::runs::{At, Lane};

/// The entries of a tape, each used once.
pub(crate) struct Player {
    recording: Recording,
    /// The recorded calls of each lane, in order.
    lanes: HashMap<Lane, Vec<usize>>,
    /// Those that are part of another, by its name and the tool call.
    below: HashMap<(String, String), Vec<usize>>,
    left: Mutex<Left>,
}

/// The entries that are left.
struct Left {
    /// By the call of the agent and the key.
    by_key: HashMap<(usize, Key), VecDeque<usize>>,
    is_used: Vec<bool>,
    /// Those that were tried before the one that was used, and need not be used.
    is_tried: Vec<bool>,
    /// Which recorded calls have begun.
    has_begun: Vec<bool>,
}

/// What a call asks for.
pub(crate) struct Wanted<'a> {
    pub(crate) step: Step,
    pub(crate) key: Key,
    /// The redacted request, or the arguments.
    pub(crate) value: &'a dyn Fn() -> Result<Value, TapeError>,
}

/// How many entries are compared to find the nearest one.
const NEAREST: usize = 32;

impl Player {
    pub(crate) fn new(recording: Recording) -> Self {
        let mut lanes: HashMap<Lane, Vec<usize>> = HashMap::new();
        let mut below: HashMap<(String, String), Vec<usize>> = HashMap::new();
        for (index, call) in recording.calls().iter().enumerate() {
            match (call.parent(), call.tool_call()) {
                (Some(parent), Some(tool_call)) => {
                    let place = (parent.to_owned(), tool_call.to_owned());
                    below.entry(place).or_default().push(index);
                }
                _ => {
                    let (agent, thread) = (call.agent().to_owned(), call.thread().to_owned());
                    lanes.entry(Lane { agent, thread }).or_default().push(index);
                }
            }
        }
        let mut by_key: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (index, entry) in recording.entries().iter().enumerate() {
            by_key.entry((entry.call, entry.key)).or_default().push_back(index);
        }
        let is_used = vec![false; recording.entries().len()];
        let has_begun = vec![false; recording.calls().len()];
        let left = Mutex::new(Left { by_key, is_tried: is_used.clone(), is_used, has_begun });
        Self { recording, lanes, below, left }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    pub(crate) fn call(&self, index: usize) -> &RecordedCall {
        &self.recording.calls()[index]
    }

    pub(crate) fn entry(&self, index: usize) -> &Entry {
        &self.recording.entries()[index]
    }

    /// Returns the recorded call of this number in its lane, with its name, and notes that it begins.
    pub(crate) fn pair(&self, lane: &Lane, number: usize) -> Option<(usize, Arc<str>)> {
        let call = *self.lanes.get(lane)?.get(number)?;
        self.left().has_begun[call] = true;
        Some((call, self.call(call).run().into()))
    }

    /// Returns the recorded call of this agent that a tool call of another one makes.
    pub(crate) fn pair_below(
        &self,
        lane: &Lane,
        parent: usize,
        tool_call: &str,
    ) -> Option<(usize, Arc<str>)> {
        let place = (self.call(parent).run().to_owned(), tool_call.to_owned());
        let calls = self.below.get(&place)?;
        let mut left = self.left();
        // The model may use an id again in a later answer.
        let is_next =
            |call: &&usize| !left.has_begun[**call] && self.call(**call).agent() == lane.agent;
        let call = *calls.iter().find(is_next)?;
        left.has_begun[call] = true;
        Some((call, self.call(call).run().into()))
    }

    /// Takes the entry for a call: one of the same key, or else, if allowed, the one of the same step.
    pub(crate) fn take(&self, at: &At, wanted: &Wanted<'_>, by_step: bool) -> Option<usize> {
        let mut left = self.left();
        let entry = self.find(&left, at, wanted, by_step)?;
        left.take(entry, self.entry(entry));
        Some(entry)
    }

    /// Takes the entry for a call like [`take`](Self::take), and of those that a hook of the program tried
    /// again the last one: what the call went on with. The others are left for hooks that try again now.
    pub(crate) fn take_last(&self, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        let mut left = self.left();
        let first = self.find_untried(&left, at, wanted);
        let first = first.or_else(|| self.find(&left, at, wanted, true));
        let first = first.or_else(|| self.find_attempt(&left, at, wanted))?;
        let attempts = self.attempts(first);
        let last = attempts.iter().rfind(|entry| !left.is_used[**entry]).copied().unwrap_or(first);
        for entry in attempts {
            left.is_tried[entry] = true;
        }
        left.take(last, self.entry(last));
        Some(last)
    }

    /// Returns the first entry of the key of which no attempt was used: the model may use the id of a tool
    /// call again.
    fn find_untried(&self, left: &Left, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        let is_wanted = |entry: &usize| {
            let Entry { key, step, .. } = self.entry(*entry);
            *key == wanted.key && (step.is_model() || is_near(step, &wanted.step))
        };
        let mut entries = self.call(at.recorded?).entries().iter().copied();
        entries.find(|entry| !left.is_used[*entry] && !left.is_tried[*entry] && is_wanted(entry))
    }

    /// Returns an attempt of the same round that is left.
    fn find_attempt(&self, left: &Left, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        let Step::Model { round: wanted, .. } = &wanted.step else { return None };
        let is_same = |step: &Step| matches!(step, Step::Model { round, .. } if round == wanted);
        let mut entries = self.call(at.recorded?).entries().iter().copied();
        entries.find(|entry| !left.is_used[*entry] && is_same(&self.entry(*entry).step))
    }

    /// Returns all attempts of what an entry is one of: of a round of the model, or of a tool call, whose
    /// attempts come before the model is asked again.
    fn attempts(&self, of: usize) -> Vec<usize> {
        let Entry { call, place, step, .. } = self.entry(of);
        let entries = self.call(*call).entries();
        let lines = |is_wanted: fn(&Step) -> bool| {
            let wanted = entries.iter().map(|entry| self.entry(*entry));
            wanted.filter(move |entry| is_wanted(&entry.step)).map(|entry| entry.place.line)
        };
        let from = lines(Step::is_model).filter(|line| *line < place.line).max().unwrap_or(0);
        let until = lines(Step::is_model).filter(|line| *line > place.line).min();
        let is_attempt = |entry: &usize| match (&self.entry(*entry).step, step) {
            (Step::Model { round, .. }, Step::Model { round: of, .. }) => round == of,
            (tool @ Step::Tool { .. }, of @ Step::Tool { .. }) => {
                let line = self.entry(*entry).place.line;
                is_near(tool, of) && line > from && until.is_none_or(|until| line < until)
            }
            _ => false,
        };
        entries.iter().copied().filter(is_attempt).collect()
    }

    /// Returns whether entries of a recorded call were tried and not used.
    pub(crate) fn has_tried(&self, call: usize) -> bool {
        let left = self.left();
        let mut entries = self.call(call).entries().iter();
        entries.any(|entry| left.is_tried[*entry] && !left.is_used[*entry])
    }

    /// Returns whether there is an entry for a call.
    pub(crate) fn has(&self, at: &At, wanted: &Wanted<'_>, by_step: bool) -> bool {
        self.find(&self.left(), at, wanted, by_step).is_some()
    }

    fn find(&self, left: &Left, at: &At, wanted: &Wanted<'_>, by_step: bool) -> Option<usize> {
        let exact = self.find_exact(left, at, wanted);
        exact.or_else(|| if by_step { self.find_by_step(left, at, wanted) } else { None })
    }

    fn find_exact(&self, left: &Left, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        let in_call =
            |call: usize| left.by_key.get(&(call, wanted.key)).filter(|it| !it.is_empty());
        if let Some(queue) = at.recorded.and_then(in_call) {
            // The same tool call of an earlier answer may have the same arguments.
            let is_near = |entry: &&usize| is_near(&self.entry(**entry).step, &wanted.step);
            return queue.iter().find(is_near).or(queue.front()).copied();
        }
        let others = self.lanes.get(&*at.lane)?;
        others.iter().find_map(|call| in_call(*call)?.front().copied())
    }

    fn find_by_step(&self, left: &Left, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        let entries = self.call(at.recorded?).entries();
        let free = |entry: &&usize| !left.is_used[**entry];
        let is_same = |entry: &&usize| self.entry(**entry).step == wanted.step;
        let is_near = |entry: &&usize| is_near(&self.entry(**entry).step, &wanted.step);
        let same = entries.iter().filter(free).find(is_same);
        same.or_else(|| entries.iter().filter(free).find(is_near)).copied()
    }

    /// Returns the entries of a recorded call that were not used.
    pub(crate) fn unused_of(&self, call: usize) -> Vec<usize> {
        let left = self.left();
        let entries = self.call(call).entries().iter().copied();
        entries.filter(|entry| !left.is_used[*entry] && !left.is_tried[*entry]).collect()
    }

    /// Returns the entries of recorded calls that never began.
    pub(crate) fn never_begun(&self) -> Vec<usize> {
        let left = self.left();
        let calls = self.recording.calls().iter().enumerate();
        let never = calls.filter(|(index, _)| !left.has_begun[*index]);
        let entries = never.flat_map(|(_, call)| call.entries().iter().copied());
        entries.filter(|entry| !left.is_used[*entry]).collect()
    }

    /// Returns the entries that were not used.
    pub(crate) fn unused(&self) -> Vec<usize> {
        let left = self.left();
        (0..left.is_used.len()).filter(|entry| !left.is_used[*entry]).collect()
    }

    /// Creates the error of a call that has no entry, with the one that is most like it.
    pub(crate) fn no_entry(&self, at: &At, wanted: &Wanted<'_>) -> TapeError {
        let nearest = self.nearest(at, wanted).unwrap_or_default();
        let path = self.recording.path().to_owned();
        let Lane { agent, thread } = &*at.lane;
        let wanted = format!("{} of {} (agent `{agent}`, thread `{thread}`)", wanted.step, at.run);
        TapeError::NoEntry { path, wanted, nearest }
    }

    fn nearest(&self, at: &At, wanted: &Wanted<'_>) -> Option<String> {
        let own = at.recorded.map(|call| self.call(call).entries().iter()).into_iter().flatten();
        let lane = self.lanes.get(&*at.lane).into_iter().flatten();
        let others = lane.filter(|call| Some(**call) != at.recorded);
        let others = others.flat_map(|call| self.call(*call).entries());
        let is_kind = |entry: &&usize| match (&self.entry(**entry).step, &wanted.step) {
            (Step::Model { .. }, Step::Model { .. }) => true,
            (Step::Tool { name, .. }, Step::Tool { name: wanted, .. }) => name == wanted,
            _ => false,
        };
        let value = (wanted.value)().ok()?;
        let candidates = own.chain(others).filter(is_kind).take(NEAREST);
        let compared = candidates.filter_map(|entry| {
            let found = differences(&self.value(*entry).ok()?, &value);
            Some((found.len(), *entry, found))
        });
        let (_, entry, found) = compared.min_by_key(|(count, entry, _)| (*count, *entry))?;
        let Entry { place, step, call, .. } = self.entry(entry);
        let mut text =
            format!("; the nearest is line {}, {step} of {}", place.line, self.call(*call).run());
        for difference in found.into_iter().take(3) {
            let entry = DriftEntry {
                at: format!("line {}", place.line),
                kind: DriftKind::RequestChanged,
                verdict: Verdict::Changed,
                path: difference.path,
                recorded: difference.recorded,
                now: difference.now,
            };
            text.push('\n');
            text.push_str(&entry.to_string());
        }
        Some(text)
    }

    /// Reads the request or the arguments of an entry.
    fn value(&self, entry: usize) -> Result<Value, TapeError> {
        let Entry { place, step, .. } = self.entry(entry);
        match step {
            Step::Model { .. } => self.recording.request_value(*place),
            Step::Tool { .. } => {
                let line: ToolLine<Value> = self.recording.line(*place)?;
                Ok(line.input)
            }
        }
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Left {
    fn take(&mut self, entry: usize, Entry { call, key, .. }: &Entry) {
        self.is_used[entry] = true;
        if let Some(queue) = self.by_key.get_mut(&(*call, *key))
            && let Some(place) = queue.iter().position(|it| *it == entry)
        {
            queue.remove(place);
        }
    }
}

/// Returns whether two steps are one tool call of the model, at whatever time it started.
fn is_near(recorded: &Step, wanted: &Step) -> bool {
    match (recorded, wanted) {
        (Step::Tool { id, name, .. }, Step::Tool { id: wanted_id, name: wanted_name, .. }) => {
            id == wanted_id && name == wanted_name
        }
        _ => false,
    }
}
