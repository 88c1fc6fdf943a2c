//! Reads the events of messages.

use serde_json::{Value, json};

use crate::model::answer::piece::{Held, HeldKind, Malformed, Mark, Piece, ReadEvents, TextKind};
use crate::model::answer::scrub::scrub;
use crate::model::guarded::Call;

/// The most bytes of the arguments of a call.
const MOST_ARGUMENTS: usize = 8 * 1024 * 1024;

/// Reads the events of messages.
pub(crate) struct ReadMessages {
    /// Whether hooks read the answer: then nothing of it passes that they have not read.
    is_read: bool,
    block: Block,
}

/// The block that is open.
enum Block {
    None,
    /// Its texts are pieces.
    Open,
    /// It is held until it is complete.
    Held {
        arguments: String,
        events: Vec<Value>,
    },
    /// It is not known to the proxy.
    Unknown,
}

impl ReadMessages {
    pub(crate) fn new(is_read: bool) -> Self {
        Self { is_read, block: Block::None }
    }

    /// Takes out what hooks have not read. Returns whether there was any.
    fn scrub(&self, value: &mut Value) -> bool {
        self.is_read && scrub(value)
    }

    fn begin(&mut self, mut event: Value, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        if !matches!(self.block, Block::None) {
            return Err(Malformed);
        }
        let block = &mut event["content_block"];
        let kind = block["type"].as_str().ok_or(Malformed)?.to_owned();
        let text = match kind.as_str() {
            "text" => Some((TextKind::Said, take_text(block, "text"))),
            "thinking" => Some((TextKind::Thought, take_text(block, "thinking"))),
            _ => None,
        };
        self.block = match kind.as_str() {
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                Block::Held { arguments: String::new(), events: vec![event] }
            }
            _ if block["tool_use_id"].is_string() => {
                Block::Held { arguments: String::new(), events: vec![event] }
            }
            "text" | "thinking" => {
                self.scrub(block);
                pieces.push(Piece::Mark(Mark::Event(event)));
                Block::Open
            }
            // Only the provider reads them.
            "redacted_thinking" => {
                pieces.push(Piece::Mark(Mark::Event(event)));
                Block::Open
            }
            _ => {
                self.scrub(block);
                pieces.push(Piece::Mark(Mark::Event(event)));
                Block::Unknown
            }
        };
        if let Some((kind, text)) = text.filter(|(_, text)| !text.is_empty()) {
            pieces.push(Piece::Text(kind, text));
        }
        Ok(())
    }

    fn go_on(&mut self, mut event: Value, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let is_read = self.is_read;
        let delta = &mut event["delta"];
        let kind = delta["type"].as_str().ok_or(Malformed)?.to_owned();
        match (&mut self.block, kind.as_str()) {
            (Block::Held { arguments, events }, "input_json_delta") => {
                arguments.push_str(delta["partial_json"].as_str().ok_or(Malformed)?);
                if arguments.len() > MOST_ARGUMENTS {
                    return Err(Malformed);
                }
                events.push(event);
            }
            (Block::None | Block::Held { .. }, _) => return Err(Malformed),
            (Block::Open, "text_delta") => {
                pieces.push(Piece::Text(TextKind::Said, text_of(delta, "text")?));
            }
            (Block::Open, "thinking_delta") => {
                pieces.push(Piece::Text(TextKind::Thought, text_of(delta, "thinking")?));
            }
            (Block::Open, "signature_delta") => {
                pieces.push(Piece::Signature(text_of(delta, "signature")?));
            }
            // Citations quote what hooks have not read.
            _ if is_read && scrub(delta) => {}
            _ => pieces.push(Piece::Mark(Mark::Event(event))),
        }
        Ok(())
    }

    fn finish(&mut self, event: Value, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        match std::mem::replace(&mut self.block, Block::None) {
            Block::None => return Err(Malformed),
            Block::Open | Block::Unknown => pieces.push(Piece::Mark(Mark::Event(event))),
            Block::Held { arguments, mut events } => {
                events.push(event);
                let held = held(&arguments, events);
                pieces.push(Piece::Mark(Mark::Held(Box::new(held))));
            }
        }
        Ok(())
    }
}

impl ReadEvents for ReadMessages {
    fn read(&mut self, data: &str, pieces: &mut Vec<Piece>) -> Result<(), Malformed> {
        let mut event: Value = serde_json::from_str(data).map_err(|_| Malformed)?;
        let kind = event["type"].as_str().ok_or(Malformed)?.to_owned();
        match kind.as_str() {
            "content_block_start" => self.begin(event, pieces)?,
            "content_block_delta" => self.go_on(event, pieces)?,
            "content_block_stop" => self.finish(event, pieces)?,
            "message_start" | "message_delta" => {
                self.scrub(&mut event);
                pieces.push(Piece::Mark(Mark::Event(event)));
            }
            "message_stop" => pieces.push(Piece::Mark(Mark::End(event))),
            "error" => pieces.push(Piece::Mark(Mark::Failed(event))),
            _ if self.scrub(&mut event) => {}
            _ => pieces.push(Piece::Pass(event)),
        }
        Ok(())
    }
}

/// Returns the call or the result of a block that is complete.
fn held(arguments: &str, events: Vec<Value>) -> Held {
    let held = held_of(&events[0]["content_block"], arguments);
    Held { events, ..held }
}

/// Returns the call or the result of a block. Arguments that streamed are beside it.
pub(super) fn held_of(block: &Value, arguments: &str) -> Held {
    let name = block["name"].as_str().unwrap_or_default();
    let kind = block["type"].as_str().unwrap_or_default();
    if let Some(id) = block["tool_use_id"].as_str() {
        // Its own name is the best that is known.
        let call = Call { id: id.to_owned(), name: kind.to_owned(), input: Some(json!({})) };
        let result = Some(block["content"].clone());
        return Held { kind: HeldKind::Result, call, result, events: Vec::new() };
    }
    let id = block["id"].as_str().unwrap_or_default();
    let name = match block["server_name"].as_str() {
        Some(server) => format!("mcp__{server}__{name}"),
        None => name.to_owned(),
    };
    let mut call = Call::new(id, &name, arguments);
    if arguments.is_empty() {
        call.input = Some(block["input"].clone()).filter(Value::is_object);
    }
    let kind = if kind == "tool_use" { HeldKind::Agent } else { HeldKind::Provider };
    Held { kind, call, result: None, events: Vec::new() }
}

fn take_text(block: &mut Value, field: &str) -> String {
    match block.get_mut(field) {
        Some(Value::String(text)) => std::mem::take(text),
        _ => String::new(),
    }
}

fn text_of(delta: &Value, field: &str) -> Result<String, Malformed> {
    delta[field].as_str().map(str::to_owned).ok_or(Malformed)
}
