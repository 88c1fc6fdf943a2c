//! Counts the tokens of texts and messages.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::message::{ContentBlock, Msg};
use crate::model::chat::ToolSpec;

/// Counts tokens in quarters, so that short texts do not round to nothing.
pub(super) const QUARTERS: u64 = 4;

/// The tokens of an image, a sound or a file.
const MEDIA: u64 = 85;

/// Counts the tokens of texts, messages and tools.
///
/// The [default](TokenCounter::approximate) is an approximation; [`of`](TokenCounter::of) takes a
/// function that counts the tokens of a text; `tiktoken` (feature `tiktoken`) counts as the models of
/// `OpenAI` do. All hooks that count tokens take a `TokenCounter`.
///
/// ```
/// use hooks_agent::message::Msg;
/// use hooks_agent::model::TokenCounter;
///
/// let counter = TokenCounter::approximate();
/// assert_eq!(counter.count_text("How are you?"), 3);
/// assert_eq!(counter.count_text("你好"), 2);
///
/// let words = TokenCounter::of(|text| text.split_whitespace().count() as u64);
/// assert_eq!(words.count([&Msg::user("How are you?")]), 3);
/// ```
#[derive(Clone, Default)]
pub struct TokenCounter(Option<Arc<Count>>);

/// Returns the tokens of a text.
type Count = dyn Fn(&str) -> u64 + Send + Sync;

impl TokenCounter {
    /// Creates the counter that takes four characters for a token, a character of Chinese, Japanese or
    /// Korean for one token, and an image, a sound or a file for 85 tokens.
    #[must_use]
    pub const fn approximate() -> Self {
        Self(None)
    }

    /// Creates a counter from a function that returns the tokens of a text. An image, a sound or a file
    /// counts as 85 tokens.
    #[must_use]
    pub fn of(count: impl Fn(&str) -> u64 + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(count)))
    }

    /// Creates the counter of a model of `OpenAI`, or `None` for another model. The first count loads
    /// the vocabulary.
    ///
    /// ```
    /// use hooks_agent::model::TokenCounter;
    ///
    /// let counter = TokenCounter::tiktoken("gpt-4o").expect("a known model");
    /// assert_eq!(counter.count_text("tiktoken is great!"), 6);
    /// ```
    #[cfg(feature = "tiktoken")]
    #[must_use]
    pub fn tiktoken(model: &str) -> Option<Self> {
        tiktoken_rs::tokenizer::get_tokenizer(model)?;
        let model = model.to_owned();
        let vocabulary = std::sync::LazyLock::new(move || tiktoken_rs::bpe_for_model(&model));
        Some(Self::of(move |text| match &*vocabulary {
            Ok(vocabulary) => vocabulary.encode_ordinary(text).len() as u64,
            // The vocabularies are part of the program.
            Err(_) => Self::approximate().count_text(text),
        }))
    }

    /// Returns the tokens of a text.
    #[must_use]
    pub fn count_text(&self, text: &str) -> u64 {
        self.quarters(text).div_ceil(QUARTERS)
    }

    /// Returns the tokens of messages: their texts, thoughts, media, and the names, arguments and
    /// results of tool calls.
    #[must_use]
    pub fn count<'a>(&self, messages: impl IntoIterator<Item = &'a Msg>) -> u64 {
        let blocks = messages.into_iter().flat_map(|msg| &msg.content);
        let quarters: u64 = blocks.map(|block| self.quarters_of(block)).sum();
        quarters.div_ceil(QUARTERS)
    }

    /// Returns the tokens of the descriptions of tools.
    #[must_use]
    pub fn count_tools<'a>(&self, tools: impl IntoIterator<Item = &'a ToolSpec>) -> u64 {
        let quarters = tools.into_iter().map(|tool| {
            self.quarters(&tool.name)
                + self.quarters(&tool.description)
                + self.quarters_of_json(&tool.schema)
        });
        quarters.sum::<u64>().div_ceil(QUARTERS)
    }

    /// Returns the quarters of tokens of a text.
    pub(super) fn quarters(&self, text: &str) -> u64 {
        match &self.0 {
            Some(count) => count(text).saturating_mul(QUARTERS),
            None if text.is_ascii() => text.len() as u64,
            None => text.chars().map(|char| if is_ideographic(char) { QUARTERS } else { 1 }).sum(),
        }
    }

    /// Returns the quarters of tokens of a value as JSON.
    pub(super) fn quarters_of_json(&self, value: &Value) -> u64 {
        if self.0.is_some() {
            return self.quarters(&value.to_string());
        }
        json_quarters(value)
    }

    fn quarters_of(&self, block: &ContentBlock) -> u64 {
        match block {
            ContentBlock::Text { text } => self.quarters(text),
            ContentBlock::Thinking { thinking, .. } => self.quarters(thinking),
            ContentBlock::RedactedThinking { data } => data.len() as u64,
            ContentBlock::ToolUse(call) => {
                self.quarters(&call.name) + self.quarters_of_json(&call.input)
            }
            ContentBlock::ToolResult(result) => {
                let output = &result.output;
                let blocks = output.blocks().iter().map(|block| self.quarters_of(block));
                self.quarters(output.as_str()) + blocks.sum::<u64>()
            }
            ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::File(_) => {
                MEDIA * QUARTERS
            }
        }
    }
}

/// Returns the quarters of tokens of a value as JSON by the approximation, without writing it.
fn json_quarters(value: &Value) -> u64 {
    // Brackets and what is between the items.
    let around = |count: usize| (count.max(1) + 1) as u64;
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len() as u64,
        Value::String(text) => string_quarters(text),
        Value::Array(items) => around(items.len()) + items.iter().map(json_quarters).sum::<u64>(),
        Value::Object(fields) => {
            let all =
                fields.iter().map(|(name, value)| string_quarters(name) + 1 + json_quarters(value));
            around(fields.len()) + all.sum::<u64>()
        }
    }
}

/// Returns the quarters of tokens of a text in JSON: with its quotes and escapes.
fn string_quarters(text: &str) -> u64 {
    let escape = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..32 => 5,
        _ => 0,
    };
    2 + TokenCounter::approximate().quarters(text) + text.bytes().map(escape).sum::<u64>()
}

/// Returns whether the character is of Chinese, Japanese or Korean: from the radicals to the
/// compatibility forms, full-width forms, and the supplementary ideographs.
const fn is_ideographic(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}')
        || matches!(char, '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

impl fmt::Debug for TokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.0.is_none() { "approximate" } else { "of a function" };
        f.debug_tuple("TokenCounter").field(&name).finish()
    }
}
