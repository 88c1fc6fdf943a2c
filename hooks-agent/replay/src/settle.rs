//! Compares a call that ended with the recorded one.

use serde_json::Value;

use crate::drift::{
    Decided, Difference, DriftEntry, DriftKind, Found, Order, Verdict, compare_decisions,
    differences, is_cosmetic, is_id,
};
use crate::error::TapeError;
use crate::player::Player;
use crate::recording::{Entry, Step};
use crate::runs::{At, LiveRun};

/// How a call ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) outcome: &'static str,
    /// The redacted text of the error.
    pub(super) error: Option<String>,
}

/// Returns what differs between a call and the recorded one.
pub(super) fn compare(
    player: &Player,
    mut run: LiveRun,
    ended: &Ended,
) -> Result<Vec<Found>, TapeError> {
    let mut found = std::mem::take(&mut run.found);
    let Some(index) = run.at.recorded else { return Ok(found) };
    let call = player.call(index);
    let (at, line) = (&run.at, usize::MAX);
    // That a hook of the program tried again is no decision of those that run now.
    let tries = player.has_tried(index);
    let counts = |decided: &&Decided| !(tries && decided.is_another_try());
    let decided = |all: &[Decided]| all.iter().filter(counts).cloned().collect::<Vec<_>>();
    let (recorded, now) = (decided(call.decided()), decided(&run.decisions));
    for decision in compare_decisions(&recorded, &now) {
        let difference =
            Difference { path: decision.path, recorded: decision.recorded, now: decision.now };
        found.push(changed(at, None, call.line(), DriftKind::DecisionChanged, difference));
    }
    found.extend(order(player, &run));
    found.extend(player.unused_of(index).into_iter().map(|entry| unused(player, entry, true)));
    if call.outcome() != "unfinished" {
        let text = |outcome: &str, error: Option<&str>| match error {
            Some(error) => Value::String(format!("{outcome}: {error}")),
            None => Value::String(outcome.to_owned()),
        };
        let recorded = text(call.outcome(), call.error());
        // A tape of calls that something else kept may lack the text of the error.
        let error = ended.error.as_deref().filter(|_| call.error().is_some());
        let now = text(ended.outcome, error);
        found.extend(compared(at, line, DriftKind::OutcomeChanged, &recorded, &now));
        let recorded = player.recording().reply_value(call)?.unwrap_or_default();
        let now = run.reply.unwrap_or_default();
        found.extend(compared(at, line, DriftKind::ReplyChanged, &recorded, &now));
    }
    Ok(found)
}

/// Returns the differences between two values of a call.
fn compared(at: &At, line: usize, kind: DriftKind, recorded: &Value, now: &Value) -> Vec<Found> {
    if recorded == now {
        return Vec::new();
    }
    let all_cosmetic = is_cosmetic(recorded, now);
    let found = differences(recorded, now).into_iter().map(|difference| {
        let mut found = changed(at, None, line, kind, difference);
        if all_cosmetic {
            found.entry.verdict = Verdict::Cosmetic;
        }
        found
    });
    found.collect()
}

/// Creates a difference, whose verdict is that of its values.
pub(super) fn changed(
    at: &At,
    step: Option<&Step>,
    line: usize,
    kind: DriftKind,
    Difference { path, recorded, now }: Difference,
) -> Found {
    let is_cosmetic = match (&recorded, &now) {
        (Some(recorded), Some(now)) => is_id(&path) || is_cosmetic(recorded, now),
        _ => false,
    };
    let verdict = if is_cosmetic { Verdict::Cosmetic } else { Verdict::Changed };
    let at_step = match step {
        Some(step) => format!("{} {step}", at.run),
        None => at.run.to_string(),
    };
    Found {
        order: Order { run: at.recorded.unwrap_or(usize::MAX), line },
        entry: DriftEntry { at: at_step, kind, verdict, path, recorded, now },
    }
}

/// Returns the difference in the order of tool calls, if there is one.
fn order(player: &Player, run: &LiveRun) -> Option<Found> {
    let call = player.call(run.at.recorded?);
    let place = |entry: usize| call.entries().iter().position(|it| *it == entry);
    let mut now = run.tool_order.clone();
    now.sort_unstable();
    let now: Vec<_> = now.iter().filter_map(|(_, entry)| Some((place(*entry)?, *entry))).collect();
    if now.is_sorted() {
        return None;
    }
    let mut recorded = now.clone();
    recorded.sort_unstable();
    let names = |entries: Vec<(usize, usize)>| {
        let names = entries.into_iter().map(|(_, entry)| player.entry(entry).step.to_string());
        Some(Value::String(names.collect::<Vec<_>>().join("\n")))
    };
    let difference = Difference { path: String::new(), recorded: names(recorded), now: names(now) };
    Some(changed(&run.at, None, call.line(), DriftKind::ToolOrder, difference))
}

/// Returns the entries of calls that did not begin.
pub(super) fn never_begun(player: &Player) -> impl Iterator<Item = Found> {
    player.never_begun().into_iter().map(|entry| unused(player, entry, false))
}

/// Creates the difference of an entry that was not used.
fn unused(player: &Player, entry: usize, has_begun: bool) -> Found {
    let Entry { call, place, step, .. } = player.entry(entry);
    let kind = match step {
        Step::Tool { .. } if has_begun => DriftKind::ToolMissing,
        _ => DriftKind::UnusedEntry,
    };
    let entry = DriftEntry {
        at: format!("{} {step}", player.call(*call).run()),
        kind,
        verdict: Verdict::Changed,
        path: String::new(),
        recorded: Some(Value::String(format!("line {}", place.line))),
        now: None,
    };
    Found { order: Order { run: *call, line: place.line }, entry }
}
