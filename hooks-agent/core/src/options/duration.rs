//! Times in policy files.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// A time in a policy file: a whole number with `ms`, `s`, `m` or `h`, such as `"10s"`. For the
/// options of hooks.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::policy::OptionDuration;
///
/// let OptionDuration(time) = serde_json::from_str(r#""2m""#)?;
/// assert_eq!(time, Duration::from_secs(120));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OptionDuration(pub Duration);

/// What a text that is no time is answered with.
pub const EXPECTED: &str =
    "expected a time such as `\"10s\"`: a whole number with `ms`, `s`, `m` or `h`";

/// Reads a time.
pub fn duration_of(text: &str) -> Option<Duration> {
    let digits = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

/// Returns what a whole number in place of a time is answered with.
pub fn bare_number(number: impl fmt::Display) -> String {
    format!("{EXPECTED}, found a whole number; write `\"{number}s\"` for seconds")
}

impl<'de> Deserialize<'de> for OptionDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Time).map(Self)
    }
}

/// Takes a text that is a time.
struct Time;

impl de::Visitor<'_> for Time {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as `\"10s\"`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        duration_of(text).ok_or_else(|| E::custom(EXPECTED))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Duration, E> {
        Err(E::custom(bare_number(number)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Duration, E> {
        Err(E::custom(bare_number(number)))
    }
}

impl JsonSchema for OptionDuration {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" })
    }
}
