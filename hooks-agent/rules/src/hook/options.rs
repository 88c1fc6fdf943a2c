//! Rules of policy files.

use std::collections::BTreeMap;

use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::message::Approvers;
use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::hook::rules::Rules;
use crate::options::{Glob, Host, Name, UserOptions, When, Zone};
use crate::rule::{Requires, Then, ToolRule};

inventory::submit!(RegisteredHook::of::<Options>());

/// Rules about tool calls: those of a policy file, as it has them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default)]
    rules: Settings,
    /// Variables, which conditions read as `vars.NAME`.
    #[serde(default)]
    vars: BTreeMap<String, Value>,
    /// The rules.
    #[serde(default)]
    rule: Vec<RuleOptions>,
    /// The name of the thread value in which is kept what ran. Default: `rules`.
    counter: Option<String>,
}

/// What holds for all rules.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// What holds for tool calls that no rule speaks of. Default: `allow`.
    default: Option<Then>,
    /// The time zone of `now`, such as `Europe/Berlin`. Default: UTC.
    zone: Option<Zone>,
    /// A file of further variables, in TOML, in the folder of the policy file.
    vars_file: Option<String>,
}

/// A rule about tool calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RuleOptions {
    /// A unique name.
    name: Name,
    /// Globs of tools, or of `server::tool`; after `!`, those left out. Default: all.
    tools: Option<Vec<Glob>>,
    /// A condition in CEL. Default: always.
    when: Option<When>,
    /// What is decided.
    then: Then,
    /// Why, for the model and for people.
    reason: Option<String>,
    /// The users whose calls it is about. Default: everybody.
    users: Option<UserOptions>,
    /// Globs of called agents, into their sub-agents. Default: all.
    agents: Option<Vec<Glob>>,
    /// Globs of agents, wherever they were called from. Default: all.
    acting: Option<Vec<Glob>>,
    /// Whether it is enforced. Default: `enforce`.
    mode: Option<Mode>,
    /// What must have run before.
    requires: Option<RequiresOptions>,
    /// The arguments that are URLs, and their hosts.
    hosts: Option<HostOptions>,
    /// The arguments whose values the reason has. Default: none.
    #[serde(default)]
    show: Vec<String>,
    /// Who may answer what it asks. Default: everybody.
    approvers: Option<ApproverOptions>,
    /// Who may remember an approval for a user, for everybody or for other arguments: users with one of these
    /// roles. Default: nobody.
    remembered_by: Option<ApproverOptions>,
    /// How long a question waits before the call is refused. Default: for ever.
    expires_after: Option<OptionDuration>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Enforce,
    Shadow,
}

/// What must have run before.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RequiresOptions {
    /// The tool.
    tool: Name,
    /// How it must have ended. Default: `ok`.
    outcome: Option<OutcomeOption>,
    /// A glob of tools that must not have run since.
    since: Option<Glob>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeOption {
    Ok,
    Error,
    Any,
}

/// The arguments that are URLs, and the hosts that they may have.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HostOptions {
    /// The arguments, such as `url` or `target.url`.
    args: Vec<String>,
    /// Hosts such as `api.example`, or `*.corp.example` for all below a domain.
    allow: Vec<Host>,
}

/// Who may answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApproverOptions {
    /// The roles of which an approver has one. Default: everybody who is authenticated.
    roles: Option<Roles>,
    /// Whether the user who caused the question may not answer it. Default: false.
    #[serde(default)]
    not_self: bool,
}

/// At least one role.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Roles(Vec<Name>);

impl<'de> Deserialize<'de> for Roles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let roles = Vec::deserialize(deserializer)?;
        if roles.is_empty() {
            return Err(D::Error::custom("expected at least one; leave it out for everybody"));
        }
        Ok(Self(roles))
    }
}

impl HookOptions for Options {
    const USE: &'static str = "rules";

    fn counter(&self) -> Option<String> {
        Some(self.counter.clone().unwrap_or_else(|| Rules::COUNTER.to_owned()))
    }

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        if self.rules.vars_file.is_some() {
            return Err(OptionError::at("rules.vars_file", "a policy file alone has it"));
        }
        let mut builder = Rules::builder();
        if let Some(default) = self.rules.default {
            builder = builder.otherwise(default);
        }
        if let Some(zone) = self.rules.zone {
            builder = builder.zone(zone.0);
        }
        if let Some(counter) = self.counter {
            builder = builder.counter(counter);
        }
        builder = self.vars.into_iter().fold(builder, |it, (name, value)| it.var(name, value));
        builder = self.rule.into_iter().fold(builder, |it, rule| it.rule(rule.into()));
        match builder.build() {
            Ok(rules) => Ok(Box::new(rules)),
            Err(error) => Err(OptionError::many(error.mistakes())),
        }
    }
}

impl From<RuleOptions> for ToolRule {
    fn from(options: RuleOptions) -> Self {
        let mut rule = Self::new(options.name, options.then)
            .show(options.show)
            .shadow(options.mode == Some(Mode::Shadow));
        if let Some(tools) = options.tools {
            rule = rule.tools(tools);
        }
        if let Some(agents) = options.agents {
            rule = rule.agents(agents);
        }
        if let Some(agents) = options.acting {
            rule = rule.acting(agents);
        }
        if let Some(when) = options.when {
            rule = rule.when(when);
        }
        if let Some(reason) = options.reason {
            rule = rule.reason(reason);
        }
        if let Some(users) = options.users {
            let (roles, not_roles) = users.into_roles();
            if let Some(roles) = roles {
                rule = rule.roles(roles);
            }
            if let Some(roles) = not_roles {
                rule = rule.not_roles(roles);
            }
        }
        if let Some(requires) = options.requires {
            rule = rule.requires(requires.into());
        }
        if let Some(hosts) = options.hosts {
            rule = rule.hosts(hosts.args, hosts.allow);
        }
        if let Some(approvers) = options.approvers {
            rule = rule.approvers(approvers.into());
        }
        if let Some(who) = options.remembered_by {
            rule = rule.remembered_by(who.into());
        }
        match options.expires_after {
            Some(time) => rule.expires_after(time.0),
            None => rule,
        }
    }
}

impl From<RequiresOptions> for Requires {
    fn from(options: RequiresOptions) -> Self {
        let requires = Self::new(options.tool);
        let requires = match options.outcome {
            Some(OutcomeOption::Error) => requires.failed(),
            Some(OutcomeOption::Any) => requires.any_outcome(),
            Some(OutcomeOption::Ok) | None => requires,
        };
        match options.since {
            Some(tools) => requires.since(tools.0),
            None => requires,
        }
    }
}

impl From<ApproverOptions> for Approvers {
    fn from(options: ApproverOptions) -> Self {
        let roles = options.roles.into_iter().flat_map(|roles| roles.0).map(String::from);
        let approvers = Self::roles(roles);
        if options.not_self { approvers.not_self() } else { approvers }
    }
}
