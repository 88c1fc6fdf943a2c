//! Outputs of tools.

use std::convert::Infallible;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::message::block::ContentBlock;
use crate::message::strings::map_strings;

/// What a tool returns: the text that the model reads, and, if the tool has them, further blocks
/// for the model, such as images, and a structured value for programs.
///
/// In JSON, an output that is only text is a string. Others are an object with the fields `text`,
/// `blocks` and `structured`.
///
/// ```
/// use hooks_agent::message::ToolOutput;
/// use serde_json::json;
///
/// let output = ToolOutput::text("sunny, 21 degrees").with_structured(json!({ "celsius": 21 }));
/// assert_eq!(output, "sunny, 21 degrees");
/// assert_eq!(output.structured(), Some(&json!({ "celsius": 21 })));
/// ```
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Json")]
pub struct ToolOutput {
    text: String,
    /// Rare, so that most outputs stay small.
    more: Option<Box<More>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct More {
    blocks: Vec<ContentBlock>,
    structured: Option<Value>,
}

impl ToolOutput {
    /// Creates an output of this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), more: None }
    }

    /// Creates an output of a value: its JSON as text, and the value for programs.
    #[must_use]
    pub fn json(value: Value) -> Self {
        Self::text(value.to_string()).with_structured(value)
    }

    /// Adds a block that the model reads after the text: text, an image, audio or a file.
    #[must_use]
    pub fn with_block(mut self, block: ContentBlock) -> Self {
        self.more.get_or_insert_default().blocks.push(block);
        self
    }

    /// Sets the value for programs. The model does not read it.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.more.get_or_insert_default().structured = Some(value);
        self
    }

    /// Returns the text, without the blocks after it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a mutable reference to the text. Blocks and the structured value stay as they are:
    /// to remove content, replace the output, or use [`map_text`](Self::map_text).
    pub fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Returns the blocks after the text.
    #[must_use]
    pub fn blocks(&self) -> &[ContentBlock] {
        self.more.as_ref().map_or(&[], |more| &more.blocks)
    }

    /// Returns the value for programs.
    #[must_use]
    pub fn structured(&self) -> Option<&Value> {
        self.more.as_ref()?.structured.as_ref()
    }

    /// Replaces every text: the text, the text blocks, and the strings, keys and numbers of the
    /// structured value. For hooks that redact.
    ///
    /// If the text is the JSON of the structured value, it is written anew from the mapped value and
    /// mapped again, so that `map` finds what JSON escapes. A number whose text `map` changes becomes a
    /// string. Of keys that become equal, the last one stays. Images, audio and files stay as they
    /// are, with their names and URLs; blocks that are no content of a tool are removed.
    ///
    /// ```
    /// use hooks_agent::message::ToolOutput;
    /// use serde_json::json;
    ///
    /// let mut output = ToolOutput::json(json!({ "mail": "ada@example.com" }));
    /// output.map_text(|text| text.replace("ada@example.com", "<mail>"));
    /// assert_eq!(output, r#"{"mail":"<mail>"}"#);
    /// assert_eq!(output.structured(), Some(&json!({ "mail": "<mail>" })));
    /// ```
    pub fn map_text(&mut self, mut map: impl FnMut(&str) -> String) {
        self.map_fields(|_, text, _| map(text));
    }

    /// The same; `map` also receives the key of the field of the structured value that a text is in.
    pub(crate) fn map_fields(&mut self, mut map: impl FnMut(Option<&str>, &str, Part) -> String) {
        let text = std::mem::take(&mut self.text);
        self.text = map(None, &text, Part::Text);
        let Some(more) = &mut self.more else { return };
        more.blocks.retain_mut(|block| {
            if let ContentBlock::Text { text } = block {
                *text = map(None, text, Part::Block);
            }
            is_content(block)
        });
        let Some(value) = &mut more.structured else { return };
        let before = value.to_string();
        let Ok(()) =
            map_strings(value, &mut |key, text| Ok::<_, Infallible>(map(key, text, Part::Value)));
        let after = value.to_string();
        if text == before && self.text != after {
            self.text = map(None, &after, Part::Mapped);
        }
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [ContentBlock] {
        self.more.as_mut().map_or(&mut [], |more| &mut more.blocks)
    }

    pub(crate) fn remove_structured(&mut self) {
        if let Some(more) = &mut self.more {
            more.structured = None;
        }
        self.more.take_if(|more| more.blocks.is_empty());
    }
}

/// The part of an output that a text is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Text,
    Block,
    /// A string, key or number of the structured value.
    Value,
    /// The JSON of the structured value as it was mapped, which is the text.
    Mapped,
}

/// Returns whether a tool may return the block.
fn is_content(block: &ContentBlock) -> bool {
    use ContentBlock::{Audio, File, Image, Text};
    matches!(block, Text { .. } | Image(_) | Audio(_) | File(_))
}

impl fmt::Display for ToolOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.more {
            None => self.text.fmt(f),
            Some(more) => f
                .debug_struct("ToolOutput")
                .field("text", &self.text)
                .field("blocks", &more.blocks)
                .field("structured", &more.structured)
                .finish(),
        }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Compares the text alone; an output with blocks or a structured value has more than that.
impl PartialEq<str> for ToolOutput {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

/// Compares the text alone; an output with blocks or a structured value has more than that.
impl PartialEq<&str> for ToolOutput {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

/// The form in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    Text(String),
    Object {
        #[serde(default)]
        text: String,
        #[serde(default)]
        blocks: Vec<ContentBlock>,
        #[serde(default, deserialize_with = "present")]
        structured: Option<Value>,
    },
}

/// Reads a field that is present: `null` is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<Json> for ToolOutput {
    fn from(json: Json) -> Self {
        match json {
            Json::Text(text) => Self::text(text),
            Json::Object { text, blocks, structured } => {
                let is_plain = blocks.is_empty() && structured.is_none();
                let more = (!is_plain).then(|| Box::new(More { blocks, structured }));
                Self { text, more }
            }
        }
    }
}

impl Serialize for ToolOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(More { blocks, structured }) = self.more.as_deref() else {
            return serializer.serialize_str(&self.text);
        };
        let mut object = serializer.serialize_struct("ToolOutput", 3)?;
        object.serialize_field("text", &self.text)?;
        if !blocks.is_empty() {
            object.serialize_field("blocks", blocks)?;
        }
        if let Some(structured) = structured {
            object.serialize_field("structured", structured)?;
        }
        object.end()
    }
}
