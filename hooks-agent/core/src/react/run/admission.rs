//! Admits the messages of a call into memory: matches them with the tool calls that wait.

use std::collections::HashSet;
use std::sync::Arc;

use crate::call::{CallContext, Resumed, User};
use crate::error::InputError;
use crate::memory::{Answer, Confirmed, ConfirmedBy, Memory, is_within};
use crate::message::PendingReason;
use crate::message::{
    ApprovedBy, Asker, ContentBlock, Messages, Msg, PendingCall, ToolResult, ToolUse, open_calls,
};
use crate::react::agent::ReActAgent;
use crate::react::run::decided::{Decided, OTHER_TOOL, UNKNOWN_OUTCOME, changed, decided, is_held};
use crate::store::CallState;
use crate::store::now;

/// What a call does first.
pub(super) enum Admitted {
    /// Runs these tool calls, if there are any, and then calls the model.
    Act(Vec<ToolUse>),
    /// Returns with the tool calls that wait for people.
    Wait(Vec<PendingCall>),
}

/// Appends the messages to memory if they match the waiting tool calls. If they do not match, memory is
/// unchanged.
pub(super) async fn admit(
    agent: &ReActAgent,
    cx: &CallContext,
    memory: &Memory,
    input: Messages,
    confirms: &[Confirmed],
    recovers: bool,
) -> Result<Admitted, InputError> {
    let calls = open_calls(&memory.messages());
    if !calls.is_empty() {
        // Rare steps are boxed, so that the future of other calls stays small.
        return Box::pin(admit_answers(agent, cx, memory, &calls, input, confirms, recovers)).await;
    }
    check_confirmations(confirms, &[])?;
    // The program may have answered tool calls by itself: a decision about them allows no other.
    memory.settle();
    // The messages of a call that failed are in memory already.
    if input.is_empty() || !memory.is_unanswered(&input) {
        InputError::check_appended(&[], &input)?;
        memory.extend(input);
    }
    memory.set_unanswered(0);
    Ok(Admitted::Act(Vec::new()))
}

/// Admits messages while tool calls wait.
async fn admit_answers(
    agent: &ReActAgent,
    cx: &CallContext,
    memory: &Memory,
    calls: &[ToolUse],
    input: Messages,
    confirms: &[Confirmed],
    recovers: bool,
) -> Result<Admitted, InputError> {
    let waiting = memory.pending();
    let by = cx.signed_in().map(User::shared_id);
    let confirms = &of_call(confirms, by.as_ref(), memory, &waiting);
    check_confirmations(confirms, &waiting)?;
    check_approvers(cx, memory, confirms, &input, &waiting)?;
    for msg in &input {
        InputError::check_message(msg)?;
    }
    cx.expire_questions(memory, now());
    let Decided { confirmed, mut results } = decided(cx, memory, calls, &waiting).await;
    let confirmed = as_shown(confirmed, &waiting);
    results.extend(changed(confirms, memory, calls));
    for result in other_tools(agent, confirms.iter().chain(&confirmed), &waiting, calls) {
        if results.iter().all(|known| known.id != result.id) {
            results.push(result);
        }
    }
    let has_results = input.iter().any(|msg| msg.tool_results().next().is_some());
    // People are asked about these before anything of the answer runs.
    let held = |pending: &&PendingCall| {
        let new = confirmed.iter().filter(|confirmed| !confirmed.is_kept());
        let is_confirmed = || confirms.iter().chain(new).any(|it| it.id == pending.id);
        let results = input.iter().flat_map(Msg::tool_results).chain(&results);
        is_held(pending) && !is_confirmed() && !results.map(|it| &it.id).any(|id| *id == pending.id)
    };
    if input.is_empty() && waiting.iter().any(|pending| held(&pending)) {
        memory.set_caller(cx.parent().map(CallContext::run_id));
        let is_open = |pending: &PendingCall| held(&pending) || !is_held(pending);
        return Ok(Admitted::Wait(waiting.into_iter().filter(is_open).collect()));
    }
    let is_decided = !results.is_empty() || confirmed.iter().any(|confirmed| !confirmed.is_kept());
    let asks_people = waiting.iter().any(|pending| held(&pending));
    let was_cut_off = cx.is_recovery() && memory.asking().is_none();
    let goes_on = was_cut_off && cx.through().is_none() || is_decided && !asks_people;
    if !input.is_empty() && !has_results && goes_on {
        // The tool calls have their turn first; what the caller says since follows their results.
        InputError::check_appended(&[], &input)?;
        let is_repeated = memory.has_later(&input);
        let answered: Messages = results.into_iter().map(Msg::tool_result).collect();
        let confirmed = confirms.iter().cloned().chain(confirmed).collect();
        let open = admit_results(cx, memory, calls, &waiting, answered, confirmed, recovers)?;
        if !is_repeated {
            memory.extend_later(input);
        }
        return Ok(Admitted::Act(open));
    }
    if asks_people && (has_results || !recovers) {
        let ids: Vec<_> = waiting.iter().filter(held).map(|pending| pending.id.clone()).collect();
        // A question that no store has yet is known by the id of its tool call.
        let question = |id: &String| memory.question_of(id).unwrap_or_else(|| id.as_str().into());
        let questions = ids.iter().map(question).collect();
        return Err(InputError::Undecided { ids, questions });
    }
    // The conversation goes on without the tool calls, those that are decided too.
    let (results, confirmed) = if asks_people { Default::default() } else { (results, confirmed) };
    let results = results.into_iter().map(|result| Arc::new(Msg::tool_result(result)));
    let input = results.chain(input).collect();
    let confirmed = confirms.iter().cloned().chain(confirmed).collect();
    let open = admit_results(cx, memory, calls, &waiting, input, confirmed, recovers)?;
    Ok(Admitted::Act(open))
}

