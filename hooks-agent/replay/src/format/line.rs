//! The lines of a tape.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Error, Value};

/// A line without its large parts, which are read when they are needed.
#[derive(Debug)]
pub(crate) enum Line {
    /// The first line.
    Header(HeaderLine),
    /// The start of a call of an agent.
    Call(CallLine<IgnoredAny>),
    /// A call of the model.
    Model(ModelLine<IgnoredAny, IgnoredAny>),
    /// A call of a tool.
    Tool(ToolLine<IgnoredAny>),
    /// A run of a hook that changed or decided something.
    Decision(DecisionLine),
    /// The end of a call of an agent.
    End(EndLine),
    /// The last line.
    Close(CloseLine),
}

/// The kind of a line, its field `t`, and its digest.
#[derive(Debug, Deserialize)]
struct Tag {
    t: Kind,
    sum: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Header,
    Call,
    Model,
    Tool,
    Decision,
    End,
    Close,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderLine {
    pub(crate) format: Option<String>,
    pub(crate) version: Option<u64>,
    #[serde(default)]
    pub(crate) redacted: Vec<String>,
    /// The version of the table by which secrets were found. None of tapes that are older than the table.
    pub(crate) secrets: Option<u32>,
}

/// `M` is what its messages are read as.
#[derive(Debug, Deserialize)]
pub(crate) struct CallLine<M> {
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) thread: String,
    pub(crate) parent: Option<String>,
    pub(crate) tool_call: Option<String>,
    pub(crate) messages: Option<M>,
    #[serde(default)]
    pub(crate) confirmed: Vec<String>,
}

/// `R` and `C` are what its request and its chunks are read as.
#[derive(Debug, Deserialize)]
pub(crate) struct ModelLine<R, C> {
    pub(crate) run: String,
    pub(crate) key: String,
    pub(crate) round: u32,
    #[serde(default)]
    pub(crate) attempt: u32,
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) request: R,
    pub(crate) chunks: C,
    #[serde(default)]
    pub(crate) ms: u64,
}

/// `V` is what its arguments and its output are read as.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolLine<V> {
    pub(crate) run: String,
    pub(crate) key: String,
    pub(crate) n: u32,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: V,
    pub(crate) output: Option<V>,
    #[serde(default)]
    pub(crate) is_error: bool,
    pub(crate) error: Option<Value>,
    #[serde(default)]
    pub(crate) ms: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DecisionLine {
    pub(crate) run: String,
    pub(crate) hook: String,
    pub(crate) event: String,
    pub(crate) tool_call: Option<String>,
    pub(crate) flow: String,
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EndLine {
    pub(crate) run: String,
    pub(crate) outcome: String,
    pub(crate) error: Option<Value>,
    pub(crate) reply: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CloseLine {
    pub(crate) lines: Option<usize>,
}

impl Line {
    /// Reads a line and its digest.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, Option<String>), String> {
        // A tag of an enum would keep all that is before it in memory.
        let Tag { t, sum } = parse(bytes)?;
        let line = match t {
            Kind::Header => Self::Header(parse(bytes)?),
            Kind::Call => Self::Call(parse(bytes)?),
            Kind::Model => Self::Model(parse(bytes)?),
            Kind::Tool => Self::Tool(parse(bytes)?),
            Kind::Decision => Self::Decision(parse(bytes)?),
            Kind::End => Self::End(parse(bytes)?),
            Kind::Close => Self::Close(parse(bytes)?),
        };
        Ok((line, sum))
    }
}

/// Reads a line as one of its kinds.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(&error))
}

/// Says where in the line the error is; the line of the message would be of the text alone.
fn unreadable(error: &Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    match reason.strip_prefix("missing field ") {
        Some(name) => format!("it has no field {name}"),
        None => format!("{reason}, at column {}", error.column()),
    }
}
