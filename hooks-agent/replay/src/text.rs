//! Tapes of calls that something else has kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{Messages, Msg, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatChunk, ChatRequest, ModelError};
use serde_json::{Value, json};

use crate::builder::default_finders;
use crate::drift::Decided;
use crate::error::TapeError;
use crate::format::{Chain, chunk_value, error_value};
use crate::recorder::{
    Answered, CallStart, Called, close_line, decision_line, end_line, header_line,
};
use crate::redact::Redactor;
use crate::request::Texts;

/// A tape of calls that something else has kept, such as a studio: each call begins, has its steps in their order, and
/// ends. What a [`Tape`](crate::Tape) finds by default is redacted.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::call::RunId;
/// use hooks_agent::message::{Messages, Msg, Usage};
/// use hooks_agent::model::{ChatChunk, ChatRequest};
/// use hooks_agent::replay::{Recording, TapeCall, TapeText};
///
/// let (run, question) = (RunId::random(), Messages::from(Msg::user("Hello")));
/// let answer = [Ok(ChatChunk::Text("Hi.".into())), Ok(ChatChunk::end(Usage::new(3, 2)))];
///
/// let mut tape = TapeText::new();
/// tape.call(TapeCall { run, agent: "clerk", thread: "ada", of: None, messages: &question })?;
/// tape.round(run);
/// let request = ChatRequest::new(question.clone());
/// tape.model(run, "model-1", &request, &answer, Duration::from_millis(20))?;
/// tape.end(run, "finished", None, Some(&Msg::assistant("clerk", "Hi.")))?;
///
/// let path = std::env::temp_dir().join(format!("kept-{}.tape", std::process::id()));
/// std::fs::write(&path, tape.finish())?;
/// assert_eq!(Recording::read(&path)?.calls()[0].agent(), "clerk");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct TapeText {
    text: String,
    lines: usize,
    chain: Chain,
    redactor: Redactor,
    calls: HashMap<RunId, Call>,
    /// What hooks did in calls that have not begun.
    early: HashMap<RunId, Vec<Decided>>,
}

/// The beginning of a call, for [`TapeText::call`].
#[derive(Clone, Copy, Debug)]
pub struct TapeCall<'a> {
    /// The run.
    pub run: RunId,
    /// The agent.
    pub agent: &'a str,
    /// The thread.
    pub thread: &'a str,
    /// The run whose tool call it serves, and the id of that tool call.
    pub of: Option<(RunId, &'a str)>,
    /// What the caller said.
    pub messages: &'a Messages,
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    /// Its name on the tape.
    run: Arc<str>,
    thread: Arc<str>,
    texts: Texts,
    round: Option<u32>,
    attempts: u32,
    tools: u32,
}

impl TapeText {
    /// Begins a tape.
    #[must_use]
    pub fn new() -> Self {
        Self { redactor: Redactor::new(default_finders()), ..Self::default() }
    }

    /// Begins a call. Steps of a run whose call has not begun are left out; decisions wait until it begins.
    ///
    /// # Errors
    /// [`TapeError::Json`] or [`TapeError::Finder`], as of all of its steps.
    pub fn call(&mut self, call: TapeCall<'_>) -> Result<(), TapeError> {
        let TapeCall { run, agent, thread, of, messages } = call;
        let messages = self.redactor.value(thread, serde_json::to_value(messages)?)?;
        let shown_thread = self.redactor.thread(thread)?;
        let of = of.and_then(|(parent, id)| Some((self.calls.get(&parent)?.run.clone(), id)));
        let (parent, tool_call) = of.unzip();
        let tool_call = tool_call.map(|id| self.redactor.text(thread, id)).transpose()?;
        if self.lines == 0 {
            let (kinds, version) = (self.redactor.kinds(), self.redactor.version());
            self.write(&header_line(agent, &kinds, version));
        }
        let name: Arc<str> = format!("r{}", self.calls.len() + 1).into();
        let start = CallStart {
            run: &name,
            agent,
            thread: &shown_thread,
            parent: parent.as_deref(),
            tool_call: tool_call.as_deref(),
            messages: Some(messages),
            confirmed: Vec::new(),
        };
        self.write(&start.line());
        let (thread, texts) = (thread.into(), Texts::default());
        let begun = Call { run: name, thread, texts, round: None, attempts: 0, tools: 0 };
        self.calls.insert(run, begun);
        for decided in self.early.remove(&run).unwrap_or_default() {
            self.decide(run, decided)?;
        }
        Ok(())
    }

    /// Begins a round of a call.
    pub fn round(&mut self, run: RunId) {
        if let Some(call) = self.calls.get_mut(&run) {
            call.round = Some(call.round.map_or(0, |round| round + 1));
            call.attempts = 0;
        }
    }

