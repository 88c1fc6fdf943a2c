//! A run, with those below it, as a tape.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, ToolResult, ToolUse, Usage,
};
use hooks_agent_core::model::{ChatChunk, ChatRequest, FinishReason, ModelError};
use hooks_agent_replay::{TapeCall, TapeError, TapeText};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::entry::{Label, Packed, WrittenRequest};
use crate::ring::Log;

/// Why a run cannot be a tape.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTaped {
    #[error("some of its content is not kept: it is hidden, too long, or was dropped")]
    Hidden,
    #[error("requests are not kept: the program does so with `Studio::show_requests(true)`")]
    NoRequests,
    #[error("it goes on with a run before it")]
    Resumed,
    #[error("a hook ended it before it began")]
    NotBegun,
    #[error("an answer of the model is not kept: it was not used, or came from a journal")]
    NoAnswer,
    #[error("it has not ended")]
    Runs,
    #[error(transparent)]
    Tape(#[from] TapeError),
}

#[derive(Deserialize)]
struct Input {
    messages: Messages,
}

#[derive(Deserialize)]
struct Asked {
    model: String,
}

#[derive(Deserialize)]
struct Ended {
    outcome: String,
    reason: Option<GenerateReason>,
}

#[derive(Deserialize)]
struct Attempt {
    model: Option<Arc<str>>,
    usage: Option<Usage>,
    kind: Option<String>,
    status: Option<u16>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct HookRun {
    hook: String,
    event: String,
    flow: String,
    changed: Vec<Change>,
    #[serde(default)]
    shadow: bool,
    role: Option<String>,
    tool_call: Option<String>,
}

#[derive(Deserialize)]
struct Change {
    path: String,
}

/// What is read of a run so far.
#[derive(Default)]
struct Read {
    /// The model, as hooks around it know it.
    model: String,
    /// The last request, and its number.
    request: (u64, ChatRequest),
    /// When the attempt began that goes on.
    began: Option<u64>,
    /// The attempts to have an answer of the round.
    attempts: Vec<Attempted>,
    /// The starts of each tool call that has no result: its number on the tape, and when it was.
    calls: HashMap<String, (ToolUse, Vec<(u32, u64)>)>,
    reply: Option<Msg>,
    has_begun: bool,
    has_ended: bool,
}

/// An attempt to have an answer.
struct Attempted {
    request: ChatRequest,
    took: Duration,
    usage: Usage,
    /// What the model said, once hooks left it; or why it failed.
    said: Option<Vec<Result<ChatChunk, ModelError>>>,
}

/// Returns the tape of a run with those below it, the first one first.
pub(crate) fn tape_of(logs: &[Arc<Log>]) -> Result<String, NotTaped> {
    let whole = |log: &Arc<Log>| {
        let (summary, written) = log.whole()?;
        (summary.dropped == 0).then_some(written)
    };
    let written: Vec<_> =
        logs.iter().map(|log| whole(log).ok_or(NotTaped::Hidden)).collect::<Result<_, _>>()?;
    let mut entries: Vec<_> = logs
        .iter()
        .zip(&written)
        .flat_map(|(log, written)| written.after(0).map(move |(label, data)| (log, label, data)))
        .collect();
    entries.sort_by_key(|(_, label, _)| label.seq);
    let mut tape = TapeText::new();
    let mut reads: HashMap<RunId, Read> =
        logs.iter().map(|log| (log.head.run, Read::default())).collect();
    for (log, label, data) in entries {
        reads.entry(log.head.run).or_default().add(&mut tape, log, label, data)?;
    }
    if reads.values().all(|read| read.has_ended) { Ok(tape.finish()) } else { Err(NotTaped::Runs) }
}

impl Read {
    fn add(
        &mut self,
        tape: &mut TapeText,
        log: &Log,
        Label { ts, kind, .. }: Label,
        data: Packed<'_>,
    ) -> Result<(), NotTaped> {
        let run = log.head.run;
        match kind {
            "input" => {
                let Input { messages } = whole(data)?;
                if messages.is_empty() {
                    return Err(NotTaped::Resumed);
                }
                let (agent, thread) = (&*log.head.agent, &*log.head.thread);
                let of = log.head.parent.zip(log.head.tool_call.as_deref());
                tape.call(TapeCall { run, agent, thread, of, messages: &messages })?;
                self.has_begun = true;
            }
            "request" => {
                self.flush(tape, run, FinishReason::Stop)?;
                self.model = whole::<Asked>(data)?.model;
                tape.round(run);
            }
            "model_request" => {
                let written: WrittenRequest = whole(data)?;
                let (number, (last, before)) = (written.number, &self.request);
                let request = written.after((*last, before)).ok_or(NotTaped::Hidden)?;
                self.request = (number, request);
                self.began = Some(ts);
            }
            "model_started" if self.began.is_none() => return Err(NotTaped::NoRequests),
            "model_finished" | "model_failed" => self.attempted(ts, &whole(data)?)?,
            "reasoned" | "summarized" => self.said(&whole(data)?)?,
            "tool_started" => {
                self.flush(tape, run, FinishReason::Stop)?;
                let call: ToolUse = whole(data)?;
                let (_, starts) =
                    self.calls.entry(call.id.clone()).or_insert_with(|| (call, Vec::new()));
                starts.push((tape.start_tool(run), ts));
            }
            "tool_finished" => self.tool_finished(tape, run, ts, &whole(data)?)?,
            Label::HOOK => decided(tape, run, &whole(data)?)?,
            "finished" => self.reply = Some(whole(data)?),
            "settled" => {
                if !self.has_begun {
                    return Err(NotTaped::NotBegun);
                }
                let Ended { outcome, reason } = whole(data)?;
                let finish = match reason {
                    Some(GenerateReason::Length) => FinishReason::Length,
                    Some(GenerateReason::ContentFilter) => FinishReason::ContentFilter,
                    _ => FinishReason::Stop,
                };
                self.flush(tape, run, finish)?;
                tape.end(run, &outcome, None, self.reply.as_ref())?;
                self.has_ended = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn attempted(&mut self, ts: u64, attempt: &Attempt) -> Result<(), NotTaped> {
        let began = self.began.take().ok_or(NotTaped::NoRequests)?;
        self.attempts.push(Attempted {
            request: self.request.1.clone(),
            took: since(began, ts),
            usage: attempt.usage.unwrap_or_default(),
            said: attempt.kind.is_some().then(|| attempt.failed(&self.model)),
        });
        Ok(())
    }

    /// Notes what the model said. Without an attempt a hook said it.
    fn said(&mut self, msg: &Msg) -> Result<(), NotTaped> {
        match self.attempts.last_mut() {
            Some(attempt) => {
                attempt.said = Some(msg.content.iter().flat_map(chunks_of).map(Ok).collect());
                Ok(())
            }
            None if msg.reason.is_some() => Ok(()),
            None => Err(NotTaped::NoAnswer),
        }
    }

    /// Adds the answer of the round. Where a hook tried again until there was one, the attempts before it are left out:
    /// a replay goes on with the answer.
    fn flush(
        &mut self,
        tape: &mut TapeText,
        run: RunId,
        finish: FinishReason,
    ) -> Result<(), NotTaped> {
        let mut attempts = std::mem::take(&mut self.attempts);
        let has_failed = |it: &Attempted| it.said.iter().flatten().any(Result::is_err);
        if attempts.last().is_some_and(|last| !has_failed(last)) {
            attempts.drain(..attempts.len() - 1);
        }
        for Attempted { request, took, usage, said } in attempts {
            let mut said = said.ok_or(NotTaped::NoAnswer)?;
            if said.iter().all(Result::is_ok) && !said.is_empty() {
                let calls = said.iter().any(|chunk| matches!(chunk, Ok(ChatChunk::ToolUse(_))));
                let finish = match finish {
                    FinishReason::Stop if calls => FinishReason::ToolCalls,
                    finish => finish,
                };
                said.push(Ok(ChatChunk::End { usage, finish }));
            }
            tape.model(run, &self.model, &request, &said, took)?;
        }
        Ok(())
    }

    /// Adds a tool that ran: each time that it started if all of them failed, else the last one. One that was refused
    /// did not start.
    fn tool_finished(
        &mut self,
        tape: &mut TapeText,
        run: RunId,
        ts: u64,
        result: &ToolResult,
    ) -> Result<(), NotTaped> {
        let Some((call, mut starts)) = self.calls.remove(&result.id) else { return Ok(()) };
        if !result.is_error {
            starts.drain(..starts.len().saturating_sub(1));
        }
        for (number, began) in starts {
            tape.tool(run, number, &call, result, since(began, ts))?;
        }
        Ok(())
    }
}

impl Attempt {
    /// Returns how an attempt failed. One that was cancelled has no end.
    fn failed(&self, model: &str) -> Vec<Result<ChatChunk, ModelError>> {
        let kind = self.kind.as_deref().unwrap_or_default();
        if kind == "cancelled" {
            return Vec::new();
        }
        let model = self.model.as_deref().unwrap_or(model);
        let reason = self.text.as_deref().unwrap_or("the text of the error is not kept");
        let error = json!({
            "type": kind,
            "model": model,
            "status": self.status,
            "endpoint": "",
            "reason": reason,
            "limit": 0,
        });
        let error = serde_json::from_value(error);
        vec![Err(error.unwrap_or_else(|_| ModelError::Failed {
            model: model.to_owned(),
            reason: reason.to_owned(),
        }))]
    }
}

/// Adds what a hook decided or changed. What one that redacts changed is not on a tape; nor is what one changed of an
/// answer or a result, which the tape has as hooks left it.
fn decided(tape: &mut TapeText, run: RunId, hook: &HookRun) -> Result<(), TapeError> {
    let HookRun { hook, event, flow, changed, shadow, role, tool_call } = hook;
    let goes_on = flow == "continue";
    let redacts = role.as_deref() == Some("redacts");
    let tries_again = matches!(event.as_str(), "MODEL_CALL" | "TOOL_CALL") && flow == "recover";
    let is_after = matches!(event.as_str(), "POST_REASONING" | "POST_SUMMARY" | "POST_ACTING");
    let is_no_decision = goes_on && (redacts || is_after || changed.is_empty());
    if *shadow || event == "SETTLED" || tries_again || is_no_decision {
        return Ok(());
    }
    let changed = if redacts || is_after { &[][..] } else { changed };
    let changed: Vec<_> = changed.iter().map(|it| it.path.as_str()).collect();
    tape.decision(run, (hook, event, tool_call.as_deref()), flow, &changed)
}

fn chunks_of(block: &ContentBlock) -> Vec<ChatChunk> {
    match block.clone() {
        ContentBlock::Text { text } => vec![ChatChunk::Text(text)],
        ContentBlock::Thinking { thinking, signature } => {
            let signature = signature.map(ChatChunk::Signature);
            [ChatChunk::Thinking(thinking)].into_iter().chain(signature).collect()
        }
        ContentBlock::RedactedThinking { data } => vec![ChatChunk::RedactedThinking(data)],
        ContentBlock::ToolUse(call) => vec![ChatChunk::ToolUse(call)],
        // A model answers with text, thoughts and tool calls.
        _ => Vec::new(),
    }
}

fn since(began: u64, ended: u64) -> Duration {
    Duration::from_millis(ended.saturating_sub(began))
}

fn whole<T: DeserializeOwned>(data: Packed<'_>) -> Result<T, NotTaped> {
    data.read().ok_or(NotTaped::Hidden)
}
