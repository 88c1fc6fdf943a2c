//! Reads from the input what people decided about tool calls that wait.

use std::collections::HashMap;

use hooks_agent_core::call::User;
use hooks_agent_core::message::{DecisionKind, Question};
use hooks_agent_core::store::{Decision, Verdict, Waiting, review};
use serde_json::Value;

use crate::admit::waiting::Open;
use crate::protocol::{ResumeEntry, ResumeStatus};
use crate::refused::Refused;

/// What the input decides about one tool call.
pub(super) enum Choice {
    /// It runs.
    Confirm,
    /// It runs with these arguments.
    Edit(Value),
    /// A decision about its question is stored.
    Decide(Verdict),
    /// It does not run, and the model reads this.
    Refuse(String),
}

/// Returns what the input decides about what waits, in order; nothing about what people need not decide.
pub(super) fn choices(
    open: &[Open],
    resume: &[ResumeEntry],
    user: Option<&User>,
    now: u64,
) -> Result<Vec<Option<Choice>>, Refused> {
    let mut answers: HashMap<&str, &ResumeEntry> = HashMap::new();
    for entry in resume {
        if answers.insert(&entry.interrupt_id, entry).is_some() {
            let text = format!("the interrupt `{}` is answered twice", entry.interrupt_id);
            return Err(Refused::Malformed(text));
        }
    }
    let mut taken = Vec::with_capacity(open.len());
    let (mut missing, mut expired) = (Vec::new(), Vec::new());
    for open in open {
        let answer = answers.remove(open.kept.interrupt.as_str());
        let answer = answer.filter(|_| open.is_asked());
        let is_over = |question: &Waiting| question.expires.is_some_and(|expires| expires <= now);
        match answer {
            None if open.is_asked() => missing.push(open.kept.interrupt.clone()),
            Some(entry)
                if entry.status == ResumeStatus::Resolved
                    && open.question.as_ref().is_some_and(is_over) =>
            {
                expired.push(open.kept.interrupt.clone());
            }
            _ => {}
        }
        taken.push(answer);
    }
    for id in answers.keys() {
        tracing::warn!(
            target: "hooks_agent::ag_ui",
            interrupt = id, "the answer to an interrupt that does not wait is ignored"
        );
    }
    if !missing.is_empty() {
        return Err(Refused::NotAnswered { ids: missing });
    }
    if !expired.is_empty() {
        return Err(Refused::Expired { ids: expired });
    }
    let choice = |(open, answer): (&Open, Option<&ResumeEntry>)| match answer {
        Some(entry) => choice(open, entry, user, now),
        None => Ok(None),
    };
    let choices: Vec<_> = open.iter().zip(taken).map(choice).collect::<Result<_, _>>()?;
    check(open, &choices, user, now)?;
    Ok(choices)
}

fn choice(
    open: &Open,
    entry: &ResumeEntry,
    user: Option<&User>,
    now: u64,
) -> Result<Option<Choice>, Refused> {
    let question = open.question.as_ref();
    if question.and_then(|question| question.expires).is_some_and(|expires| expires <= now) {
        // The agent refuses it by itself.
        return Ok(None);
    }
    let is_held = open.pending.question.as_deref().is_some_and(Question::is_held);
    let verdict = |decision| {
        let verdict = question.map(|question| Verdict::new(question.id.clone(), decision));
        verdict.map(|verdict| match user {
            Some(user) => verdict.by(user.clone()),
            None => verdict,
        })
    };
    let may_reject = question.is_some_and(|it| it.allowed.contains(&DecisionKind::Reject));
    let choice = match answer_of(entry)? {
        Answer::Approved(None) => match verdict(Decision::Approve) {
            Some(verdict) => Choice::Decide(verdict),
            None => Choice::Confirm,
        },
        Answer::Approved(Some(input)) => match verdict(Decision::Edit(input.clone())) {
            Some(verdict) => Choice::Decide(verdict),
            None => Choice::Edit(input),
        },
        Answer::Denied(reason) if is_held => match verdict(Decision::Reject(reason)) {
            Some(verdict) => Choice::Decide(verdict),
            None => Choice::Refuse("denied".to_owned()),
        },
        Answer::Denied(reason) if reason.is_empty() => Choice::Refuse("denied".to_owned()),
        Answer::Denied(reason) => Choice::Refuse(format!("denied: {reason}")),
        Answer::Cancelled => {
            let text = "cancelled by the user".to_owned();
            match verdict(Decision::Reject(text.clone())).filter(|_| is_held && may_reject) {
                Some(verdict) => Choice::Decide(verdict),
                None => Choice::Refuse(text),
            }
        }
    };
    Ok(Some(choice))
}

/// What a person answered.
enum Answer {
    Approved(Option<Value>),
    Denied(String),
    Cancelled,
}

fn answer_of(entry: &ResumeEntry) -> Result<Answer, Refused> {
    if entry.status == ResumeStatus::Cancelled {
        return Ok(Answer::Cancelled);
    }
    let payload = entry.payload.as_ref().unwrap_or(&Value::Null);
    let malformed =
        |what: &str| Refused::Malformed(format!("the payload of `{}` {what}", entry.interrupt_id));
    let Some(approved) = payload["approved"].as_bool() else {
        return Err(malformed("has no boolean `approved`"));
    };
    if !approved {
        return Ok(Answer::Denied(payload["reason"].as_str().unwrap_or_default().to_owned()));
    }
    match &payload["editedArgs"] {
        Value::Null => Ok(Answer::Approved(None)),
        Value::Object(input) => Ok(Answer::Approved(Some(input.clone().into()))),
        _ => Err(malformed("has `editedArgs` that are no object")),
    }
}

/// Checks the decisions before the run, as the store will.
fn check(
    open: &[Open],
    choices: &[Option<Choice>],
    user: Option<&User>,
    now: u64,
) -> Result<(), Refused> {
    let questions: Vec<_> = open.iter().filter_map(|open| open.question.clone()).collect();
    let verdicts = choices.iter().filter_map(|choice| match choice {
        Some(Choice::Decide(verdict)) => Some(verdict.clone()),
        _ => None,
    });
    let verdicts: Vec<_> = verdicts.collect();
    for (open, choice) in open.iter().zip(choices) {
        let Some(question) = open.question.as_ref().filter(|_| choice.is_some()) else { continue };
        question.check_approver(user).map_err(|reason| Refused::NotAllowed(reason.to_string()))?;
    }
    match review(&questions, &verdicts, now) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refused::NotAllowed(error.to_string())),
    }
}
