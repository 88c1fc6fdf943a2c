//! Keeps with a thread the digests of what its user said, and of the addresses to which calls went.

use std::collections::BTreeSet;
use std::fmt::Write;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{ContentBlock, Msg, ToolUse};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The name of the thread value.
const NAME: &str = "provenance";

/// What is kept with a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The digests of the texts of the user.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) said: BTreeSet<String>,
    /// The digests of the addresses to which calls went unasked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) gone: BTreeSet<String>,
}

/// Returns what is kept with the thread of the outermost agent.
pub(crate) fn kept(cx: &CallContext) -> Result<Kept, ThreadValueError> {
    Ok(cx.outermost().thread_value(NAME)?.unwrap_or_default())
}

/// Notes what the user says.
pub(crate) fn note_said<'t>(
    cx: &CallContext,
    texts: impl Iterator<Item = &'t str>,
) -> Result<(), ThreadValueError> {
    add(cx, texts.map(|text| digest(&[text])).collect(), |kept| &mut kept.said)
}

/// Notes addresses to which a call goes unasked.
pub(crate) fn note_gone(
    cx: &CallContext,
    addresses: impl Iterator<Item = String>,
) -> Result<(), ThreadValueError> {
    add(cx, addresses.map(|it| digest(&[&it])).collect(), |kept| &mut kept.gone)
}

fn add(
    cx: &CallContext,
    digests: Vec<String>,
    part: fn(&mut Kept) -> &mut BTreeSet<String>,
) -> Result<(), ThreadValueError> {
    let mut before = kept(cx)?;
    let own = part(&mut before);
    if digests.iter().all(|digest| own.contains(digest)) {
        return Ok(());
    }
    cx.outermost().update_thread_value(NAME, |kept: &mut Option<Kept>| {
        part(kept.get_or_insert_default()).extend(digests);
    })
}

/// Returns the digest of texts, of 128 bits in hexadecimal.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize()[..16].iter().fold(String::with_capacity(32), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the digest of a tool call: of its tool and its arguments.
pub(crate) fn call_digest(call: &ToolUse) -> String {
    digest(&[&call.name, &call.input.to_string()])
}

/// Returns the texts of a message.
pub(crate) fn texts(msg: &Msg) -> impl Iterator<Item = &str> {
    msg.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// Calls `each` with the texts and numbers of a value.
pub(crate) fn each_scalar(value: &Value, each: &mut dyn FnMut(String)) {
    match value {
        Value::String(text) if !text.trim().is_empty() => each(text.trim().to_owned()),
        Value::Number(number) => each(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| each_scalar(value, each)),
        Value::Object(fields) => fields.values().for_each(|value| each_scalar(value, each)),
        _ => {}
    }
}
