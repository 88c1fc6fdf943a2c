//! A model in process: it plans from the question and from what the tools answered.

use std::path::Path;

use hooks_agent::message::{Messages, Role, ToolResult, ToolUse};
use hooks_agent::model::{ChatRequest, ScriptedAnswer};
use serde_json::json;

/// Words that say nothing about where to look.
const STOP_WORDS: [&str; 16] = [
    "about", "does", "file", "folder", "from", "have", "holds", "into", "says", "that", "there",
    "this", "what", "where", "which", "with",
];

/// Looks around, searches for the words of the question, reads around the best line, answers.
pub(crate) fn plan(request: &ChatRequest) -> ScriptedAnswer {
    let question = question(&request.messages);
    let keywords = keywords(&question);
    let results: Vec<_> =
        request.messages.iter().flat_map(hooks_agent::message::Msg::tool_results).collect();
    let of = |tool: &str| -> Vec<&ToolResult> {
        results.iter().copied().filter(|result| result.name == tool).collect()
    };
    let (lists, searches, reads) = (of("list_files"), of("search_text"), of("read_file"));

    // What is around may help, as models like to think; the folder itself will do if not.
    if lists.is_empty() {
        return ToolUse::new("list-1", "list_files", json!({ "path": ".." })).into();
    }
    if lists.iter().all(|list| list.is_error) && lists.len() == 1 {
        return ToolUse::new("list-2", "list_files", json!({ "path": "." })).into();
    }
    if searches.is_empty() && !keywords.is_empty() {
        let input = json!({ "text": keywords.join(" ") });
        return ToolUse::new("search-1", "search_text", input).into();
    }
    let Some(best) = best_hit(&searches, &question) else {
        return format!("No file mentions any of: {}.", keywords.join(", ")).into();
    };
    if reads.is_empty() {
        let from = best.line.saturating_sub(1).max(1);
        let input = json!({ "path": best.file, "from": from, "lines": 4 });
        return ToolUse::new("read-1", "read_file", input).into();
    }
    let context = &reads[0].output;
    format!("{}, line {}, says:\n{context}", best.file, best.line).into()
}

fn question(messages: &Messages) -> String {
    messages
        .iter()
        .rev()
        .find(|msg| msg.role == Role::User)
        .map(hooks_agent::message::Msg::text)
        .unwrap_or_default()
}

fn keywords(question: &str) -> Vec<String> {
    let mut keywords: Vec<String> = Vec::new();
    for word in question.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '-') {
        let word = word.to_lowercase();
        let says_something = word.len() >= 3 && !STOP_WORDS.contains(&word.as_str());
        if says_something && !["the", "and", "are", "how"].contains(&word.as_str()) {
            keywords.push(word);
        }
    }
    keywords.dedup();
    keywords
}

/// A line that was found.
struct Hit {
    file: String,
    line: usize,
}

/// The first line of prose that a search found, else the first line: prose answers questions better
/// than code.
fn best_hit(searches: &[&ToolResult], question: &str) -> Option<Hit> {
    let lines = searches.iter().flat_map(|search| search.output.as_str().lines());
    // Where the question itself is quoted is no answer.
    let hits: Vec<_> = lines.filter(|line| !line.contains(question)).filter_map(hit).collect();
    let is_prose = |file: &str| Path::new(file).extension().is_some_and(|it| it == "md");
    let (file, line) = hits.iter().find(|(file, _)| is_prose(file)).or(hits.first())?;
    Some(Hit { file: (*file).to_owned(), line: *line })
}

// Input:  `README.md:12: some text`
// Output: `("README.md", 12)`
fn hit(line: &str) -> Option<(&str, usize)> {
    let (file, rest) = line.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    Some((file, number.parse().ok()?))
}
