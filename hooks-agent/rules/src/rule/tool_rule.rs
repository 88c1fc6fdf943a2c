//! A rule as a program writes it.

use std::time::Duration;

use hooks_agent_core::message::Approvers;

use crate::rule::requires::Requires;
use crate::rule::then::Then;
use crate::rule::whose::Named;

/// A rule about tool calls, for [`Rules`](crate::Rules). All that it names must be so for it to match: the tool, the
/// users, the agents, what is required, the hosts, and the condition.
///
/// Mistakes are errors of [`RulesBuilder::build`](crate::RulesBuilder::build).
///
/// ```
/// use hooks_agent::builtin::guard::{Then, ToolRule};
/// use hooks_agent::message::Approvers;
///
/// let large = ToolRule::new("large payments", Then::Ask)
///     .tools(["pay", "transfer_*"])
///     .when("args.euros > 1000 && !(args.to in vars.payees)")
///     .reason("payments above 1,000 euros need a person")
///     .approvers(Approvers::roles(["manager"]).not_self());
/// # let _ = large;
/// ```
#[derive(Clone, Debug)]
#[must_use = "`Rules` has it by `rule`"]
pub struct ToolRule {
    pub(crate) name: String,
    pub(super) then: Then,
    pub(super) tools: Option<Vec<String>>,
    pub(super) when: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) named: Named,
    pub(super) requires: Vec<Requires>,
    pub(super) hosts: Option<(Vec<String>, Vec<String>)>,
    pub(super) show: Vec<String>,
    pub(super) approvers: Option<Approvers>,
    pub(super) remembered_by: Option<Approvers>,
    pub(super) expires_after: Option<Duration>,
    pub(super) is_shadow: bool,
}

pub(crate) fn texts(list: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    list.into_iter().map(Into::into).collect()
}

impl ToolRule {
    /// Creates a rule that matches every tool call.
    pub fn new(name: impl Into<String>, then: Then) -> Self {
        Self {
            name: name.into(),
            then,
            tools: None,
            when: None,
            reason: None,
            named: Named::default(),
            requires: Vec::new(),
            hosts: None,
            show: Vec::new(),
            approvers: None,
            remembered_by: None,
            expires_after: None,
            is_shadow: false,
        }
    }

    /// Matches calls of these tools alone: globs of names, or with `::` of `server::tool` for tools of MCP servers. Those
    /// after `!` are left out.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.get_or_insert_default().extend(texts(tools));
        self
    }

    /// Matches if this condition holds, in CEL.
    pub fn when(mut self, condition: impl Into<String>) -> Self {
        self.when = Some(condition.into());
        self
    }

    /// Sets why, for the model and for people.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Matches calls for users with one of these roles alone. A rule that restricts by them is dodged by a call
    /// without a user: see [`not_roles`](Self::not_roles).
    pub fn roles(mut self, roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.roles.get_or_insert_default().extend(texts(roles));
        self
    }

    /// Matches calls for users with none of these roles, and calls without a user.
    pub fn not_roles(mut self, roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.not_roles.get_or_insert_default().extend(texts(roles));
        self
    }

    /// Matches in agents of these names, and in their sub-agents: globs, those after `!` are left out.
    pub fn agents(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.agents.get_or_insert_default().extend(texts(agents));
        self
    }

    /// Matches in agents of these names, wherever they were called from.
    pub fn acting(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.acting.get_or_insert_default().extend(texts(agents));
        self
    }

    /// Matches if this has not run before.
    pub fn requires(mut self, requires: Requires) -> Self {
        self.requires.push(requires);
        self
    }

    /// Matches if one of these arguments is no URL, or one of another host: `api.example`, or all below a domain,
    /// `*.corp.example`. An argument that is not there is none; a list of URLs is each of them. Redirects that a tool
    /// follows are not seen.
    pub fn hosts(
        mut self,
        args: impl IntoIterator<Item = impl Into<String>>,
        allow: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.hosts = Some((texts(args), texts(allow)));
        self
    }

    /// Adds the values of these arguments, such as `to`, to the reason. Without, the reason has no values.
    pub fn show(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.show.extend(texts(args));
        self
    }

    /// Lets these users alone answer what the rule asks.
    pub fn approvers(mut self, approvers: Approvers) -> Self {
        self.approvers = Some(approvers);
        self
    }

    /// Lets users with one of these roles [remember](hooks_agent_core::store::Verdict::remember) an approval for a
    /// user, for everybody or for other arguments. Without it, it is remembered for the same arguments on the same
    /// thread at most.
    pub fn remembered_by(mut self, who: Approvers) -> Self {
        self.remembered_by = Some(who);
        self
    }

    /// Refuses a tool call that nobody decides in this time.
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Tries the rule without enforcing it: the log says what it would have decided.
    pub fn shadow(mut self, is_shadow: bool) -> Self {
        self.is_shadow = is_shadow;
        self
    }
}
