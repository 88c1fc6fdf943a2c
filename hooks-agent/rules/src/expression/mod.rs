//! Conditions in a subset of CEL, the Common Expression Language: parsed with places, checked before they run,
//! and evaluated within bounds of time and memory.
//!
//! Left out are bytes, messages, `type`, optional values and macros beside the loops. Patterns are written out.

mod check;
mod eval;
mod functions;
mod syntax;
mod values;

use std::fmt;

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::expression::check::names::Uses;
use crate::expression::check::node::Node;
use crate::expression::syntax::mistake::Mistake;
use crate::expression::syntax::tree::Syntax;
use crate::past::Past;

pub(crate) use check::node::Vars;
pub(crate) use eval::facts::{Facts, Now};
pub(crate) use functions::host::{HostPattern, host_of, plain_host_of};
pub(crate) use functions::money::amount_of;
pub(crate) use functions::times::zone_of;
pub(crate) use values::fault::Fault;

/// A condition whose syntax is right.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    text: String,
    syntax: Syntax,
}

impl Parsed {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        match syntax::parser::parse(text) {
            Ok(syntax) => Ok(Self { text: text.to_owned(), syntax }),
            Err(mistake) => Err(mistake.in_text(text).to_string()),
        }
    }

    /// Checks names and types as far as they are known without the variables.
    #[cfg(feature = "policy")]
    pub(crate) fn check_without_vars(&self) -> Result<(), String> {
        check::names::check(&self.syntax, None).map(drop).map_err(|mistakes| self.shown(&mistakes))
    }

    /// Checks names and types.
    pub(crate) fn check(&self, vars: &Vars) -> Result<Condition, String> {
        let checked = check::names::check(&self.syntax, Some(vars));
        let (node, uses) = checked.map_err(|mistakes| self.shown(&mistakes))?;
        Ok(Condition { text: self.text.clone(), node, uses })
    }

    fn shown(&self, mistakes: &[Mistake]) -> String {
        let shown: Vec<_> = mistakes.iter().map(|it| it.in_text(&self.text).to_string()).collect();
        shown.join("; ")
    }
}

/// A condition of a rule, checked. Rules make theirs themselves; programs test one by it.
///
/// ```
/// use hooks_agent::builtin::guard::Condition;
/// use serde_json::json;
///
/// let vars = json!({ "payees": ["Bakery"] });
/// let condition = Condition::new("args.euros > 1000 && !(args.to in vars.payees)", &vars)?;
/// assert_eq!(condition.holds_for(&json!({ "to": "Eve", "euros": 1200 })), Ok(true));
/// assert_eq!(condition.holds_for(&json!({ "to": "Bakery", "euros": 1200 })), Ok(false));
/// // Small payments do not need a payee.
/// assert_eq!(condition.holds_for(&json!({ "euros": 5 })), Ok(false));
/// assert_eq!(condition.holds_for(&json!({ "euros": 1200 })), Err("there is no `to`".to_owned()));
/// # Ok::<(), String>(())
/// ```
pub struct Condition {
    text: String,
    node: Node,
    /// What it asks beside the tool call.
    pub(crate) uses: Uses,
}

impl Condition {
    /// Checks a condition, with the variables that it reads as `vars`.
    ///
    /// # Errors
    /// Everything that is wrong with it, with the places.
    pub fn new(text: &str, vars: &Value) -> Result<Self, String> {
        let vars: Vars = vars.as_object().cloned().unwrap_or_default().into();
        Parsed::new(text)?.check(&vars)
    }

    /// Returns whether it holds for a call of a tool with these arguments: of an agent and a tool without names,
    /// without a user, in a thread in which nothing ran.
    ///
    /// # Errors
    /// Why that cannot be decided. A rule that restricts holds then.
    pub fn holds_for(&self, args: &Value) -> Result<bool, String> {
        let (past, zone) = (Past::default(), TimeZone::UTC);
        let facts = Facts {
            args,
            tool: "",
            server: "",
            agents: &[""],
            user: None,
            now: Now::new(&zone),
            thread: "",
            past: Some(&past),
            round: Some(1),
            origins: &|_| Err("`origin` needs a call of an agent".to_owned()),
        };
        self.holds(&facts).map_err(|fault| fault.message().to_owned())
    }

    /// Returns whether it holds.
    ///
    /// # Errors
    /// Why that is not known.
    pub(crate) fn holds(&self, facts: &Facts<'_>) -> Result<bool, Fault> {
        eval::run::holds(&self.node, facts)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
