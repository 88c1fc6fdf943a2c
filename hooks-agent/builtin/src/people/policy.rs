//! Options of [`HumanInTheLoop`] in policy files.

use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::people::human_in_the_loop::{Gate, HumanInTheLoop};
use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::message::{Approvers, DecisionKind};

inventory::submit!(RegisteredHook::of::<Options>());

/// Asks people before tools run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tools about whose calls people are asked.
    #[serde(default)]
    tools: Vec<String>,
    /// Whether people are asked about all other tools too. Default: false.
    #[serde(default)]
    every_tool: bool,
    /// What people may decide. Default: everything.
    allow: Option<Vec<Kind>>,
    /// What people read in place of the default text.
    describe: Option<String>,
    /// How long a question waits before the call is refused. Default: for ever.
    expires_after: Option<OptionDuration>,
    /// Who may decide. Default: everybody.
    approvers: Option<ApproverOptions>,
    /// Who may remember an approval for a user, for everybody or for other arguments: users with one of these
    /// roles. Default: nobody.
    remembered_by: Option<ApproverOptions>,
}

/// Who may decide.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApproverOptions {
    /// The roles of which an approver has one. Default: everybody who is authenticated.
    #[serde(default)]
    roles: Vec<String>,
    /// Whether the user who caused the question may not decide it. Default: false.
    #[serde(default)]
    not_self: bool,
}

impl From<ApproverOptions> for Approvers {
    fn from(options: ApproverOptions) -> Self {
        let approvers = Self::roles(options.roles);
        if options.not_self { approvers.not_self() } else { approvers }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Approve,
    Edit,
    Reject,
    Respond,
}

impl HookOptions for Options {
    const USE: &'static str = "human_in_the_loop";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        if self.tools.is_empty() && !self.every_tool {
            return Err(OptionError::at(
                "tools",
                "expected at least one tool, or `every_tool = true`",
            ));
        }
        let gate = Gate::new();
        let gate = match self.allow {
            Some(kinds) => {
                let kinds = kinds.into_iter().map(DecisionKind::from);
                gate.allow(kinds).map_err(|error| OptionError::at("allow", error))?
            }
            None => gate,
        };
        let gate = set(gate, self.describe, Gate::describe);
        let gate = set(gate, self.expires_after, |gate, time| gate.expires_after(time.0));
        let gate = set(gate, self.approvers, |gate, it| gate.approvers(it.into()));
        if self.remembered_by.as_ref().is_some_and(|it| it.roles.is_empty()) {
            return Err(OptionError::at("remembered_by", "expected roles, such as [\"lead\"]"));
        }
        let gate = set(gate, self.remembered_by, |gate, it| gate.remembered_by(it.into()));
        let tools = self.tools.into_iter();
        let hook = tools.fold(HumanInTheLoop::new(), |it, tool| it.ask_with(tool, gate.clone()));
        Ok(Box::new(if self.every_tool { hook.ask_every_tool(gate) } else { hook }))
    }
}

impl From<Kind> for DecisionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Approve => Self::Approve,
            Kind::Edit => Self::Edit,
            Kind::Reject => Self::Reject,
            Kind::Respond => Self::Respond,
        }
    }
}
