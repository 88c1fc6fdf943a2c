//! A rule that was checked.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::message::{Approvers, Question};
use hooks_agent_core::tool::Tool;
use serde_json::Value;

use crate::expression::{Condition, Facts, Fault, HostPattern, Parsed, Vars};
use crate::rule::error::Mistakes;
use crate::rule::hosts::{HostOutcome, Hosts};
use crate::rule::names::check_name;
use crate::rule::requires::{Required, Requires};
use crate::rule::then::Then;
use crate::rule::tool_globs::{ToolGlobs, is_about};
use crate::rule::tool_rule::ToolRule;
use crate::rule::whose::{Whose, check_list};
use hooks_agent_core::hook::ShadowPart;

/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1024;
/// The longest value that a reason shows, in characters.
const LONGEST_SHOWN: usize = 100;

/// A rule that was checked.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) then: Then,
    /// What counts it, if it is in shadow.
    pub(crate) shadow: Option<ShadowPart>,
    tools: Option<ToolGlobs>,
    /// The tools that it names, without globs.
    pub(crate) tool_names: Vec<String>,
    /// Whether it asks what ran before.
    pub(crate) reads_past: bool,
    pub(crate) needs_login: bool,
    whose: Whose,
    requires: Vec<Required>,
    hosts: Option<Hosts>,
    when: Option<Condition>,
    reason: Option<String>,
    show: Vec<String>,
    approvers: Option<Approvers>,
    remembered_by: Option<Approvers>,
    /// What it asks about, as it is written.
    condition: String,
    expires_after: Option<Duration>,
}

/// When a rule is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The model has answered, and nothing of the answer runs.
    Foreseen,
    /// The tool call is next. Guards may have put something in place of its values.
    Before,
    /// The tool starts, with what it really gets.
    Around,
}

/// Why a rule matches.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// What it names is so.
    Matches,
    Missing(String),
    OtherHost,
    /// It cannot be decided.
    Failed(Fault),
}