/// Appends messages with results of tool calls that wait. Returns the tool calls to run.
fn admit_results(
    cx: &CallContext,
    memory: &Memory,
    calls: &[ToolUse],
    waiting: &[PendingCall],
    input: Messages,
    confirmed: Vec<Confirmed>,
    recovers: bool,
) -> Result<Vec<ToolUse>, InputError> {
    let (input, below) = part_below(input, waiting);
    let mut seen = HashSet::new();
    if let Some(twice) = below.iter().find(|result| !seen.insert(&result.id)) {
        return Err(InputError::DuplicateResult { id: twice.id.clone() });
    }
    let open = append(memory, calls, input, waiting, below.is_empty(), recovers)?;
    let (mut kept, mut answers) = (Vec::new(), Vec::new());
    if !open.is_empty() {
        let asked = memory.asking().map(|asking| asking.run);
        answers = memory.answers();
        answers.extend(below.into_iter().map(|result| Answer { result, asked }));
        let is_below = |id: &str| open.iter().all(|call| call.id != *id);
        let confirmed: Vec<_> = confirmed
            .into_iter()
            .map(|it| Confirmed { asked: it.asked.or(asked.filter(|_| is_below(&it.id))), ..it })
            .collect();
        // A tool call whose sub-agent asks was allowed to run before.
        let asks = waiting.iter().filter(|pending| !pending.agents.is_empty()).map(|it| &*it.id);
        let decided = confirmed.iter().map(|it| &*it.id).filter(|id| is_below(id));
        let below: Vec<_> =
            asks.chain(decided).chain(answers.iter().map(|it| &*it.result.id)).collect();
        let has_begun = |call: &&ToolUse| below.iter().any(|path| is_within(path, &call.id));
        let begun: Vec<_> = open.iter().filter(has_begun).map(|call| call.id.clone()).collect();
        kept = confirmed.iter().filter(|confirmed| !confirmed.is_of_call()).cloned().collect();
        let confirmed = confirmed.into_iter().chain(begun.into_iter().map(Confirmed::begun));
        let (calls, confirmed) = (open.iter().map(|call| call.id.clone()), confirmed.collect());
        cx.set_resumed(Resumed { calls: calls.collect(), confirmed, answers: answers.clone() });
    }
    memory.set_unanswered(0);
    memory.settle();
    memory.keep_decided(kept, answers);
    Ok(open)
}

