//! The answers of all commands of an event as one decision.

use serde_json::{Map, Value};

use crate::command::decide::answer::{Answer, Verdict};

/// How a command ended.
pub(crate) struct Outcome<'a> {
    pub(crate) hook: &'a str,
    /// The answer. Without one, the command failed.
    pub(crate) answer: Option<Answer>,
    /// Whether a failure blocks.
    pub(crate) blocks: bool,
    /// The arguments that it read, if earlier commands of a sequence rewrote them.
    pub(crate) seen: Option<Map<String, Value>>,
    /// Whether a later command of a sequence replaced its rewrite.
    pub(crate) is_superseded: bool,
}

/// The decision of all commands of an event.
#[derive(Debug, Default)]
pub(crate) struct Combined {
    pub(crate) verdict: Verdict,
    /// The reasons of the verdict, joined by a blank line.
    pub(crate) reason: String,
    /// Whether the call ends, by which command and why.
    pub(crate) stop: Option<Stop>,
    pub(crate) rewrite: Option<Map<String, Value>>,
    pub(crate) result: Option<Value>,
    pub(crate) context: Option<String>,
    /// What commands say to people.
    pub(crate) warnings: Vec<String>,
    /// Whether a command that blocks on failure failed: what it should have checked is unchecked.
    pub(crate) has_failed: bool,
}

/// The end of a call by a command.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) hook: String,
    /// For people, not for the model.
    pub(crate) reason: Option<String>,
}

/// Combines the outcomes, which are in configured order.
pub(crate) fn combine(outcomes: &[Outcome<'_>]) -> Combined {
    let mut combined = Combined::default();
    let mut conflicts: Vec<(Verdict, String)> = Vec::new();
    match agreed(outcomes, Answer::effective_rewrite) {
        Ok(rewrite) => combined.rewrite = rewrite.cloned(),
        Err(conflict) => conflicts.extend(conflict.reason("arguments")),
    }
    match agreed(outcomes, |answer| answer.result.as_ref()) {
        Ok(result) => combined.result = result.cloned(),
        Err(conflict) => conflicts.extend(conflict.reason("result")),
    }
    let is_failed = |outcome: &Outcome<'_>| outcome.answer.is_none() && outcome.blocks;
    combined.has_failed = !conflicts.is_empty() || outcomes.iter().any(is_failed);
    let rewrite = combined.rewrite.as_ref();
    let reasons = outcomes.iter().filter_map(|outcome| outcome.reason(rewrite));
    let mut reasons: Vec<_> = reasons.chain(conflicts).collect();
    combined.verdict = reasons.iter().map(|(verdict, _)| *verdict).max().unwrap_or_default();
    reasons.retain(|(verdict, reason)| *verdict == combined.verdict && !reason.is_empty());
    combined.reason = joined(reasons.into_iter().map(|(_, reason)| reason)).unwrap_or_default();
    let answers = || outcomes.iter().filter_map(|it| Some((it.hook, it.answer.as_ref()?)));
    combined.context = joined(answers().filter_map(|(_, answer)| answer.context.clone()));
    combined.warnings = answers().filter_map(|(_, answer)| answer.warning.clone()).collect();
    let stop = answers().find(|(_, answer)| answer.ends_call);
    combined.stop = stop
        .map(|(hook, answer)| Stop { hook: hook.to_owned(), reason: answer.stop_reason.clone() });
    combined
}

impl Outcome<'_> {
    /// Returns what the command decided and why. Other arguments than those that it read or wrote
    /// are not allowed by it.
    fn reason(&self, rewrite: Option<&Map<String, Value>>) -> Option<(Verdict, String)> {
        let hook = self.hook;
        let Some(answer) = &self.answer else {
            let reason = format!("hook `{hook}` could not check this call");
            return self.blocks.then_some((Verdict::Block, reason));
        };
        let allowed = answer.effective_rewrite().or(self.seen.as_ref());
        let default = match answer.verdict {
            Verdict::None => return None,
            Verdict::Allow if allowed != rewrite => return None,
            Verdict::Allow | Verdict::Defer => String::new(),
            Verdict::Ask => format!("hook `{hook}` asks for approval"),
            Verdict::Block => format!("blocked by hook `{hook}`"),
        };
        Some((answer.verdict, answer.reason.clone().unwrap_or(default)))
    }
}

/// Two commands that ran at the same time and want different things.
struct Conflict {
    hooks: [String; 2],
    blocks: bool,
}

impl Conflict {
    /// Reports the conflict. It counts as a failure of both commands.
    fn reason(self, what: &str) -> Option<(Verdict, String)> {
        let Self { hooks: [first, second], blocks } = self;
        tracing::warn!(
            target: "hooks_agent::command",
            first, second, "two commands changed the {what} of a tool call differently"
        );
        let reason = format!(
            "hooks `{first}` and `{second}` could not check this call: they changed its {what} \
             differently"
        );
        blocks.then_some((Verdict::Block, reason))
    }
}

/// Returns what all commands agree on that say something.
fn agreed<'a, T: PartialEq + ?Sized>(
    outcomes: &'a [Outcome<'_>],
    of: impl Fn(&'a Answer) -> Option<&'a T>,
) -> Result<Option<&'a T>, Conflict> {
    let mut found: Option<(&Outcome<'_>, &T)> = None;
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_superseded) {
        let Some(said) = outcome.answer.as_ref().and_then(&of) else { continue };
        match found {
            Some((first, earlier)) if earlier != said => {
                let hooks = [first.hook, outcome.hook].map(str::to_owned);
                return Err(Conflict { hooks, blocks: first.blocks || outcome.blocks });
            }
            _ => found = found.or(Some((outcome, said))),
        }
    }
    Ok(found.map(|(_, said)| said))
}

/// Joins texts by blank lines.
fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.reduce(|joined, text| format!("{joined}\n\n{text}"))
}
