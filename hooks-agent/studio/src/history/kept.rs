//! A run as it is kept.

use hooks_agent_core::store::{KeptRun, RunTotal};

use crate::ring::{Log, RunSummary};
use crate::search::texts;
use crate::totals::totals_of;

/// Returns a run as it is kept: what the ring has of it, and nothing that it hides. Nothing if the ring gave it up.
pub(super) fn kept(log: &Log, has_prices: bool) -> Option<KeptRun> {
    let (mut summary, written) = log.whole()?;
    let mut entries = vec![b'['];
    let mut text = String::new();
    add_text(&mut text, summary.title.as_deref().unwrap_or_default());
    for (label, data) in written.after(0) {
        if entries.len() > 1 {
            entries.push(b',');
        }
        entries.extend_from_slice(&label.json(&log.head, data));
        texts(label.kind, data, &mut |more| {
            add_text(&mut text, more);
            false
        });
    }
    entries.push(b']');
    if entries.len() > KeptRun::LONGEST_ENTRIES {
        entries = b"[]".to_vec();
        summary.dropped = summary.events;
    }
    let totals = totals_of(&summary, &written, has_prices);
    let mut totals: Vec<_> = totals
        .iter()
        .map(|(of, name, metric, value)| {
            let name = cut(name);
            RunTotal::new(of.name(), name, metric.to_string(), value)
        })
        .collect();
    totals.truncate(KeptRun::MOST_TOTALS);
    let RunSummary { run, agent, thread, started, .. } = summary.clone();
    let mut kept = KeptRun::new(run, agent, thread, started);
    kept.user.clone_from(&summary.user);
    kept.parent = summary.parent;
    kept.state = summary.state.name().into();
    kept.ended = summary.ended;
    kept.summary = serde_json::to_string(&summary).unwrap_or_default();
    // JSON was written.
    kept.entries = String::from_utf8(entries).unwrap_or_default();
    kept.text = text;
    kept.totals = totals;
    Some(kept)
}

/// Adds a text, up to what is searched.
fn add_text(all: &mut String, more: &str) {
    let left = KeptRun::LONGEST_TEXT.saturating_sub(all.len() + 1);
    let end = more.floor_char_boundary(left.min(more.len()));
    if end > 0 {
        all.push('\n');
        all.push_str(&more[..end]);
    }
}

/// Returns a name as a store takes it.
fn cut(name: &str) -> String {
    let name = name.replace('\0', "\u{fffd}");
    name[..name.floor_char_boundary(NAME.min(name.len()))].to_owned()
}

/// The bytes of the longest name.
const NAME: usize = hooks_agent_core::store::ThreadKey::LONGEST;
