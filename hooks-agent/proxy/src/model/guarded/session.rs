//! One conversation of an agent, whose hooks are asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_core::model::{ChatStream, ModelAnswer};
use hooks_agent_guest::{Guard, GuestThread, Screened};
use hooks_agent_policy::command::{HookDecision, Input, Output, PermissionDecision};
use serde_json::{Value, json};

use crate::model::guarded::call::{Call, CallVerdict, ResultVerdict};
use crate::model::guarded::known::Outcome;
use crate::model::guarded::threads::ProxyThreads;

/// Where a thread has what the proxy keeps of it.
const KEPT: &str = "model_proxy";

/// How many conversations of a thread are known to be in the middle of a turn.
const MOST_OPEN: usize = 64;

/// Why a request is not sent: the reason, for who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

/// One conversation of an agent, on a thread that it may share with others.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) guard: Guard,
    threads: Arc<ProxyThreads>,
    /// The id of the thread.
    pub(crate) thread: Arc<str>,
    /// The digest of what the conversation begins with.
    pub(crate) root: Arc<str>,
    /// Whether the thread may know that the conversation is in the middle of a turn.
    is_open: Arc<AtomicBool>,
}

impl Session {
    pub(crate) fn new(
        guard: Guard,
        threads: Arc<ProxyThreads>,
        thread: Arc<str>,
        root: Arc<str>,
    ) -> Self {
        Self { guard, threads, thread, root, is_open: Arc::default() }
    }

    /// Changes the thread of the conversation.
    pub(crate) async fn update<R>(
        &self,
        change: impl AsyncFnOnce(&mut GuestThread) -> R,
    ) -> Result<R, Refused> {
        let updated = self.threads.update(&self.thread, change).await;
        updated.map_err(|reason| Refused(reason.to_owned()))
    }

    /// Returns the input of an event.
    pub(crate) fn input(&self, event: &str) -> Input {
        let mut input = Input::new(event);
        (*self.thread).clone_into(&mut input.session_id);
        input
    }

    /// Returns what hooks make of what the user says. It begins a run, or goes on with one.
    pub(crate) async fn prompt(
        &self,
        thread: &mut GuestThread,
        text: &str,
        begins: bool,
    ) -> Outcome {
        let mut input = self.input("UserPromptSubmit");
        if !begins || !self.begins_turn(thread) {
            // What a sub-agent is told goes on with the run.
            input.agent_id = Some("model".to_owned());
        }
        match self.guard.screen_prompt(&input, thread, text).await {
            Screened::Same => Outcome::Same,
            Screened::Changed(text) => Outcome::Changed(text.into()),
            Screened::Blocked(reason) => Outcome::Blocked(reason.into()),
        }
    }

    /// Returns what hooks make of a text that a tool returned. Blocked is what ends the run.
    pub(crate) async fn returned(
        &self,
        thread: &mut GuestThread,
        call: &Call,
        text: &str,
    ) -> Outcome {
        let output = self.guard.decide(&self.with_result(call, text.into()), thread).await;
        if output.continues == Some(false) {
            return Outcome::Blocked(output.stop_reason.unwrap_or_default().into());
        }
        match verdict_of_result(output) {
            ResultVerdict::Passes => Outcome::Same,
            ResultVerdict::Replaced(Value::String(text)) | ResultVerdict::Withheld(text) => {
                Outcome::Changed(text.into())
            }
            ResultVerdict::Replaced(value) => Outcome::Changed(value.to_string().into()),
        }
    }

    /// Counts a model call, which limits may refuse.
    pub(crate) async fn count(&self, thread: &mut GuestThread) -> Result<(), Refused> {
        let is_open = open_in(thread).iter().any(|root| **root == *self.root);
        self.is_open.store(is_open, Ordering::Relaxed);
        match self.guard.count_model_call(&self.input("Stop"), thread).await {
            Screened::Same => Ok(()),
            Screened::Changed(reason) | Screened::Blocked(reason) => Err(Refused(reason)),
        }
    }

    /// Returns the answer as hooks that redact leave it.
    pub(crate) async fn answer(
        &self,
        thread: &mut GuestThread,
        answer: ChatStream,
    ) -> Result<ModelAnswer, Refused> {
        let input = self.input("Stop");
        self.guard.screen_answer(&input, thread, answer).await.map_err(Refused)
    }

    /// Returns what hooks make of a complete reply.
    pub(crate) async fn reply(&self, text: String) -> Outcome {
        let screen = async |thread: &mut GuestThread| {
            self.guard.screen_reply(&self.input("Stop"), thread, text).await
        };
        match self.update(screen).await {
            Ok(Screened::Same) => Outcome::Same,
            Ok(Screened::Changed(text)) => Outcome::Changed(text.into()),
            Ok(Screened::Blocked(reason)) | Err(Refused(reason)) => Outcome::Blocked(reason.into()),
        }
    }