/// Appends the messages after tool calls that wait. Returns the tool calls to run.
fn append(
    memory: &Memory,
    calls: &[ToolUse],
    input: Messages,
    waiting: &[PendingCall],
    is_all: bool,
    recovers: bool,
) -> Result<Vec<ToolUse>, InputError> {
    let results: Vec<_> = input.iter().flat_map(Msg::tool_results).collect();
    let name_all = |error| match error {
        InputError::UnknownResults { ids, .. } => {
            InputError::UnknownResults { ids, expected: ids_of(waiting) }
        }
        error => error,
    };
    InputError::check_results(calls, &results).map_err(name_all)?;
    let answered: HashSet<_> = results.iter().map(|result| &result.id).collect();
    let open: Vec<_> = calls.iter().filter(|call| !answered.contains(&call.id)).cloned().collect();
    let ids = || open.iter().map(|call| call.id.clone()).collect();
    if open.is_empty() || input.is_empty() {
        InputError::check_appended(calls, &input)?;
        memory.extend(results_first(calls, input));
        return Ok(open);
    }
    if results.is_empty() && is_all {
        if !recovers {
            return Err(InputError::MissingResults { ids: ids() });
        }
        InputError::check_appended(&[], &input)?;
        let gone = open.iter().map(|call| {
            let has_started = memory
                .call_record(&call.id)
                .is_some_and(|record| record.state == CallState::Started);
            let reason = if has_started {
                UNKNOWN_OUTCOME.to_owned()
            } else {
                format!("[ERROR] `{}` did not run, the conversation went on", call.name)
            };
            Arc::new(Msg::tool_result(ToolResult::error(call, reason)))
        });
        // Collected before memory is locked: it reads memory.
        let messages: Vec<_> = gone.chain(input).collect();
        memory.extend(messages);
        return Ok(Vec::new());
    }
    let content: usize = input.iter().map(|msg| msg.content.len()).sum();
    if content > results.len() {
        return Err(InputError::PartialResults { ids: ids() });
    }
    memory.extend(input);
    Ok(open)
}

/// Returns the messages with those first that answer the tool calls: results follow their tool calls
/// directly.
pub(super) fn results_first(
    calls: &[ToolUse],
    messages: Messages,
) -> impl Iterator<Item = Arc<Msg>> {
    let ids: HashSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
    let answers = |result: &ToolResult| ids.contains(&*result.id);
    let (mut results, mut others) = (Vec::new(), Vec::new());
    for mut msg in messages {
        if !msg.tool_results().any(answers) {
            others.push(msg);
        } else if msg.tool_results().all(answers) {
            results.push(msg);
        } else {
            // Results of later tool calls stay behind these.
            let is_first = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(result) if answers(result));
            let mut first = msg.clone();
            Arc::make_mut(&mut first).content.retain(is_first);
            Arc::make_mut(&mut msg).content.retain(|block| !is_first(block));
            results.push(first);
            others.push(msg);
        }
    }
    results.into_iter().chain(others)
}

/// Takes the results for tool calls of sub-agents out of the messages.
fn part_below(input: Messages, waiting: &[PendingCall]) -> (Messages, Vec<ToolResult>) {
    let ids: HashSet<_> = waiting
        .iter()
        .filter(|pending| !pending.agents.is_empty())
        .map(|pending| pending.id.as_str())
        .collect();
    let is_below = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(result) if ids.contains(&*result.id));
    let mut below = Vec::new();
    let own = input.into_iter().filter_map(|mut msg| {
        if msg.content.iter().any(is_below) {
            Arc::make_mut(&mut msg).content.retain(|block| match block {
                ContentBlock::ToolResult(result) if ids.contains(&*result.id) => {
                    below.push(result.clone());
                    false
                }
                _ => true,
            });
            if msg.content.is_empty() {
                return None;
            }
        }
        Some(msg)
    });
    let own = own.collect();
    (own, below)
}

/// Checks that the caller may confirm and answer what it does.
fn check_approvers(
    cx: &CallContext,
    memory: &Memory,
    confirms: &[Confirmed],
    input: &Messages,
    waiting: &[PendingCall],
) -> Result<(), InputError> {
    if cx.through().is_some() {
        // The agent that was called has checked it.
        return Ok(());
    }
    let confirmed = confirms.iter().map(|confirmed| &confirmed.id);
    let answered = input.iter().flat_map(Msg::tool_results).map(|result| &result.id);
    for id in confirmed.chain(answered) {
        // A result of a tool call that runs a sub-agent answers what waits in it.
        for pending in waiting.iter().filter(|pending| is_within(&pending.id, id)) {
            let asks = memory.question_about(&pending.id).and_then(|question| question.user);
            let all = pending.why == PendingReason::UnknownOutcome;
            Asker::check_approver(&pending.askers, cx.signed_in(), asks.as_deref(), all)
                .map_err(|reason| InputError::NotApprover { id: pending.id.clone(), reason })?;
        }
    }
    Ok(())
}

