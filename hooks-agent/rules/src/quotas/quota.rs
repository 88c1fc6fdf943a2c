//! A quota as a program writes it.

use std::time::Duration;

use crate::rule::{Named, texts};

/// How much of something may be used in a window of time, for [`Quotas`](crate::Quotas).
///
/// Mistakes are errors of [`QuotasBuilder::build`](crate::QuotasBuilder::build).
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::builtin::limit::{Per, Quota, Within};
///
/// let mails = Quota::tool_calls("mails", 20).tools(["mail_*"]).per(Per::User).within(Within::Day);
/// let burst = Quota::calls("burst", 5).per(Per::User).within(Duration::from_secs(60));
/// # let _ = (mails, burst);
/// ```
#[derive(Clone, Debug)]
#[must_use = "`Quotas` has it by `quota`"]
pub struct Quota {
    pub(super) name: String,
    pub(super) over: Over,
    /// How much; amounts of arguments and money are in millionths.
    pub(super) most: Most,
    pub(super) per: Per,
    pub(super) within: Option<Within>,
    pub(super) zone: Option<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) named: Named,
    pub(super) reason: Option<String>,
}

/// How much may be used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Most {
    Whole(u64),
    /// An amount as arguments have it.
    Amount(f64),
}

/// What a quota counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Calls,
    ToolCalls,
    /// The sum of this argument of tool calls.
    Argument(String),
    Tokens,
    Money,
}

/// Who has a quota of an own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Per {
    /// Nobody: all share it.
    #[default]
    All,
    /// Each [user](hooks_agent_core::call::User). A call without a user is refused.
    User,
    /// Each team: the attribute `team` of the user, a text. A call without one is refused.
    Team,
    /// Each agent, by its name: the one that calls the tool or the model.
    Agent,
    /// Each thread of the agent with the hook.
    Thread,
    /// Each tool, by its name. For tool calls and their amounts.
    Tool,
}

/// The window of time in which a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Within {
    /// The time of this length that ends now.
    Time(Duration),
    /// The current day, in the time zone of the quota.
    Day,
    /// The current month, in the time zone of the quota.
    Month,
}

impl From<Duration> for Within {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

/// What happens to a call, or to its next model call, when its quota is used up. A tool call is refused, and the
/// model reads why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuotaExit {
    /// The call ends with a text that names the quota, for the reason
    /// [`LimitReached`](hooks_agent_core::message::GenerateReason::LimitReached).
    #[default]
    End,
    /// The call fails with a [`QuotaExceeded`](hooks_agent_core::store::QuotaExceeded).
    Error,
}

impl Quota {
    /// Creates a quota of calls of the agent with the hook. A call that goes on with the one before it is no new
    /// one.
    pub fn calls(name: impl Into<String>, most: u64) -> Self {
        Self::new(name, Over::Calls, Most::Whole(most))
    }

    /// Creates a quota of tool calls: of those that start. One that starts again is no new one.
    pub fn tool_calls(name: impl Into<String>, most: u64) -> Self {
        Self::new(name, Over::ToolCalls, Most::Whole(most))
    }

    /// Creates a quota of the sum of an argument of tool calls, such as `euros` or `payment.euros`: a number, or a
    /// text with an amount as the function `amount` of conditions reads it. A tool call without it is refused, and
    /// one with a negative one. It is counted in millionths.
    pub fn amount(name: impl Into<String>, argument: impl Into<String>, most: f64) -> Self {
        Self::new(name, Over::Argument(argument.into()), Most::Amount(most))
    }

    /// Creates a quota of tokens of model calls.
    pub fn tokens(name: impl Into<String>, most: u64) -> Self {
        Self::new(name, Over::Tokens, Most::Whole(most))
    }

    /// Creates a quota of what model calls cost, in millionths. It needs
    /// [`prices`](crate::QuotasBuilder::prices).
    pub fn money(name: impl Into<String>, most: u64) -> Self {
        Self::new(name, Over::Money, Most::Whole(most))
    }

    pub(super) fn new(name: impl Into<String>, over: Over, most: Most) -> Self {
        Self {
            name: name.into(),
            over,
            most,
            per: Per::All,
            within: None,
            zone: None,
            tools: None,
            named: Named::default(),
            reason: None,
        }
    }

    /// Sets who has a quota of an own. Default: all share it.
    pub fn per(mut self, per: Per) -> Self {
        self.per = per;
        self
    }

    /// Sets the window of time. It is required.
    pub fn within(mut self, within: impl Into<Within>) -> Self {
        self.within = Some(within.into());
        self
    }

    /// Sets the time zone of days and months, such as `Europe/Berlin` or `+02:00`. Default: UTC.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// Counts calls of these tools alone: globs of names, or with `::` of `server::tool` for tools of MCP servers.
    /// Those after `!` are left out.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.get_or_insert_default().extend(texts(tools));
        self
    }

    /// Counts for users with one of these roles alone.
    pub fn roles(mut self, roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.roles.get_or_insert_default().extend(texts(roles));
        self
    }

    /// Counts for users with none of these roles, and for calls without a user.
    pub fn not_roles(mut self, roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.not_roles.get_or_insert_default().extend(texts(roles));
        self
    }

    /// Counts in agents of these names, and in their sub-agents: globs, those after `!` are left out.
    pub fn agents(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.agents.get_or_insert_default().extend(texts(agents));
        self
    }

    /// Counts in agents of these names, wherever they were called from.
    pub fn acting(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named.acting.get_or_insert_default().extend(texts(agents));
        self
    }

    /// Sets why, for the model and for people.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}
