//! Conditions: what they mean, what is wrong with one, and what one may cost.

mod hostile;
mod meaning;
mod mistakes;
mod oracle;

use hooks_agent_rules::Condition;
use serde_json::Value;

/// Returns what a condition is for arguments.
fn holds(text: &str, args: &Value) -> Result<bool, String> {
    condition(text).holds_for(args)
}

fn condition(text: &str) -> Condition {
    Condition::new(text, &Value::Null).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// Returns what is wrong with a condition.
fn mistake(text: &str) -> String {
    Condition::new(text, &Value::Null).map(drop).expect_err(text)
}
