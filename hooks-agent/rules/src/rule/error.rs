//! Mistakes in rules.

use std::fmt;

/// What is wrong with rules: everything, a line each.
///
/// ```
/// use hooks_agent::builtin::guard::{Rules, Then, ToolRule};
///
/// let rule = ToolRule::new("large", Then::Ask).when("arg.euros > 1000");
/// let error = Rules::builder().rule(rule).build().unwrap_err();
/// assert!(error.to_string().starts_with(
///     "rule[0].when: unknown name `arg`, did you mean `args`? expected one of `args`, "
/// ));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    mistakes: Vec<(String, String)>,
}

impl RulesError {
    /// Returns the place of each mistake, such as `rule[0].when`, and what is wrong there.
    pub fn mistakes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.mistakes.iter().map(|(place, message)| (place.as_str(), message.as_str()))
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (place, message)) in self.mistakes.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{place}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RulesError {}

/// Gathers what is wrong.
#[derive(Default)]
pub(crate) struct Mistakes {
    found: Vec<(String, String)>,
}

impl Mistakes {
    pub(crate) fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.found.push((place.into(), message.into()));
    }

    /// Returns the value of a result, or notes its error.
    pub(crate) fn take<T>(&mut self, place: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(place, message)).ok()
    }

    pub(crate) fn end(self) -> Result<(), RulesError> {
        if self.found.is_empty() { Ok(()) } else { Err(RulesError { mistakes: self.found }) }
    }
}
