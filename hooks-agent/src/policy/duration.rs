//! Times in policy files.

use std::borrow::Cow;
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
pub(super) const EXPECTED: &str =
    "expected a time such as `\"10s\"`: a whole number with `ms`, `s`, `m` or `h`";

/// Reads a time.
pub(super) fn duration_of(text: &str) -> Option<Duration> {
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

impl<'de> Deserialize<'de> for OptionDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        duration_of(&text).map(Self).ok_or_else(|| de::Error::custom(EXPECTED))
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
