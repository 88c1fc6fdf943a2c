//! Says where the arguments of a tool call came from, to people who are asked about it.

use hooks_agent_core::message::{Note, ToolUse};

use crate::provenance::doubts::arguments::arguments;
use crate::provenance::entered::read::Read;
use crate::provenance::entered::sources::Sources;
use crate::provenance::entered::standing::Standing;
use crate::provenance::labels::{Role, Sink};
use crate::provenance::reading::needle::Needle;

/// The most arguments of a tool call that are spoken of, and the most results that one is said to stand in.
const MOST_ARGUMENTS: usize = 32;
const MOST_READS: usize = 3;

/// Returns a note for each text and number in the arguments, for destinations first.
pub(crate) fn notes(sources: &Sources, max_read: usize, sink: &Sink, call: &ToolUse) -> Vec<Note> {
    let mut all = arguments(call, sink);
    all.sort_by_key(|argument| argument.role != Role::Destination);
    let told = all.iter().take(MOST_ARGUMENTS).map(|argument| {
        let needle = Needle::new(&argument.value, argument.name);
        let where_from = if sources.length > max_read {
            "cannot be traced: too much was read".to_owned()
        } else {
            match Standing::of(sources, &needle) {
                Ok(standing) => text(sources, &standing),
                Err(_) => "stands at too many places to be traced".to_owned(),
            }
        };
        Note::new(argument.path.as_str(), where_from)
    });
    let mut notes: Vec<_> = told.collect();
    if let Some(more) = all.len().checked_sub(MOST_ARGUMENTS).filter(|more| *more > 0) {
        notes.push(Note::new("", format!("has {more} more arguments, which were not traced")));
    }
    notes
}

fn text(sources: &Sources, standing: &Standing<'_>) -> String {
    if standing.is_nowhere() {
        return "stands in nothing that was said or read".to_owned();
    }
    let mut places = Vec::new();
    places.extend(standing.is_said.then(|| "what the user said".to_owned()));
    places.extend(standing.is_instructed.then(|| "the instructions".to_owned()));
    // What others may have written is what people must know.
    let mut all = standing.reads.clone();
    all.sort_by_key(|read| read.is_trusted);
    let mut reads: Vec<_> = all.into_iter().map(|read| shown(sources, read)).collect();
    reads.dedup();
    let more = reads.len().saturating_sub(MOST_READS);
    places.extend(reads.into_iter().take(MOST_READS));
    if more > 0 {
        places.push(format!("{more} more"));
    }
    format!("stands in {}", places.join("; in "))
}

/// Says what was read, who may have written it, and whether the user named it.
fn shown(sources: &Sources, read: &Read) -> String {
    let who = match (read.is_trusted, sources.is_named(read)) {
        (true, _) => "",
        (false, true) => ", a source that the user named and that others may have written",
        (false, false) => ", which others may have written",
    };
    format!("{}{who}", read.shown())
}
