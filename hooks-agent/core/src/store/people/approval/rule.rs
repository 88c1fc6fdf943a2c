//! The tool calls that a remembered approval lets run.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// The tool calls that a remembered [approval](crate::store::Approval) lets run: those with the arguments that
/// were shown, but for the ones that are named here.
///
/// An argument that was not shown is not allowed. It is good for 10 calls and 30 days, unless it says otherwise.
///
/// ```
/// use hooks_agent::store::ApprovalRule;
/// use serde_json::json;
///
/// let shown = json!({ "to": "Bakery", "euros": 150 });
/// let rule = ApprovalRule::exact().at_most("euros", 150).sum("euros", 600);
/// assert!(rule.covers(&shown, &json!({ "to": "Bakery", "euros": 20 })));
/// assert!(!rule.covers(&shown, &json!({ "to": "Bakery", "euros": 151 })));
/// assert!(!rule.covers(&shown, &json!({ "to": "Casino", "euros": 20 })));
/// assert_eq!(rule.to_string(), "euros at most 150; 10 calls, euros at most 600 in all");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, Allowed>,
    uses: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<Sum>,
    expires_after: Duration,
}

/// What an argument may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Allowed {
    /// A number from zero to this one.
    AtMost(Number),
    /// One of these values.
    OneOf(Vec<Value>),
    /// Any value.
    Anything,
}

/// How much the numbers of an argument may be in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sum {
    argument: String,
    most: Number,
}

/// How many calls a rule is good for, unless it says otherwise.
const USES: u64 = 10;

/// How long a rule is good, unless it says otherwise.
const EXPIRES_AFTER: Duration = Duration::from_hours(30 * 24);

/// How long a rule may be good.
pub(super) const LONGEST: Duration = Duration::from_hours(366 * 24);

/// From here on, a number and the one that is one larger may be the same as a float.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

impl ApprovalRule {
    /// Creates the rule that lets a tool run with exactly the arguments that were shown.
    #[must_use]
    pub fn exact() -> Self {
        let arguments = BTreeMap::new();
        Self { arguments, uses: USES, sum: None, expires_after: EXPIRES_AFTER }
    }

    /// Returns rules that a person may be offered for a call with these arguments: exactly these, and for each
    /// argument that is a number, up to this number. None lets more run than what is shown.
    ///
    /// ```
    /// use hooks_agent::store::ApprovalRule;
    /// use serde_json::json;
    ///
    /// let rules = ApprovalRule::suggestions(&json!({ "to": "Bakery", "euros": 150 }));
    /// let texts: Vec<_> = rules.iter().map(ApprovalRule::to_string).collect();
    /// assert_eq!(texts, ["exactly these arguments; 10 calls", "euros at most 150; 10 calls"]);
    /// ```
    #[must_use]
    pub fn suggestions(shown: &Value) -> Vec<Self> {
        let arguments = shown.as_object().into_iter().flatten();
        let ranges = arguments.filter_map(|(name, value)| {
            let most = value.as_number().filter(|most| is_within(most, most))?;
            Some(Self::exact().at_most(name.as_str(), most.clone()))
        });
        std::iter::once(Self::exact()).chain(ranges).collect()
    }

    /// Lets an argument be any number from zero to this one.
    #[must_use]
    pub fn at_most(self, argument: impl Into<String>, most: impl Into<Number>) -> Self {
        self.allow(argument, Allowed::AtMost(most.into()))
    }

