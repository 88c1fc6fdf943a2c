//! Checks decisions.

use serde_json::Value;

use crate::identity::User;
use crate::store::people::approval::Approval;
use crate::store::people::decision::{Decided, Decision, EXPIRY, Verdict};
use crate::store::people::error::DecisionError;
use crate::store::people::waiting::Waiting;

/// How deep the JSON of a decision is nested at most: it is stored as a part of other JSON.
const DEEPEST: usize = 64;

/// What is to be stored of a decision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reviewed {
    /// What is decided about the question.
    pub decided: Decided,
    /// The approval that is to be remembered with it, if one is.
    pub approval: Option<Approval>,
}

/// Checks decisions against the questions of a store, and returns what is to be stored, in the order
/// of the decisions. `questions` has those of the ids, also closed ones; `now` is the store's clock.
///
/// For stores: all of them check decisions by this function, in the transaction that stores them.
///
/// # Errors
/// The first decision that is refused.
pub fn review(
    questions: &[Waiting],
    verdicts: &[Verdict],
    now: u64,
) -> Result<Vec<Reviewed>, DecisionError> {
    let mut decided = Vec::with_capacity(verdicts.len());
    for (index, verdict) in verdicts.iter().enumerate() {
        if verdicts[..index].iter().any(|earlier| earlier.id == verdict.id) {
            return Err(DecisionError::Twice { id: verdict.id.clone() });
        }
        decided.push(check(questions, verdict, now)?);
    }
    Ok(decided)
}

/// Takes the id of a tool call as that of its question, where one open question of the thread is about
/// it. `questions` has those of the thread; the ids of questions go first.
pub(crate) fn by_call(questions: &[Waiting], verdicts: &[Verdict]) -> Vec<Verdict> {
    let named = |verdict: &Verdict| {
        if questions.iter().any(|question| question.id == verdict.id) {
            return None;
        }
        let mut of_call = questions.iter().filter(|it| !it.is_closed && *it.call_id == *verdict.id);
        let question = of_call.next()?;
        of_call.next().is_none().then(|| Verdict { id: question.id.clone(), ..verdict.clone() })
    };
    verdicts.iter().map(|verdict| named(verdict).unwrap_or_else(|| verdict.clone())).collect()
}

fn check(questions: &[Waiting], verdict: &Verdict, now: u64) -> Result<Reviewed, DecisionError> {
    let Verdict { id, decision, by, remember } = verdict;
    let Some(question) = questions.iter().find(|question| question.id == *id) else {
        return Err(DecisionError::Unknown { id: id.clone() });
    };
    if let Some(Decided { by, at, .. }) = &question.decided {
        if by.as_deref() == Some(EXPIRY) {
            return Err(DecisionError::Expired {
                id: id.clone(),
                when: question.expires.unwrap_or(*at),
            });
        }
        return Err(DecisionError::AlreadyDecided { id: id.clone(), by: by.clone(), when: *at });
    }
    if question.is_closed {
        return Err(DecisionError::Unknown { id: id.clone() });
    }
    if !question.is_as_shown() {
        return Err(DecisionError::Changed { id: id.clone() });
    }
    if let Some(when) = question.expires.filter(|expires| *expires <= now) {
        return Err(DecisionError::Expired { id: id.clone(), when });
    }
    let refused = |reason| DecisionError::NotApprover { id: id.clone(), reason };
    question.check_approver(by.as_ref()).map_err(refused)?;
    let kind = decision.kind();
    if !question.allowed.contains(&kind) {
        let (tool, allowed) = (question.tool.clone(), question.allowed.clone());
        return Err(DecisionError::NotAllowed { id: id.clone(), tool, decision: kind, allowed });
    }
    let content = match decision {
        Decision::Edit(arguments) => Some(arguments),
        Decision::Respond(output) => output.structured(),
        _ => None,
    };
    if content.is_some_and(|content| depth(content) > DEEPEST) {
        return Err(DecisionError::TooDeep { id: id.clone(), most: DEEPEST });
    }
    if let Decision::Edit(arguments) = decision {
        check_arguments(question, arguments)?;
    }
    let remember = remember.as_ref().map(|it| Approval::new(question, verdict, it, now));
    let approval = remember
        .transpose()
        .map_err(|reason| DecisionError::NotRemembered { id: id.clone(), reason })?;
    let decided = Decided::new(decision.clone(), by.as_ref().map(User::shared_id), now);
    Ok(Reviewed { decided, approval })
}

/// Checks edited arguments against the schema of the tool.
#[cfg(feature = "schema")]
fn check_arguments(question: &Waiting, arguments: &Value) -> Result<(), DecisionError> {
    fits(&question.schema, arguments).map_err(|reason| {
        let (id, tool) = (question.id.clone(), question.tool.clone());
        DecisionError::Schema { id, tool, reason }
    })
}

/// Refuses edited arguments, which nothing here can check.
#[cfg(not(feature = "schema"))]
fn check_arguments(question: &Waiting, _: &Value) -> Result<(), DecisionError> {
    Err(DecisionError::Unchecked { id: question.id.clone(), tool: question.tool.clone() })
}

/// Checks arguments against the schema of a tool. A schema that cannot be read refuses them.
#[cfg(feature = "schema")]
fn fits(schema: &Value, arguments: &Value) -> Result<(), String> {
    if !arguments.is_object() {
        return Err("they are no JSON object".to_owned());
    }
    if schema.is_null() {
        return Err("the schema of the tool is not known".to_owned());
    }
    let schema = jsonschema::validator_for(schema)
        .map_err(|_| "the schema of the tool cannot be read".to_owned())?;
    let errors = schema.iter_errors(arguments);
    let place = |path: &str| if path.is_empty() { String::new() } else { format!("at `{path}`: ") };
    let reasons: Vec<_> =
        errors.map(|error| format!("{}{error}", place(error.instance_path().as_str()))).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
}

/// Returns how deep arrays and objects are nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}
