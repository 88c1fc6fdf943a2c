//! A conversation as text, for the model that summarizes it.

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult};
use hooks_agent_core::model::TokenCounter;

/// Returns the messages as texts, one for each piece that fits into this many tokens. No text is lost:
/// a message that does not fit is split. `id` returns by what a result is read again, if it can be.
pub(super) fn pieces<'a>(
    messages: impl IntoIterator<Item = &'a Msg>,
    counter: &TokenCounter,
    most: u64,
    id: &(dyn Fn(&ToolResult) -> Option<String> + Sync),
) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for text in messages.into_iter().map(|msg| lines(msg, id)) {
        for part in parts(&text, counter, most) {
            let tokens = counter.count_text(part);
            if used > 0 && used + tokens > most {
                pieces.push(String::new());
                used = 0;
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push_str(part);
            }
            used += tokens;
        }
    }
    pieces
}

/// Splits a text into parts of at most this many tokens, at least a character each.
fn parts<'a>(text: &'a str, counter: &TokenCounter, most: u64) -> Vec<&'a str> {
    if counter.count_text(text) <= most {
        return vec![text];
    }
    let middle = text.floor_char_boundary(text.len() / 2);
    let middle = if middle == 0 { text.chars().next().map_or(0, char::len_utf8) } else { middle };
    match text.split_at(middle) {
        ("", _) | (_, "") => vec![text],
        (one, other) => {
            let mut all = parts(one, counter, most);
            all.extend(parts(other, counter, most));
            all
        }
    }
}

/// Returns a message as lines.
fn lines(msg: &Msg, id: &(dyn Fn(&ToolResult) -> Option<String> + Sync)) -> String {
    let mut lines = String::new();
    let who = match msg.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::System => "System",
        Role::Tool => "Tool",
    };
    for block in &msg.content {
        let (who, text) = match block {
            ContentBlock::Text { text } => (who.to_owned(), text.clone()),
            ContentBlock::ToolUse(call) => {
                (format!("{who} calls tool `{}`", call.name), call.input.to_string())
            }
            ContentBlock::ToolResult(result) => {
                let media = result.output.blocks().iter().map(described);
                let text = std::iter::once(result.output.as_str().to_owned()).chain(media);
                let id = id(result).map(|id| format!(" (id \"{id}\")")).unwrap_or_default();
                let who = format!("Result of tool `{}`{id}", result.name);
                (who, text.collect::<Vec<_>>().join(" "))
            }
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => continue,
            media => (who.to_owned(), described(media)),
        };
        lines.extend([&*who, ": ", text.trim(), "\n"]);
    }
    lines
}

/// Returns what stands for a block that is no text.
fn described(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::Image(_) => "[image]".to_owned(),
        ContentBlock::Audio(_) => "[audio]".to_owned(),
        _ => "[file]".to_owned(),
    }
}