    /// Decides about a tool call that the model makes. A question is a deny: nobody is asked here.
    pub(crate) async fn call(&self, call: &Call) -> CallVerdict {
        if call.input.is_none() {
            return CallVerdict::Denied("the arguments are no JSON object".to_owned());
        }
        let input = self.with_call("PreToolUse", call);
        self.is_open.store(true, Ordering::Relaxed);
        let decide = async |thread: &mut GuestThread| {
            let mut open = open_in(thread);
            if open.len() < MOST_OPEN && !open.iter().any(|root| **root == *self.root) {
                open.push(self.root.to_string());
                keep_open(thread, &open);
            }
            self.guard.decide(&input, thread).await
        };
        match self.update(decide).await {
            Ok(output) => verdict_of_call(output),
            Err(Refused(reason)) => CallVerdict::Denied(reason),
        }
    }

    /// Returns whether hooks deny a tool that a provider would run, by its name and what the request says of it. What
    /// hooks count does not change.
    pub(crate) async fn denies(&self, thread: &GuestThread, name: &str, of_request: Value) -> bool {
        let input = if of_request.is_object() { of_request } else { json!({}) };
        let call = Call { id: "tool".to_owned(), name: name.to_owned(), input: Some(input) };
        let input = self.with_call("PreToolUse", &call);
        let output = self.guard.decide(&input, &mut thread.clone()).await;
        matches!(verdict_of_call(output), CallVerdict::Denied(_))
    }

    /// Decides about the result of a tool that the provider ran.
    pub(crate) async fn result(&self, call: &Call, result: Value) -> ResultVerdict {
        let input = self.with_result(call, result);
        let decide = async |thread: &mut GuestThread| self.guard.decide(&input, thread).await;
        match self.update(decide).await {
            Ok(output) => verdict_of_result(output),
            Err(Refused(reason)) => ResultVerdict::Withheld(format!("[withheld: {reason}]")),
        }
    }

    /// Notes the end of an answer: without tool calls, the turn of the conversation has ended.
    pub(crate) async fn ended(&self, has_calls: bool) -> Result<(), Refused> {
        if has_calls || !self.is_open.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.update(async |thread: &mut GuestThread| {
            self.close(thread);
        })
        .await
    }

    /// Returns whether a prompt of the conversation begins a turn of the thread: not in the middle of a turn of another
    /// one, as that of a sub-agent. The turn of the conversation before has ended.
    fn begins_turn(&self, thread: &mut GuestThread) -> bool {
        self.close(thread);
        open_in(thread).is_empty()
    }

    /// Ends the turn of the conversation, and those inside of it.
    fn close(&self, thread: &mut GuestThread) {
        let mut open = open_in(thread);
        if let Some(own) = open.iter().position(|root| **root == *self.root) {
            open.truncate(own);
            keep_open(thread, &open);
        }
    }

    fn with_call(&self, event: &str, call: &Call) -> Input {
        let mut input = self.input(event);
        input.tool_name = Some(call.name.clone());
        input.tool_use_id = Some(call.id.clone());
        input.tool_input.clone_from(&call.input);
        input
    }

    fn with_result(&self, call: &Call, result: Value) -> Input {
        let mut input = self.with_call("PostToolUse", call);
        input.tool_response = Some(result);
        input
    }
}

/// Returns the conversations of a thread that are in the middle of a turn, each inside of the one before.
fn open_in(thread: &GuestThread) -> Vec<String> {
    let roots = thread.values.get(KEPT).and_then(|kept| kept.get("open")?.as_array());
    let roots = roots.into_iter().flatten().filter_map(Value::as_str);
    roots.map(str::to_owned).collect()
}

fn keep_open(thread: &mut GuestThread, open: &[String]) {
    if open.is_empty() {
        thread.values.remove(KEPT);
    } else {
        thread.values.insert(KEPT.to_owned(), json!({ "open": open }));
    }
}

fn verdict_of_call(output: Output) -> CallVerdict {
    if output.continues == Some(false) {
        return CallVerdict::Denied(output.stop_reason.unwrap_or_default());
    }
    if output.decision == Some(HookDecision::Block) {
        return CallVerdict::Denied(output.reason.unwrap_or_default());
    }
    let Some(specific) = output.hook_specific_output else { return CallVerdict::Passes };
    match (specific.permission_decision, specific.updated_input) {
        (None | Some(PermissionDecision::Allow), None) => CallVerdict::Passes,
        (None | Some(PermissionDecision::Allow), Some(input)) => {
            CallVerdict::Rewritten(Value::Object(input))
        }
        _ => CallVerdict::Denied(specific.permission_decision_reason.unwrap_or_default()),
    }
}

fn verdict_of_result(output: Output) -> ResultVerdict {
    let replaced = output.hook_specific_output.and_then(|specific| specific.updated_tool_output);
    let is_withheld =
        output.decision == Some(HookDecision::Block) || output.continues == Some(false);
    match (is_withheld, replaced) {
        (false, None) => ResultVerdict::Passes,
        (false, Some(value)) => ResultVerdict::Replaced(value),
        (true, Some(Value::String(text))) => ResultVerdict::Withheld(text),
        (true, _) => ResultVerdict::Withheld("[withheld by a hook]".to_owned()),
    }
}
