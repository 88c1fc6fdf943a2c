//! What is known of tools: the rules about them, and their schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::agent::Agent;
use hooks_agent_core::tool::Tool;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::rule::{Rule, Stage};

/// More tools than this are not remembered.
const MOST: usize = 4096;

/// What is known of a tool.
pub(super) struct Known {
    tool: Option<Arc<dyn Tool>>,
    pub(super) server: String,
    /// The rules about it.
    pub(super) rules: Vec<Arc<Rule>>,
    /// `None` if the schema cannot be read.
    schema: Option<Validator>,
}

impl Known {
    fn new(tool: Option<&Arc<dyn Tool>>, name: &str, rules: &[Arc<Rule>]) -> Self {
        let server = tool.and_then(|tool| tool.server()).map(str::to_owned);
        let about = rules.iter().filter(|rule| rule.is_about(name, server.as_deref()));
        let rules: Vec<_> = about.cloned().collect();
        // Nothing reads arguments of a tool that no rule is about.
        let schema = match tool {
            Some(tool) if !rules.is_empty() => jsonschema::validator_for(tool.schema()).ok(),
            _ => jsonschema::validator_for(&Value::Bool(true)).ok(),
        };
        Self { tool: tool.cloned(), server: server.unwrap_or_default(), rules, schema }
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

/// What is known of the tools that were called.
#[derive(Default)]
pub(super) struct Tools(Mutex<HashMap<String, Arc<Known>>>);

impl Tools {
    /// Returns what is known of a tool of an agent.
    pub(super) fn of(&self, agent: &dyn Agent, name: &str, rules: &[Arc<Rule>]) -> Arc<Known> {
        let tool = agent.find_tool(name);
        if let Some(known) = self.find(name).filter(|known| known.is_of(tool)) {
            return known;
        }
        let known = Arc::new(Known::new(tool, name, rules));
        // A model may call what does not exist by any name.
        if tool.is_some() {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(name.to_owned(), known.clone());
        }
        known
    }

    /// Returns what is known of a tool that was called by this name, or what its name says.
    pub(super) fn by_name(&self, name: &str, rules: &[Arc<Rule>]) -> Arc<Known> {
        self.find(name).unwrap_or_else(|| Arc::new(Known::new(None, name, rules)))
    }

    fn find(&self, name: &str) -> Option<Arc<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tools")
    }
}
