//! The hits of a search.

use std::sync::Arc;

use hooks_agent_core::call::RunId;
use regex::{Regex, RegexBuilder, bytes};
use serde::Serialize;

use crate::ring::Ring;
use crate::search::texts::texts;

/// The most hits.
const MOST: usize = 100;

/// How many characters are shown of a text, and how many of them before what was found.
const SHOWN: usize = 200;
const BEFORE: usize = 60;

/// The hits of a search, the newest first.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    hits: Vec<Hit>,
    /// Whether there are more.
    more: bool,
}

#[derive(Debug, Serialize)]
struct Hit {
    run: RunId,
    seq: u64,
    ts: u64,
    agent: Arc<str>,
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

/// Searches what the ring keeps, whether letters are capital or not. `None` if the text is one of less than two characters.
pub(crate) fn search(ring: &Ring, text: &str) -> Option<Found> {
    let text = text.trim();
    text.chars().nth(1)?;
    let wanted = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()?;
    let mut hits = Vec::new();
    // Texts are kept as they are, numbers are not.
    let of_number = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    let kept = (!text.chars().all(of_number)).then(|| in_bytes(&wanted)).flatten();
    for log in ring.logs().iter().rev() {
        let written = log.written();
        for (label, data) in written.after(0).rev() {
            if kept.as_ref().is_some_and(|kept| !kept.is_match(data.bytes())) {
                continue;
            }
            let mut found = None;
            let is_found = texts(label.kind, data, &mut |text| {
                found = piece(&wanted, text);
                found.is_some()
            });
            let Some(text) = found.filter(|_| is_found) else { continue };
            if hits.len() == MOST {
                return Some(Found { hits, more: true });
            }
            let (run, agent) = (log.head.run, log.head.agent.clone());
            hits.push(Hit { run, seq: label.seq, ts: label.ts, agent, kind: label.kind, text });
        }
    }
    Some(Found { hits, more: false })
}

/// Returns the same for bytes.
fn in_bytes(wanted: &Regex) -> Option<bytes::Regex> {
    bytes::RegexBuilder::new(wanted.as_str()).case_insensitive(true).build().ok()
}

/// Returns what stands around the first place.
fn piece(wanted: &Regex, text: &str) -> Option<String> {
    let found = wanted.find(text)?;
    let before = text[..found.start()].char_indices().rev().nth(BEFORE - 1);
    let start = before.map_or(0, |(at, _)| at);
    Some(text[start..].chars().take(SHOWN).collect())
}