    /// Lets an argument be one of these values.
    #[must_use]
    pub fn one_of(
        self,
        argument: impl Into<String>,
        values: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Self {
        self.allow(argument, Allowed::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// Says what an argument may be.
    #[must_use]
    pub fn allow(mut self, argument: impl Into<String>, allowed: Allowed) -> Self {
        self.arguments.insert(argument.into(), allowed);
        self
    }

    /// Sets how many calls it lets run.
    #[must_use]
    pub fn uses(mut self, most: u64) -> Self {
        self.uses = most;
        self
    }

    /// Sets how much the numbers of an argument may be in all, over the calls that it lets run. The call
    /// that was shown does not count.
    #[must_use]
    pub fn sum(mut self, argument: impl Into<String>, most: impl Into<Number>) -> Self {
        self.sum = Some(Sum { argument: argument.into(), most: most.into() });
        self
    }

    /// Sets how long it is good, 366 days at most.
    #[must_use]
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.expires_after = time;
        self
    }

    /// Returns the arguments that may differ from those that were shown.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &Allowed)> {
        self.arguments.iter().map(|(name, allowed)| (&**name, allowed))
    }

    /// Returns whether it allows no arguments but those that were shown.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Returns how many calls it lets run.
    #[must_use]
    pub fn most_uses(&self) -> u64 {
        self.uses
    }

    /// Returns how long it is good.
    #[must_use]
    pub fn lasts(&self) -> Duration {
        self.expires_after
    }

    /// Returns whether it lets a call run with these arguments, after one with the arguments `shown` was
    /// approved.
    #[must_use]
    pub fn covers(&self, shown: &Value, arguments: &Value) -> bool {
        let (Value::Object(shown), Value::Object(found)) = (shown, arguments) else {
            return self.is_exact() && shown == arguments;
        };
        shown.len() == found.len()
            && found.iter().all(|(name, value)| match self.arguments.get(name) {
                Some(allowed) => shown.contains_key(name) && allowed.allows(value),
                None => shown.get(name) == Some(value),
            })
            && self.amount(arguments).is_some()
    }

    /// Returns how much of the sum a call with these arguments takes, in millionths, rounded up; `None` if that
    /// is not known.
    pub(super) fn amount(&self, arguments: &Value) -> Option<u64> {
        let Some(sum) = &self.sum else { return Some(0) };
        millionths(arguments.get(&sum.argument)?.as_number()?)
    }

    /// Returns the most that the sum may be, in millionths.
    pub(super) fn most_sum(&self) -> Option<u64> {
        // One that cannot be read allows nothing.
        self.sum.as_ref().map(|sum| millionths(&sum.most).unwrap_or(0))
    }
}

impl Allowed {
    fn allows(&self, value: &Value) -> bool {
        match self {
            Self::AtMost(most) => value.as_number().is_some_and(|number| is_within(number, most)),
            Self::OneOf(values) => values.contains(value),
            Self::Anything => true,
        }
    }
}

/// Returns whether a number is from zero to another one.
fn is_within(number: &Number, most: &Number) -> bool {
    match (number.as_i128(), most.as_i128()) {
        (Some(number), Some(most)) => (0..=most).contains(&number),
        _ => {
            let exact = |it: &Number| it.as_f64().filter(|it| it.abs() < LARGEST_EXACT);
            exact(number)
                .zip(exact(most))
                .is_some_and(|(number, most)| (0.0..=most).contains(&number))
        }
    }
}

/// Returns a number that is not negative in millionths, rounded up.
fn millionths(number: &Number) -> Option<u64> {
    let value = number.as_f64().filter(|value| (0.0..LARGEST_EXACT / 1e6).contains(value))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from zero to 2^53"
    )]
    Some(rounded_up(value * 1e6) as u64)
}

/// Returns a number without its fraction, rounded up; what a float adds to a decimal does not count.
fn rounded_up(number: f64) -> f64 {
    let nearest = number.round();
    if (number - nearest).abs() <= nearest * 1e-12 { nearest } else { number.ceil() }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::OneOf(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Self::Anything => f.write_str("anything"),
        }
    }
}

/// Writes what may differ from what was shown, and how much of it.
impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            f.write_str("exactly these arguments")?;
        }
        for (index, (name, allowed)) in self.arguments().enumerate() {
            write!(f, "{}{name} {allowed}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, "; {} calls", self.uses)?;
        match &self.sum {
            Some(Sum { argument, most }) => write!(f, ", {argument} at most {most} in all"),
            None => Ok(()),
        }
    }
}
