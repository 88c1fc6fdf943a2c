//! The part of a typed answer that has arrived.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jiter::{JsonValue, PartialMode};
use serde_json::{Map, Value};

use crate::answer::structured_output::schema::answer_schema::AnswerSchema;
use crate::answer::structured_output::schema::extract::beginning;
use crate::answer::structured_output::typed::text::TextSoFar;
use crate::answer::structured_output::typed::value::Typed;

/// What has arrived of a typed answer, as an item of a
/// [`TypedStream`](crate::answer::TypedStream).
///
/// Within one [`attempt`](Self::attempt), a partial value only grows: fields and items are added, texts
/// become longer, and what is complete stays. Numbers, `true`, `false` and `null` appear when they are
/// complete.
#[derive(Clone)]
pub struct Partial<T> {
    text: TextSoFar,
    schema: Arc<AnswerSchema>,
    /// Read from the text when it is first asked for.
    value: OnceLock<Value>,
    attempt: u32,
    typed: Option<Box<Typed<T>>>,
}

impl<T> Partial<T> {
    pub(super) fn new(text: TextSoFar, schema: &Arc<AnswerSchema>, attempt: u32) -> Self {
        let schema = schema.clone();
        Self { text, schema, value: OnceLock::new(), attempt, typed: None }
    }

    /// Makes it the last one.
    pub(super) fn with_typed(self, value: Value, typed: Typed<T>) -> Self {
        Self { value: value.into(), typed: Some(Box::new(typed)), ..self }
    }

    /// Returns the JSON so far. The first time, it is parsed from the start of the answer.
    #[must_use]
    pub fn value(&self) -> &Value {
        let read = |text: &str| {
            let begin = beginning(text, self.schema.opening())?;
            read_partial(text, begin, &self.schema).into_value()
        };
        self.value.get_or_init(|| self.text.read(read).unwrap_or_default())
    }

    /// Returns what has arrived at a JSON pointer, such as `/items/0/price`.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        self.value().pointer(pointer)
    }

    /// Returns which answer of the model this is, from 1: one that goes back to the model, or that
    /// belongs to a round with tools, is followed by another.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the value, if this is the last item: the answer is complete and fits.
    #[must_use]
    pub fn complete(self) -> Option<T> {
        self.into_typed().map(Typed::into_value)
    }

    /// Returns the value with the reply, if this is the last item.
    #[must_use]
    pub fn into_typed(self) -> Option<Typed<T>> {
        self.typed.map(|typed| *typed)
    }

    /// Returns whether this is the last item.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.typed.is_some()
    }
}

impl<T> fmt::Debug for Partial<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial")
            .field("value", self.value())
            .field("attempt", &self.attempt)
            .field("is_complete", &self.is_complete())
            .finish_non_exhaustive()
    }
}

/// What has arrived of an answer.
pub(super) enum Arrived {
    /// Nothing of a value.
    Nothing,
    Value(Value),
    /// What no value becomes, such as one that is nested too deeply.
    Unreadable,
}

impl Arrived {
    pub(super) fn into_value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing | Self::Unreadable => None,
        }
    }
}

/// Reads an answer that is still arriving and begins at this place.
pub(super) fn read_partial(text: &str, begin: usize, schema: &AnswerSchema) -> Arrived {
    let (json, mode) = (settled(&text[begin..]), PartialMode::TrailingStrings);
    let Ok(value) = JsonValue::parse_with_config(json.as_bytes(), false, mode) else {
        return Arrived::Unreadable;
    };
    let value = to_value(value);
    if !schema.sent.is_wrapped {
        return Arrived::Value(value);
    }
    match schema.unwrapped(&value) {
        Some(inner) => Arrived::Value(inner.clone()),
        // The object that is made for the value has just begun.
        None if value.as_object().is_some_and(Map::is_empty) => Arrived::Nothing,
        None => Arrived::Value(value),
    }
}

/// Returns the JSON at the start of a text as far as it stays: to the end of the value, or without a
/// number or a word at the end, which may go on: `12` may become `123`.
fn settled(text: &str) -> &str {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut open_scalar = None;
    for (at, byte) in text.bytes().enumerate() {
        if is_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
            continue;
        }
        let is_scalar = byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        open_scalar = open_scalar.or(Some(at)).filter(|_| is_scalar);
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &text[..=at];
                }
            }
            _ => {}
        }
    }
    open_scalar.map_or(text, |at| &text[..at])
}

fn to_value(value: JsonValue<'_>) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(bool) => bool.into(),
        JsonValue::Int(number) => number.into(),
        // Beyond the range of `i64`, and beyond that of `u64` a float, as `serde_json` reads it.
        JsonValue::BigInt(number) => number.to_string().parse().unwrap_or(Value::Null),
        JsonValue::Float(number) => number.into(),
        JsonValue::Str(text) => text.into_owned().into(),
        JsonValue::Array(items) => items.iter().cloned().map(to_value).collect(),
        JsonValue::Object(fields) => {
            let fields = fields.iter().cloned();
            Value::Object(
                fields.map(|(name, value)| (name.into_owned(), to_value(value))).collect(),
            )
        }
    }
}