    /// Adds an attempt of the round to have an answer: the request, what the model streamed, and how long it took.
    ///
    /// # Errors
    /// As of [`call`](Self::call).
    pub fn model(
        &mut self,
        run: RunId,
        model: &str,
        request: &ChatRequest,
        answer: &[Result<ChatChunk, ModelError>],
        took: Duration,
    ) -> Result<(), TapeError> {
        let Some(call) = self.calls.get_mut(&run) else { return Ok(()) };
        let asked = call.texts.request(&self.redactor, &call.thread, model, request)?;
        let value = |item: &Result<_, _>| match item {
            Ok(chunk) => chunk_value(chunk),
            Err(error) => error_value(error),
        };
        let chunks = answer.iter().map(value).collect::<Result<_, _>>()?;
        let chunks = self.redactor.chunks(&call.thread, chunks)?;
        let request = match &call.texts.written {
            Some((line, before)) => asked.parts.since(*line, before),
            None => asked.parts.whole(),
        };
        let attempt = call.attempts;
        call.attempts += 1;
        let answered = Answered {
            run: &call.run,
            round: call.round.unwrap_or(0),
            attempt,
            asked: &asked,
            provider: None,
            chunks,
            ms: millis(took),
        };
        let line = answered.line(&request);
        call.texts.written = Some((self.lines + 1, asked.parts));
        self.write(&line);
        Ok(())
    }

    /// Counts a tool that starts, and returns its number, for [`tool`](Self::tool).
    pub fn start_tool(&mut self, run: RunId) -> u32 {
        let Some(call) = self.calls.get_mut(&run) else { return 0 };
        call.tools += 1;
        call.tools - 1
    }

    /// Adds a tool that ran: its [number](Self::start_tool), its call, its result, and how long it took.
    ///
    /// # Errors
    /// As of [`call`](Self::call).
    pub fn tool(
        &mut self,
        run: RunId,
        number: u32,
        tool_use: &ToolUse,
        result: &ToolResult,
        took: Duration,
    ) -> Result<(), TapeError> {
        let Some(call) = self.calls.get(&run) else { return Ok(()) };
        let (output, error) = if result.is_error {
            (Value::from(result.output.as_str()), Some(json!("failed")))
        } else {
            (serde_json::to_value(&result.output)?, None)
        };
        let called = Called { run: &call.run, n: number, call: tool_use, ms: millis(took) };
        let line = called.line(&self.redactor, &call.thread, output, error)?;
        self.write(&line);
        Ok(())
    }

    /// Adds what a hook did, also before the call has begun: its name, the event, the id of the tool call if it was
    /// about one, the flow, and the paths of what it changed.
    ///
    /// # Errors
    /// As of [`call`](Self::call).
    pub fn decision(
        &mut self,
        run: RunId,
        (hook, event, tool_call): (&str, &str, Option<&str>),
        flow: &str,
        changed: &[&str],
    ) -> Result<(), TapeError> {
        let decided = Decided {
            hook: hook.to_owned(),
            event: event.to_owned(),
            tool_call: tool_call.map(ToOwned::to_owned),
            flow: flow.to_owned(),
            changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        };
        self.decide(run, decided)
    }

    fn decide(&mut self, run: RunId, mut decided: Decided) -> Result<(), TapeError> {
        let Some(call) = self.calls.get(&run) else {
            self.early.entry(run).or_default().push(decided);
            return Ok(());
        };
        for text in decided.tool_call.iter_mut().chain(&mut decided.changed) {
            *text = self.redactor.text(&call.thread, text)?;
        }
        let line = decision_line(&call.run, &decided);
        self.write(&line);
        Ok(())
    }

    /// Ends a call: the outcome by its [name](hooks_agent_core::agent::CallOutcome::name), the error, the reply. Without
    /// an error, any error of a replay matches. A tape with a call that has no end cannot be read.
    ///
    /// # Errors
    /// As of [`call`](Self::call).
    pub fn end(
        &mut self,
        run: RunId,
        outcome: &str,
        error: Option<&str>,
        reply: Option<&Msg>,
    ) -> Result<(), TapeError> {
        let Some(call) = self.calls.get(&run) else { return Ok(()) };
        let error = error.map(|error| self.redactor.text(&call.thread, error)).transpose()?;
        let reply = reply.map(|reply| reply_value(&self.redactor, &call.thread, reply));
        let line = end_line(&call.run, outcome, error.as_deref(), reply.transpose()?);
        self.write(&line);
        Ok(())
    }

    /// Returns the tape, as its file has it.
    #[must_use]
    pub fn finish(mut self) -> String {
        if self.lines == 0 {
            let (kinds, version) = (self.redactor.kinds(), self.redactor.version());
            self.write(&header_line("", &kinds, version));
        }
        let close = close_line(self.lines);
        self.write(&close);
        self.text
    }

    fn write(&mut self, line: &str) {
        let sealed = self.chain.seal(line);
        self.text.push_str(&sealed);
        self.lines += 1;
    }
}

/// Returns a reply as a tape has it.
pub(crate) fn reply_value(
    redactor: &Redactor,
    scope: &str,
    reply: &Msg,
) -> Result<Value, TapeError> {
    let mut reply = serde_json::to_value(reply)?;
    if let Some(fields) = reply.as_object_mut() {
        fields.remove("metadata");
    }
    redactor.value(scope, reply)
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
