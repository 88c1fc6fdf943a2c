//! Builds rules.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::expression::zone_of;
use crate::hook::rules::{Inner, Rules};
use crate::hook::tools::Tools;
use crate::rule::{Mistakes, Rule, RulesError, Then, ToolRule, unknown_zone};

/// Builds [`Rules`].
#[derive(Clone, Debug)]
#[must_use = "it makes rules by `build`"]
pub struct RulesBuilder {
    default: Then,
    zone: Option<String>,
    vars: Map<String, Value>,
    rules: Vec<ToolRule>,
    counter: String,
}

impl RulesBuilder {
    pub(super) fn new() -> Self {
        let counter = Rules::COUNTER.to_owned();
        Self { default: Then::Allow, zone: None, vars: Map::new(), rules: Vec::new(), counter }
    }

    /// Adds a rule. Every rule that matches counts, so their order does not matter.
    pub fn rule(mut self, rule: ToolRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets what holds for tool calls that no rule speaks of. Default: [`Then::Allow`].
    pub fn otherwise(mut self, then: Then) -> Self {
        self.default = then;
        self
    }

    /// Sets the time zone of `now`, such as `Europe/Berlin` or `+02:00`. Default: UTC.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// Adds a variable, which conditions read as `vars.NAME`. A later value of a name replaces the earlier one.
    pub fn var(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Sets the name of the thread value in which is kept what ran, if a rule asks that. Two hooks of one agent need
    /// two. Default: `rules`.
    pub fn counter(mut self, name: impl Into<String>) -> Self {
        self.counter = name.into();
        self
    }

    /// Checks the rules and compiles their conditions.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn build(self) -> Result<Rules, RulesError> {
        let Self { default, zone, vars, rules, counter } = self;
        let mut mistakes = Mistakes::default();
        let zone = zone.map_or(Some(TimeZone::UTC), |name| {
            let zone = zone_of(&name).ok_or_else(|| unknown_zone(&name));
            mistakes.take("zone", zone)
        });
        let vars = Arc::new(vars);
        let mut checked: Vec<Rule> = Vec::with_capacity(rules.len());
        let mut names = std::collections::HashMap::new();
        for (index, rule) in rules.into_iter().enumerate() {
            let place = format!("rule[{index}]");
            if let Some(first) = names.insert(rule.name.clone(), index) {
                let message = format!("the name is taken by rule[{first}]; expected another one");
                mistakes.add(format!("{place}.name"), message);
            }
            checked.extend(Rule::new(rule, &place, &vars, &mut mistakes));
        }
        mistakes.end()?;
        let reads_past = checked.iter().any(|rule| rule.reads_past);
        let rules = checked.into_iter().map(Arc::new).collect();
        let zone = zone.unwrap_or(TimeZone::UTC);
        let inner = Inner { rules, default, zone, counter, reads_past, tools: Tools::default() };
        Ok(Rules { inner: Arc::new(inner) })
    }
}
