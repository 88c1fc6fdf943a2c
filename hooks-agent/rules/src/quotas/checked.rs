//! A quota that was checked.

use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::store::{QuotaExceeded, Reservation};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::expression::{Fault, amount_of, zone_of};
use crate::quotas::quota::{Most, Over, Per, Quota, Within};
use crate::quotas::windows::window_of;
use crate::rule::{Mistakes, ToolGlobs, Whose, check_list, check_name, is_about, unknown_zone};

/// The longest name, in bytes.
const LONGEST: usize = 128;
/// The longest text that says whose part of a quota is meant, in bytes: the longest name in a store.
const LONGEST_SUBJECT: usize = 512;
/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1024;
/// How many parts an amount has.
const PARTS: f64 = 1e6;

/// A quota that was checked.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) name: String,
    /// The name in the store.
    pub(super) stored: Arc<str>,
    pub(super) over: Over,
    most: u64,
    per: Per,
    within: Within,
    zone: TimeZone,
    tools: Option<ToolGlobs>,
    whose: Whose,
    reason: Option<String>,
}

impl Checked {
    /// Checks a quota.
    pub(super) fn new(
        quota: Quota,
        place: &str,
        prefix: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let at = |key: &str| format!("{place}.{key}");
        mistakes.take(&at("name"), check_name(&quota.name));
        if quota.name.len() > LONGEST {
            mistakes.add(at("name"), format!("expected at most {LONGEST} bytes"));
        }
        if quota.reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
            mistakes.add(at("reason"), format!("expected at most {LONGEST_REASON} bytes"));
        }
        let is_of_tools = matches!(quota.over, Over::ToolCalls | Over::Argument(_));
        if quota.tools.is_some() && !is_of_tools {
            mistakes.add(at("tools"), "expected `over = \"tool_calls\"` or `\"amount\"`");
        }
        if quota.per == Per::Tool && !is_of_tools {
            mistakes.add(at("per"), "`tool` expects `over = \"tool_calls\"` or `\"amount\"`");
        }
        if let Over::Argument(path) = &quota.over
            && path.split('.').any(str::is_empty)
        {
            mistakes.add(at("argument"), "expected the name of an argument, such as `euros`");
        }
        check_list(&at("tools"), quota.tools.as_ref(), mistakes);
        let whose = Whose::new(quota.named, &at, mistakes);
        let tools = quota.tools.and_then(|texts| {
            let globs = ToolGlobs::new(&texts);
            globs.map_err(|(index, why)| mistakes.add(at(&format!("tools[{index}]")), why)).ok()
        });
        let zone = quota.zone.map_or(Some(TimeZone::UTC), |name| {
            mistakes.take(&at("zone"), zone_of(&name).ok_or_else(|| unknown_zone(&name)))
        });
        if quota.within.is_none() {
            mistakes.add(at("within"), "missing key `within`; write `within = \"day\"`");
        }
        if quota.within.is_some_and(|it| matches!(it, Within::Time(time) if time.is_zero())) {
            mistakes.add(at("within"), "expected a time longer than nothing");
        }
        let most = match quota.most {
            Most::Whole(most) => Some(most),
            Most::Amount(most) => mistakes.take(&at("most"), parts(most).map_err(str::to_owned)),
        };
        Some(Self {
            stored: format!("{prefix}{}", quota.name).into(),
            name: quota.name,
            over: quota.over,
            most: most?,
            per: quota.per,
            within: quota.within?,
            zone: zone?,
            tools,
            whose,
            reason: quota.reason,
        })
    }

    /// Returns whether it is about users who are known.
    pub(super) fn needs_login(&self) -> bool {
        self.whose.has_roles || matches!(self.per, Per::User | Per::Team)
    }

    /// Returns whether it counts tool calls, or what they have.
    pub(super) fn is_of_tools(&self) -> bool {
        matches!(self.over, Over::ToolCalls | Over::Argument(_))
    }

    /// Returns whether it counts model calls.
    pub(super) fn is_of_models(&self) -> bool {
        matches!(self.over, Over::Tokens | Over::Money)
    }

    /// Returns whether calls of a tool are meant.
    pub(super) fn is_about(&self, agent: &dyn Agent, tool: &str) -> bool {
        is_about(self.tools.as_ref(), agent.find_tool(tool), tool)
    }

    /// Returns whether a tool may be meant of which nothing but the name is known.
    pub(super) fn may_be_about(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.may_match(tool))
    }

    /// Returns what a tool call reserves, if the quota is about its agent and its user.
    pub(super) fn of_tool_call(
        &self,
        cx: &CallContext,
        call: &ToolUse,
    ) -> Result<Option<Reservation>, String> {
        if !self.is_for(cx)? {
            return Ok(None);
        }
        let amount = match &self.over {
            Over::Argument(path) => argument(&call.received_input(), path)
                .map_err(|why| self.unclear(&format!("the argument `{path}` {why}")))?,
            _ => 1,
        };
        self.reserve(cx, &call.name, amount).map(Some)
    }

    /// Returns what a call or a model call reserves, if the quota is about its agent and its user.
    pub(super) fn of_call(
        &self,
        cx: &CallContext,
        amount: u64,
    ) -> Result<Option<Reservation>, String> {
        if self.is_for(cx)? { self.reserve(cx, "", amount).map(Some) } else { Ok(None) }
    }

    fn is_for(&self, cx: &CallContext) -> Result<bool, String> {
        let calls = std::iter::successors(Some(cx), |call| call.parent());
        let mut agents: Vec<_> = calls.map(CallContext::agent_name).collect();
        agents.reverse();
        if !self.whose.is_in(&agents) {
            return Ok(false);
        }
        self.whose.is_for(cx.identity()).map_err(|why: Fault| self.unclear(why.message()))
    }

    fn reserve(&self, cx: &CallContext, tool: &str, amount: u64) -> Result<Reservation, String> {
        let subject = self.subject(cx, tool).map_err(|why| self.unclear(&why))?;
        if subject.len() > LONGEST_SUBJECT {
            return Err(
                self.unclear(&format!("its subject is longer than {LONGEST_SUBJECT} bytes"))
            );
        }
        let window = window_of(self.within, &self.zone, Timestamp::now());
        Ok(Reservation::new(self.stored.clone(), subject, amount, self.most, window))
    }

    fn subject(&self, cx: &CallContext, tool: &str) -> Result<Arc<str>, String> {
        let user = cx.identity().filter(|user| !user.id().is_empty());
        Ok(match self.per {
            Per::All => "all".into(),
            Per::User => user.ok_or("the call names no user")?.id().into(),
            Per::Team => {
                let user = user.ok_or("the call names no user")?;
                let team = user.attributes().get("team").and_then(Value::as_str);
                team.filter(|team| !team.is_empty())
                    .ok_or("the team of the user is not known")?
                    .into()
            }
            Per::Agent => cx.agent_name().into(),
            Per::Thread => {
                let owner = cx.owner_call();
                let agent = owner.agent_name().replace('%', "%25").replace('/', "%2F");
                format!("{agent}/{}", owner.thread_id()).into()
            }
            Per::Tool => tool.into(),
        })
    }

    fn unclear(&self, why: &str) -> String {
        format!("the quota \"{}\" cannot be counted: {why}", self.name)
    }

    /// Returns what people and the model read when it is used up. It has no values.
    pub(super) fn text(&self, exceeded: &QuotaExceeded) -> String {
        let Self { name, within, .. } = self;
        let most = match self.over {
            Over::Argument(_) | Over::Money => shown(self.most),
            _ => self.most.to_string(),
        };
        let within = match within {
            Within::Time(time) => format!("{time:?}"),
            Within::Day => "a day".to_owned(),
            Within::Month => "a month".to_owned(),
        };
        let mut text = format!("the quota \"{name}\" of {most} in {within} is used up");
        let until = exceeded.until.and_then(|until| i64::try_from(until).ok());
        let until = until.and_then(|until| Timestamp::from_millisecond(until).ok());
        if exceeded.amount > exceeded.most {
            text = format!("this is more than the quota \"{name}\" of {most} in {within}");
        } else if let Some(until) = until {
            let until = until.to_zoned(self.zone.clone());
            text.push_str(&until.strftime(" until %Y-%m-%d %H:%M:%S %:z").to_string());
        }
        if let Some(reason) = &self.reason {
            text.extend([": ", reason]);
        }
        text
    }
}

/// Returns millionths as a number.
fn shown(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns an argument in millionths.
fn argument(input: &Value, path: &str) -> Result<u64, &'static str> {
    let value = path.split('.').try_fold(input, |value, field| value.get(field));
    match value {
        Some(Value::Number(number)) => parts(number.as_f64().ok_or("is no number")?),
        Some(Value::String(text)) => parts(amount_of(text).map_err(|_| "is not one clear amount")?),
        Some(_) => Err("is no number"),
        None => Err("is missing"),
    }
}

/// Returns a number in millionths, rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and small enough"
)]
fn parts(number: f64) -> Result<u64, &'static str> {
    const LARGEST: f64 = 9e15;
    if !number.is_finite() || number < 0.0 {
        return Err("is negative");
    }
    let whole = (number * PARTS).round();
    // A sum of parts that are rounded down would be too small.
    let parts = if whole / PARTS < number { whole + 1.0 } else { whole };
    if parts > LARGEST { Err("is too large") } else { Ok(parts as u64) }
}