impl Rule {
    /// Checks a rule.
    pub(crate) fn new(
        rule: ToolRule,
        place: &str,
        vars: &Vars,
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let at = |key: &str| format!("{place}.{key}");
        mistakes.take(&at("name"), check_name(&rule.name));
        check_list(&at("tools"), rule.tools.as_ref(), mistakes);
        let whose = Whose::new(rule.named, &at, mistakes);
        let condition = format!("{:?}, {:?}, {:?}", rule.when, rule.requires, rule.hosts);
        let asks_only = [
            ("approvers", rule.approvers.is_some()),
            ("remembered_by", rule.remembered_by.is_some()),
            ("expires_after", rule.expires_after.is_some()),
        ];
        for (key, _) in
            asks_only.into_iter().filter(|(_, is_set)| *is_set && rule.then != Then::Ask)
        {
            mistakes.add(at(key), "expected `then = \"ask\"`: nobody is asked otherwise");
        }
        if rule.remembered_by.as_ref().is_some_and(|who| !who.has_roles()) {
            mistakes.add(at("remembered_by"), "expected roles, such as `{ roles = [\"lead\"] }`");
        }
        // They match what is not as it should be.
        if rule.then == Then::Allow && (rule.hosts.is_some() || !rule.requires.is_empty()) {
            let message = "a rule with `hosts` or `requires` matches calls that violate them, so it allows nothing";
            mistakes.add(at("then"), message);
        }
        if rule.reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
            mistakes.add(at("reason"), format!("expected at most {LONGEST_REASON} bytes"));
        }
        let mut report = |key: &str, index: usize, why: String| {
            mistakes.add(at(&format!("{key}[{index}]")), why);
        };
        let is_name = |text: &&String| !text.contains(['*', '?', '[', '{', '!', ':', '\\']);
        let tool_names = rule.tools.iter().flatten().filter(is_name).cloned().collect();
        let tools = rule.tools.and_then(|texts| {
            ToolGlobs::new(&texts).map_err(|(index, why)| report("tools", index, why)).ok()
        });
        let requires: Vec<_> = rule
            .requires
            .into_iter()
            .filter_map(|it| required(it, &at("requires"), mistakes))
            .collect();
        let hosts = rule.hosts.and_then(|hosts| checked_hosts(hosts, &at("hosts"), mistakes));
        let when = rule.when.and_then(|text| {
            let condition = Parsed::new(&text).and_then(|parsed| parsed.check(vars));
            mistakes.take(&at("when"), condition)
        });
        let reads_past = !requires.is_empty() || when.as_ref().is_some_and(|it| it.uses.past);
        let reads_roles = when.as_ref().is_some_and(|it| it.uses.roles);
        let has_roles = whose.has_roles || reads_roles;
        let has_approvers = rule.approvers.is_some() || rule.remembered_by.is_some();
        let shadow = rule.is_shadow.then(|| ShadowPart::new(format!("the rule {:?}", rule.name)));
        Some(Self {
            name: rule.name,
            then: rule.then,
            shadow,
            tools,
            tool_names,
            reads_past,
            needs_login: !rule.is_shadow && (has_roles || has_approvers),
            whose,
            requires,
            hosts,
            when,
            reason: rule.reason,
            show: rule.show,
            approvers: rule.approvers,
            remembered_by: rule.remembered_by,
            condition,
            expires_after: rule.expires_after,
        })
    }

    /// Returns whether the rule is about calls of a tool.
    pub(crate) fn is_about(&self, tool: Option<&Arc<dyn Tool>>, name: &str) -> bool {
        is_about(self.tools.as_ref(), tool, name)
    }

    /// Returns whether the rule may be about a tool of which nothing but the name is known. One that allows is
    /// not.
    pub(crate) fn may_be_about(&self, tool: &str) -> bool {
        let may_match = |tools: &ToolGlobs| match self.then {
            Then::Allow => tools.is_match(tool, None),
            _ => tools.may_match(tool),
        };
        self.tools.as_ref().is_none_or(may_match)
    }

    /// Returns why the rule matches a call of one of its tools, if it does.
    ///
    /// `at_once` says that other tool calls of the same answer may run at the same time.
    pub(crate) fn judge(&self, facts: &Facts<'_>, stage: Stage, at_once: bool) -> Option<Why> {
        if !self.whose.is_in(facts.agents) {
            return None;
        }
        let mut why = Why::Matches;
        let mut fault = None;
        match self.whose.is_for(facts.user) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(failed) => fault = Some(failed),
        }
        match self.missing(facts, at_once) {
            Ok(None) if self.requires.is_empty() => {}
            Ok(None) => return None,
            Ok(Some(missing)) => why = Why::Missing(missing),
            Err(failed) => fault = Some(failed),
        }
        if let Some(hosts) = &self.hosts {
            match (hosts.check(facts.args), stage) {
                (HostOutcome::Listed, _) => return None,
                // What a guard has put in place of a URL is seen around the tool.
                (HostOutcome::Token, Stage::Foreseen | Stage::Before) if self.then != Then::Ask => {
                    return None;
                }
                (HostOutcome::Token | HostOutcome::Other, _) => why = Why::OtherHost,
            }
        }
        match self.when.as_ref().map_or(Ok(true), |when| when.holds(facts)) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(failed) => fault = Some(failed),
        }
        match fault {
            // Nothing is allowed by a rule that cannot be decided.
            Some(_) if self.then == Then::Allow => None,
            Some(fault) => Some(Why::Failed(fault)),
            None => Some(why),
        }
    }

    /// Returns what has not run before.
    fn missing(&self, facts: &Facts<'_>, at_once: bool) -> Result<Option<String>, Fault> {
        let Some(first) = self.requires.first() else { return Ok(None) };
        if at_once {
            let missing = first.missing();
            return Ok(Some(format!("{missing}, which is not known while tools run at once")));
        }
        let past = facts.past.ok_or(Fault::new("what ran in the thread is not known"))?;
        Ok(self.requires.iter().find(|it| !it.is_met(past)).map(Required::missing))
    }

    /// Returns what people and the model read: the name and the reason, and values of `shown` that the rule lists.
    pub(crate) fn text(&self, why: &Why, shown: &Value) -> String {
        let mut text = match (self.then, why) {
            (_, Why::Failed(_)) => format!("the rule \"{}\" cannot be decided", self.name),
            (Then::Deny, _) => format!("the rule \"{}\" denies it", self.name),
            (Then::Ask, _) => format!("the rule \"{}\" asks", self.name),
            (Then::Warn, _) => format!("the rule \"{}\" warns", self.name),
            (Then::Allow, _) => format!("the rule \"{}\" allows it", self.name),
        };
        let reason = match (why, &self.reason) {
            (Why::Failed(fault), _) => Some(fault.message()),
            (_, Some(reason)) => Some(reason.as_str()),
            (Why::Missing(missing), None) => Some(missing.as_str()),
            (Why::OtherHost, None) => Some("its host is not listed"),
            (Why::Matches, None) => None,
        };
        if let Some(reason) = reason {
            let _ = write!(text, ": {reason}");
        }
        let values = self.show.iter().filter_map(|path| {
            let value = path.split('.').try_fold(shown, |value, field| value.get(field))?;
            Some(format!("{path} = {}", cut(&value.to_string())))
        });
        let values: Vec<_> = values.collect();
        if !values.is_empty() {
            let _ = write!(text, " ({})", values.join(", "));
        }
        text
    }

    /// Returns what people are asked.
    pub(crate) fn question(&self, text: String, topic: Option<&str>) -> Question {
        let question = match self.expires_after {
            Some(time) => Question::new(text).expires_after(time),
            None => Question::new(text),
        };
        let question = match &self.approvers {
            Some(approvers) => question.approvers(approvers.clone()),
            None => question,
        };
        match self.remembered_by.as_ref().zip(topic) {
            Some((who, topic)) => question.remembered_by(who.clone()).topic(topic),
            None => question,
        }
    }

    /// Returns what the rule asks about where it matches so, whatever the arguments. What cannot be decided is
    /// known by its text alone.
    pub(crate) fn topic(&self, why: &Why) -> Option<String> {
        let what = match why {
            Why::Matches => "matches",
            Why::Missing(_) => "is missing something",
            Why::OtherHost => "lists no such host",
            Why::Failed(_) => return None,
        };
        // A rule that keeps its name and changes what it asks about asks again.
        Some(format!("\"{}\" {what}: {}", self.name, self.condition))
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}

fn required(requires: Requires, place: &str, mistakes: &mut Mistakes) -> Option<Required> {
    let Requires { tool, outcome, since } = requires;
    let since_texts = since.join(", ");
    mistakes.take(&format!("{place}.tool"), check_name(&tool))?;
    let since = match ToolGlobs::new(&since) {
        _ if since.is_empty() => None,
        Ok(globs) => Some(globs),
        Err((_, why)) => {
            mistakes.add(format!("{place}.since"), why);
            return None;
        }
    };
    Some(Required { tool, outcome, since, since_texts })
}

fn checked_hosts(
    (args, allow): (Vec<String>, Vec<String>),
    place: &str,
    mistakes: &mut Mistakes,
) -> Option<Hosts> {
    if args.is_empty() {
        mistakes.add(format!("{place}.args"), "expected at least one argument, such as `url`");
        return None;
    }
    let patterns = allow.iter().enumerate().filter_map(|(index, text)| {
        mistakes.take(&format!("{place}.allow[{index}]"), HostPattern::new(text))
    });
    let allow = patterns.collect();
    Some(Hosts { args, allow })
}