/// Returns what the caller of this call confirms: what was shown, to those who asked. The arguments that a person gave
/// before stay, unless the caller gives others; then others who answered for those before ask again.
fn of_call(
    confirms: &[Confirmed],
    by: Option<&Arc<str>>,
    memory: &Memory,
    waiting: &[PendingCall],
) -> Vec<Confirmed> {
    let kept = memory.confirmed();
    let of_call = |it: Confirmed| {
        let pending = waiting.iter().find(|pending| pending.id == it.id);
        let earlier = kept.iter().find(|kept| kept.id == it.id);
        let is_of_call = it.is_of_call() || it.shown.is_none();
        let gives_others = it.edited.is_some();
        let edited = it.edited.clone().or_else(|| earlier?.edited.clone());
        // Of a tool call that had no turn, nobody knows yet what hooks make of it.
        let asked = pending.filter(|it| {
            matches!(it.why, PendingReason::Permission(_) | PendingReason::UnknownOutcome)
        });
        let shown = it.shown.clone().or_else(|| Some(asked?.call.input.clone()));
        let mut it = as_shown(vec![it], waiting).remove(0);
        if let Some(askers) = it.askers.as_mut().filter(|_| gives_others && is_of_call) {
            askers.retain(|asker| !asker.is_answered);
        }
        let approved = it.approved.clone().or_else(|| Some(ApprovedBy::new(by.cloned(), None)));
        let by = if is_of_call { ConfirmedBy::Caller } else { it.by };
        Confirmed { shown, edited, approved, by, ..it }
    };
    confirms.iter().cloned().map(of_call).collect()
}

/// Returns confirmations with what was shown: a caller lets run what it was shown.
fn as_shown(confirmed: Vec<Confirmed>, waiting: &[PendingCall]) -> Vec<Confirmed> {
    let shown = |it: Confirmed| {
        let pending = waiting.iter().find(|pending| pending.id == it.id);
        let askers = || Some(pending.map(PendingCall::shown_askers).unwrap_or_default());
        Confirmed {
            askers: it.askers.or_else(askers),
            identity: it.identity.or_else(|| pending?.identity.clone()),
            ..it
        }
    };
    confirmed.into_iter().map(shown).collect()
}

/// Returns the results of tool calls whose tool is another one now than the one that was shown.
fn other_tools<'a>(
    agent: &'a ReActAgent,
    confirmed: impl Iterator<Item = &'a Confirmed>,
    waiting: &'a [PendingCall],
    calls: &'a [ToolUse],
) -> impl Iterator<Item = ToolResult> {
    confirmed.filter_map(|Confirmed { id, tool, identity, .. }| {
        let call = calls.iter().find(|call| call.id == *id)?;
        let pending = || Some(&*waiting.iter().find(|pending| pending.id == *id)?.call.name);
        let (tool, shown) = (tool.as_deref().or_else(pending)?, identity.as_ref()?);
        let is_same = agent.identity_of(tool).as_ref() == Some(shown);
        (!is_same).then(|| ToolResult::error(call, OTHER_TOOL))
    })
}

fn check_confirmations(confirms: &[Confirmed], waiting: &[PendingCall]) -> Result<(), InputError> {
    if confirms.is_empty() {
        return Ok(());
    }
    let known: HashSet<_> = waiting.iter().map(|pending| &pending.id).collect();
    let ids = confirms.iter().map(|confirmed| &confirmed.id);
    let ids: Vec<_> = ids.filter(|id| !known.contains(id)).cloned().collect();
    if ids.is_empty() {
        return Ok(());
    }
    Err(InputError::UnknownConfirmations { ids, expected: ids_of(waiting) })
}

fn ids_of(waiting: &[PendingCall]) -> Vec<String> {
    waiting.iter().map(|pending| pending.id.clone()).collect()
}
