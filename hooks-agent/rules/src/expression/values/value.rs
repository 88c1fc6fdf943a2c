//! The values of expressions.

use std::cmp::Ordering;
use std::rc::Rc;

use jiff::{SignedDuration, Zoned};
use serde_json::{Map as JsonMap, Value as Json};

use crate::expression::values::fault::{Fault, Steps};

/// A value of an expression. What comes from JSON is borrowed and converted when it is read.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'a>),
    List(List<'a>),
    Map(Map<'a>),
    Time(Rc<Zoned>),
    Span(SignedDuration),
}

#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Of(&'a str),
    Made(Rc<str>),
}

#[derive(Clone, Debug)]
pub(crate) enum List<'a> {
    Json(&'a [Json]),
    Made(Rc<[Value<'a>]>),
}

#[derive(Clone, Debug)]
pub(crate) enum Map<'a> {
    Json(&'a JsonMap<String, Json>),
    Made(Rc<[(Value<'a>, Value<'a>)]>),
}

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Of(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl<'a> List<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Json(list) => list.len(),
            Self::Made(list) => list.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Json(list) => list.get(index).map(Value::of_json),
            Self::Made(list) => list.get(index).cloned(),
        }
    }
}

impl<'a> Map<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Json(map) => map.len(),
            Self::Made(map) => map.len(),
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Json(map) => map.get(name).map(Value::of_json),
            Self::Made(map) => {
                let is_of = |key: &Value<'_>| matches!(key, Value::Text(it) if it.as_str() == name);
                map.iter().find(|(key, _)| is_of(key)).map(|(_, value)| value.clone())
            }
        }
    }

    pub(crate) fn get(&self, key: &Value<'_>) -> Option<Value<'a>> {
        match (self, key) {
            (_, Value::Text(name)) => self.field(name.as_str()),
            (Self::Json(_), _) => None,
            (Self::Made(map), _) => map
                .iter()
                .find(|(it, _)| it.compare(key) == Some(Ordering::Equal))
                .map(|(_, value)| value.clone()),
        }
    }

    /// Returns the keys.
    pub(crate) fn keys(&self) -> Box<dyn Iterator<Item = Value<'a>> + '_> {
        match self {
            Self::Json(map) => Box::new(map.keys().map(|key| Value::Text(Text::Of(key)))),
            Self::Made(map) => Box::new(map.iter().map(|(key, _)| key.clone())),
        }
    }
}

impl<'a> Value<'a> {
    pub(crate) fn of_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(it) => Self::Bool(*it),
            Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => Self::Int(number),
                (_, Some(number), _) => Self::Uint(number),
                (_, _, number) => Self::Double(number.unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::Text(Text::Of(text)),
            Json::Array(list) => Self::List(List::Json(list)),
            Json::Object(map) => Self::Map(Map::Json(map)),
        }
    }

    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Text::Of(text))
    }

    pub(crate) fn made(text: impl Into<Rc<str>>) -> Self {
        Self::Text(Text::Made(text.into()))
    }

    pub(crate) fn list(list: impl IntoIterator<Item = Self>) -> Self {
        Self::List(List::Made(list.into_iter().collect()))
    }

    /// Returns the type as an error shows it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Time(_) => "timestamp",
            Self::Span(_) => "duration",
        }
    }

    /// Returns the fault of a function that does not take a value of this type.
    pub(crate) fn not_taken_by(&self, function: &str) -> Fault {
        Fault::new(format!("`{function}` does not take {}", self.type_name()))
    }

    /// Returns whether two values are equal: numbers by their value, others of different types never.
    pub(crate) fn equals(&self, other: &Value<'_>, steps: &Steps) -> Result<bool, Fault> {
        match (self, other) {
            (Self::Null, Value::Null) => Ok(true),
            (Self::List(one), Value::List(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                for at in 0..one.len() {
                    if !are_equal(one.get(at), other.get(at), steps)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Map(one), Value::Map(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                for key in one.keys() {
                    if !are_equal(one.get(&key), other.get(&key), steps)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => {
                steps.read(self.size())?;
                Ok(self.compare(other) == Some(Ordering::Equal))
            }
        }
    }

    /// Compares two values that have an order: numbers of all types, strings, truth values, times and
    /// durations. Nothing compares with what is no number.
    pub(crate) fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
            (Self::Int(one), Value::Int(other)) => Some(one.cmp(other)),
            (Self::Uint(one), Value::Uint(other)) => Some(one.cmp(other)),
            (Self::Int(one), Value::Uint(other)) => Some(i128::from(*one).cmp(&(*other).into())),
            (Self::Uint(one), Value::Int(other)) => Some(i128::from(*one).cmp(&(*other).into())),
            (Self::Double(one), Value::Double(other)) => one.partial_cmp(other),
            (Self::Double(one), Value::Int(other)) => compare(*one, (*other).into()),
            (Self::Double(one), Value::Uint(other)) => compare(*one, (*other).into()),
            (Self::Int(one), Value::Double(other)) => {
                compare(*other, (*one).into()).map(Ordering::reverse)
            }
            (Self::Uint(one), Value::Double(other)) => {
                compare(*other, (*one).into()).map(Ordering::reverse)
            }
            (Self::Text(one), Value::Text(other)) => Some(one.as_str().cmp(other.as_str())),
            (Self::Time(one), Value::Time(other)) => Some(one.timestamp().cmp(&other.timestamp())),
            (Self::Span(one), Value::Span(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }

    /// Returns about how many bytes a scan of the value reads.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len(),
            Self::List(list) => list.len() * 32,
            Self::Map(map) => map.len() * 64,
            _ => 0,
        }
    }
}

fn are_equal(
    one: Option<Value<'_>>,
    other: Option<Value<'_>>,
    steps: &Steps,
) -> Result<bool, Fault> {
    steps.take(1)?;
    match (one, other) {
        (Some(one), Some(other)) => one.equals(&other, steps),
        _ => Ok(false),
    }
}

/// Compares a double with a whole number, exactly.
fn compare(double: f64, whole: i128) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Beyond these, no whole number of 64 bits is near.
    if double >= 2e19 {
        return Some(Ordering::Greater);
    }
    if double <= -2e19 {
        return Some(Ordering::Less);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within the bounds above")]
    let truncated = double.trunc() as i128;
    let fraction = double.fract().partial_cmp(&0.0)?;
    Some(truncated.cmp(&whole).then(fraction))
}
