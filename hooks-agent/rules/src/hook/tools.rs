//! Remembers the rules about each tool, and its schema.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent::Agent;
use hooks_agent_core::tool::Tool;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::hook::schema::is_bounded;
use crate::rule::{Rule, Stage, server_in};

/// More tools than this are not remembered.
const MOST: usize = 4096;

/// What is known of a tool.
pub(super) struct Known {
    tool: Option<Arc<dyn Tool>>,
    pub(super) server: Option<String>,
    /// The rules about it.
    pub(super) rules: Vec<Arc<Rule>>,
    /// Whether one of them is not in shadow.
    pub(super) is_enforced: bool,
    /// `None` if the schema cannot be read.
    schema: Option<Validator>,
}

impl Known {
    fn new(tool: Option<&Arc<dyn Tool>>, name: &str, rules: &[Arc<Rule>]) -> Self {
        let server = match tool {
            Some(tool) => tool.server(),
            None => server_in(name).map(|(server, _)| server),
        };
        let rules: Vec<_> =
            rules.iter().filter(|rule| rule.is_about(tool, name)).cloned().collect();
        Self::of(tool, server, rules)
    }

    /// Creates a tool of which nothing but the name is known, as which a hook has another tool run.
    fn renamed(name: &str, rules: &[Arc<Rule>]) -> Self {
        let may_be = rules.iter().filter(|rule| rule.may_be_about(name));
        Self::of(None, None, may_be.cloned().collect())
    }

    fn of(tool: Option<&Arc<dyn Tool>>, server: Option<&str>, rules: Vec<Arc<Rule>>) -> Self {
        let is_enforced = rules.iter().any(|rule| rule.shadow.is_none());
        // Nothing reads arguments of a tool that no rule is about.
        let schema = match tool {
            Some(tool) if is_enforced => validator(&**tool),
            _ => jsonschema::validator_for(&Value::Bool(true)).ok(),
        };
        Self { tool: tool.cloned(), server: server.map(str::to_owned), rules, is_enforced, schema }
    }

    fn is_of(&self, tool: Option<&Arc<dyn Tool>>) -> bool {
        match (&self.tool, tool) {
            (Some(own), Some(tool)) => Arc::ptr_eq(own, tool),
            (None, None) => true,
            _ => false,
        }
    }

    /// Checks arguments against the schema of the tool. The reason has no values. Before the tool starts, hooks may
    /// still add some, so that none is missing.
    pub(super) fn check(&self, args: &Value, stage: Stage) -> Result<(), String> {
        let schema = self.schema.as_ref().ok_or("the schema of the tool cannot be read")?;
        let mut errors = schema.iter_errors(args);
        let may_come = |error: &ValidationError<'_>| {
            stage != Stage::Around && matches!(error.kind(), ValidationErrorKind::Required { .. })
        };
        let Some(error) = errors.find(|error| !may_come(error)) else { return Ok(()) };
        let path = error.instance_path().as_str();
        let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
        Err(format!("the arguments do not fit the schema of the tool{place}: {}", error.masked()))
    }
}

/// Returns what checks arguments, unless the schema cannot be read, or others wrote it so that a check may take for ever.
fn validator(tool: &dyn Tool) -> Option<Validator> {
    let is_fit = !tool.is_foreign() || is_bounded(tool.schema());
    is_fit.then(|| jsonschema::validator_for(tool.schema()).ok()).flatten()
}

/// What is known of the tools that were called, by name and agent.
#[derive(Default)]
pub(super) struct Tools(Mutex<HashMap<String, Vec<OfAgent>>>);

type OfAgent = (Arc<str>, Arc<Known>);

impl Tools {
    /// Returns what is known of a tool of an agent.
    pub(super) fn of(&self, agent: &dyn Agent, name: &str, rules: &[Arc<Rule>]) -> Arc<Known> {
        let tool = agent.find_tool(name);
        if let Some(known) = self.find(agent.id(), name).filter(|known| known.is_of(tool)) {
            return known;
        }
        let known = Arc::new(Known::new(tool, name, rules));
        // A model may call what does not exist by any name.
        if tool.is_some() {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.values().map(Vec::len).sum::<usize>() >= MOST {
                all.clear();
            }
            let agents = all.entry(name.to_owned()).or_default();
            agents.retain(|(id, _)| **id != *agent.id());
            agents.push((agent.id().into(), known.clone()));
        }
        known
    }

    /// Returns what is known of a tool that the agent of this id has called, or what its name says.
    pub(super) fn by_name(&self, agent: &str, name: &str, rules: &[Arc<Rule>]) -> Arc<Known> {
        self.find(agent, name).unwrap_or_else(|| Arc::new(Known::renamed(name, rules)))
    }

    fn find(&self, agent: &str, name: &str) -> Option<Arc<Known>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = all.get(name)?.iter().find(|(id, _)| **id == *agent)?;
        Some(known.clone())
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tools")
    }
}
