//! The steps of a call, each a hook point.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::{Hookable, hookable};

use crate::agent::Agent;
use crate::call::tool::CheckedCall;
use crate::call::{CallContext, Door, RunMode};
use crate::error::AgentError;
use crate::memory::Confirmed;
use crate::message::{Asker, ContentBlock, Messages, Msg, ToolOutput, ToolResult, ToolUse};
use crate::model::{ChatModel, ChatRequest, ModelAnswer};
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::react::compressor::ContextConfig;
use crate::react::run::ask::Answer;
use crate::react::run::batch::cut;
use crate::react::run::decided::CHANGED;
use crate::round::{Acted, ActingInput, Reasoned, ReasoningInput, SummaryInput};
use crate::stream::AgentEventKind;
use crate::tool::{Permission, Tool, ToolError};

#[hookable]
impl ReActAgent {
    /// Runs one round of reasoning: calls the model and reads its answer to the end.
    ///
    /// # Errors
    /// The errors of the model and of hooks.
    #[hook(reentry = "run")]
    pub async fn reasoning(
        &self,
        cx: CallContext,
        input: ReasoningInput,
    ) -> Result<Reasoned, AgentError> {
        let ReasoningInput { model, system, mut messages, tools, options, control, .. } = input;
        if control.is_stopped() || control.jumps_to().is_some() {
            return Ok(Reasoned::skipped(model, control));
        }
        if let Some(system) = system {
            messages.insert(0, system);
        }
        let request = ChatRequest { messages, tools, options };
        let reasoned = self.ask(cx, request, Answer::Reasoning).await?;
        Ok(Reasoned { control, ..reasoned })
    }

    /// Runs one tool call, after its permission check.
    ///
    /// # Errors
    /// The errors of hooks. The failure of a tool becomes a result.
    #[hook(reentry = "run")]
    pub async fn acting(&self, cx: CallContext, input: ActingInput) -> Result<Acted, AgentError> {
        let is_edited = input.is_edited;
        let (id, call, mut control) = input.into_call();
        if let Some(reason) = self.refused_by_mode(&cx, &call) {
            let result = ToolResult::error(&call, reason);
            return Ok(Acted { control, ..Acted::new(call, result) });
        }
        if !control.is_free() {
            return Ok(Acted::waiting(call, control));
        }
        if cx.decision_allows(&call) == Some(false) {
            let result = ToolResult::error(&call, CHANGED);
            return Ok(Acted { control, ..Acted::new(call, result) });
        }
        match self.check_permission(&cx, &call).await? {
            Permission::Allow => {}
            Permission::Ask => {
                control.ask(Asker::permission());
                return Ok(Acted::waiting(call, control));
            }
            Permission::Deny(reason) => {
                let result = ToolResult::error(&call, reason);
                return Ok(Acted { control, ..Acted::new(call, result) });
            }
        }
        cx.checkpoint().await?;
        let key = cx.kept_key(&call.id);
        let reserved = cx.memory().filter(|_| key.is_none()).and_then(|it| it.reserved_as(&id));
        let checked = CheckedCall::new(id.clone(), call.clone(), cx.next_tool_call(), key);
        let checked = Arc::new(checked.reserved_as(reserved));
        let ended = self.tool_call(cx.of_checked(&checked), call.clone()).await;
        let ran = checked.take_ran();
        if matches!(ended, Err(ToolError::Waiting { .. })) && checked.has_reserved() {
            // In a store, its record has the key.
            if let Some(memory) = cx.memory().filter(|_| checked.key().is_none()) {
                memory.keep_reserved(&id, cx.reservation_key(&checked));
            }
        }
        drop(checked);
        let has_run = ran.is_some();
        let result = match ended {
            // What a hook wrote there is of another tool call.
            Ok(result) => ToolResult { ran: None, ..result },
            Err(ToolError::Hook(error)) => return Err(error.into()),
            Err(ToolError::Recorded(report)) => return Err(AgentError::Recorded(report)),
            Err(ToolError::Interrupted) => return Err(AgentError::Interrupted),
            Err(ToolError::ShutDown { .. }) => return Err(cx.shut_down()),
            Err(ToolError::Store(error)) => return Err(error.into()),
            Err(ToolError::Waiting { pending }) => {
                control.wait_below(pending);
                return Ok(Acted::waiting(call, control));
            }
            Err(ToolError::Asks { asker, question, .. }) => {
                control.ask(*asker);
                control.ask_question(Some(question));
                return Ok(Acted::waiting(call, control));
            }
            Err(error) => ToolResult::error(&call, error.to_string()),
        };
        let call = match ran {
            Some(ran) => {
                drop(call);
                ran
            }
            None => call,
        };
        let result = if is_edited && has_run {
            Box::pin(with_edit_notice(&cx, &call, result)).await
        } else {
            result
        };
        Ok(Acted { control, has_run, ..Acted::new(call, result) })
    }

    /// Asks the model for a summary, without tools, when the limit of rounds is reached.
    ///
    /// # Errors
    /// The errors of the model and of hooks.
    #[hook(reentry = "run")]
    pub async fn summarizing(
        &self,
        cx: CallContext,
        input: SummaryInput,
    ) -> Result<Reasoned, AgentError> {
        let SummaryInput { model, system, mut messages, options, control, .. } = input;
        if control.is_stopped() {
            return Ok(Reasoned::skipped(model, control));
        }
        if let Some(system) = system {
            messages.insert(0, system);
        }
        let request = ChatRequest { messages, tools: Arc::default(), options };
        let reasoned = self.ask(cx, request, Answer::Summary).await?;
        Ok(Reasoned { control, ..reasoned })
    }

    /// Sends one request to the model and waits for the first chunk of the answer. Hook it to
    /// retry, to use another model or a cache, or to [rewrite](crate::hook::Rewrite) the stream.
    ///
    /// # Errors
    /// The errors of the model and of hooks.
    #[hook(reentry = "run")]
    pub async fn model_call(
        &self,
        cx: CallContext,
        request: ChatRequest,
    ) -> Result<ModelAnswer, AgentError> {
        cx.begin_step().await?;
        if let Some(recorded) = cx.recorded_answer() {
            return Ok(recorded);
        }
        cx.count_asked();
        if self.has_hooks(Self::AROUND_MODEL_ATTEMPT) {
            // Boxed, so that the future of other calls stays small.
            let model = self.core.model.clone();
            return Box::pin(self.model_attempt(cx, model, request)).await;
        }
        let core = &*self.core;
        Ok(ModelAnswer::ask_known(&*core.model, Some(&core.model_name), request).await?)
    }

    /// Asks a model and waits for the first chunk of its answer: inside of all hooks of
    /// [`model_call`](Self::model_call), for the agent's model and for those that
    /// [hooks ask](crate::hook::NextModel::ask).
    ///
    /// # Errors
    /// The errors of the model and of hooks.
    #[hook(reentry = "run")]
    pub async fn model_attempt(
        &self,
        cx: CallContext,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> Result<ModelAnswer, AgentError> {
        let _ = cx;
        Ok(ModelAnswer::ask_known(&*model, Some(&self.core.model_name), request).await?)
    }

    /// Answers messages: [`reply`](crate::agent::Agent::reply) with its hooks. Hook it to be outside of all of
    /// them. A call by [`AgentExt`](crate::agent::AgentExt) runs it.
    ///
    /// # Errors
    /// The errors of the agent and of hooks.
    #[hook(reentry = "run")]
    pub async fn whole_call(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.reply(cx, messages).await
    }

    /// Runs a tool after its permission check. A tool call that a hook around it changed keeps its
    /// id, and its permission is checked again.
    ///
    /// # Errors
    /// The errors of the tool, including a panic. [`ToolError::Hook`] and [`ToolError::Recorded`] fail
    /// the call of the agent; the model reads the others.
    #[hook(reentry = "run")]
    pub async fn tool_call(
        &self,
        cx: CallContext,
        mut call: Arc<ToolUse>,
    ) -> Result<ToolResult, ToolError> {
        if let Some(checked) = cx.checked().filter(|checked| **checked.id() != *call.id) {
            Arc::make_mut(&mut call).id = checked.id().to_string();
        }
        if let Some(written) = &call.invalid_input {
            let written = cut(written, self.core.limits.arguments).into_owned();
            return Err(ToolError::InvalidInput { tool: call.name.clone(), written });
        }
        let stand_in = cx.checked().and_then(|checked| checked.stand_in());
        let Some(tool) = stand_in.as_ref().or_else(|| self.tool(&call.name)) else {
            let known = self.core.tools.iter().map(|tool| tool.name().to_owned()).collect();
            return Err(ToolError::Unknown { tool: call.name.clone(), known });
        };
        if let Some(reason) = refused_tool(&cx, &**tool) {
            return Err(ToolError::Denied { tool: call.name.clone(), reason });
        }
        let checked = cx.checked();
        if checked.is_some_and(|checked| *checked.call() != call) {
            // Boxed, so that the future of other calls stays small.
            Box::pin(self.check_changed(&cx, &call)).await?;
        }
        if cx.checkpoint().await.is_err() {
            return Err(ToolError::Interrupted);
        }
        let reserved = checked.map_or(Ok(Vec::new()), |checked| checked.admit(&call))?;
        let is_once = !tool.is_idempotent() && !tool.continues();
        if is_once || !reserved.is_empty() {
            let id = checked.map_or(&*call.id, |checked| checked.id());
            cx.commit_start(id, is_once, reserved).await?;
        }
        if let Some(checked) = checked {
            checked.set_ran(call.clone());
            cx.start_tool(checked.id());
        }
        cx.emit(|| AgentEventKind::ToolStarted(ToolUse::clone(&call).without_hidden())).await;
        // Boxed, so that the future of an agent that waits for its model stays small.
        Box::pin(self.watch(&cx, &call, &**tool)).await
    }

    /// Returns whether a tool call may run: the permission of the tool, where a confirmation turns
    /// [`Permission::Ask`] into [`Permission::Allow`]. A tool that panics here denies the call.
    ///
    /// # Errors
    /// The errors of hooks.
    #[hook(reentry = "run")]
    pub async fn check_permission(
        &self,
        cx: &CallContext,
        call: &ToolUse,
    ) -> Result<Permission, AgentError> {
        let permission = self.tool(&call.name).map(|tool| {
            let permission = catch_unwind(AssertUnwindSafe(|| tool.permission(call)));
            let panicked = |_| Permission::Deny(format!("the tool `{}` panicked", call.name));
            permission.unwrap_or_else(panicked)
        });
        Ok(match permission {
            Some(Permission::Ask) if is_confirmed(cx, call) || cx.mode().accepts(&call.name) => {
                Permission::Allow
            }
            // `tool_call` reports an unknown tool.
            permission => permission.unwrap_or_default(),
        })
    }

    /// Compresses the conversation, if the agent has a [compressor](crate::react::CompressContext).
    /// The agent calls it when the [configuration](ContextConfig) requires it, and stores the
    /// result in memory.
    ///
    /// # Errors
    /// [`AgentError::Compression`], and the errors of hooks.
    #[hook(reentry = "run")]
    pub async fn compress_context(
        &self,
        cx: CallContext,
        messages: Messages,
        config: ContextConfig,
        instructions: Option<String>,
    ) -> Result<Messages, AgentError> {
        let _ = cx;
        let Some(compressor) = &self.core.compressor else { return Ok(messages) };
        let compressed = compressor.compress(messages, &config, instructions.as_deref());
        compressed.await.map_err(AgentError::Compression)
    }

    /// Returns the system prompt of a round. Hooks receive the prompt and may change it, in order.
    ///
    /// # Errors
    /// The errors of hooks.
    #[hook(reentry = "run")]
    pub async fn system_prompt(
        &self,
        cx: CallContext,
        prompt: String,
    ) -> Result<String, AgentError> {
        let _ = cx;
        Ok(prompt)
    }

    /// Runs for each chunk of the model's answer.
    #[hook(reentry = "run")]
    pub async fn reasoning_chunk(
        &self,
        cx: &CallContext,
        incremental: &ContentBlock,
        accumulated: &Arc<Msg>,
    ) {
        let _ = (cx, incremental, accumulated);
    }

    /// Runs for each chunk of the summary.
    #[hook(reentry = "run")]
    pub async fn summary_chunk(
        &self,
        cx: &CallContext,
        incremental: &ContentBlock,
        accumulated: &Arc<Msg>,
    ) {
        let _ = (cx, incremental, accumulated);
    }

    /// Runs for each progress report of a tool.
    #[hook(reentry = "run")]
    pub async fn acting_chunk(&self, cx: &CallContext, call: &Arc<ToolUse>, chunk: &str) {
        let _ = (cx, call, chunk);
    }
}

impl ReActAgent {
    /// Asks another model than the agent's.
    pub(in crate::react) async fn attempt(
        &self,
        cx: CallContext,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> Result<ModelAnswer, AgentError> {
        if self.has_hooks(Self::AROUND_MODEL_ATTEMPT) {
            return self.model_attempt(cx, model, request).await;
        }
        Ok(ModelAnswer::ask(&*model, request).await?)
    }

    /// Returns why the tool of a tool call does not run in the mode of the call, if it does not.
    pub(in crate::react) fn refused_by_mode(
        &self,
        cx: &CallContext,
        call: &ToolUse,
    ) -> Option<String> {
        if *cx.mode() != RunMode::Plan {
            return None;
        }
        refused_tool(cx, &**self.tool(&call.name)?)
    }

    /// Checks the permission of a tool call that a hook changed after the check.
    async fn check_changed(&self, cx: &CallContext, call: &ToolUse) -> Result<(), ToolError> {
        if cx.confirmed(&call.id).is_some_and(|confirmed| !allows_after_check(&confirmed, call)) {
            let reason = CHANGED.to_owned();
            return Err(ToolError::Denied { tool: call.name.clone(), reason });
        }
        let reason = match self.check_permission(cx, call).await {
            Ok(Permission::Allow) => return Ok(()),
            Ok(Permission::Deny(reason)) => reason,
            Ok(Permission::Ask) => "the user was not asked about it".to_owned(),
            Err(AgentError::Hook(error)) => return Err(error.into()),
            Err(AgentError::Recorded(report)) => return Err(ToolError::Recorded(report)),
            Err(AgentError::Store(error)) => return Err(error.into()),
            Err(error) => error.to_string(),
        };
        Err(ToolError::Denied { tool: call.name.clone(), reason })
    }
}

/// Returns why a tool does not run in the mode of the call. A tool that runs an agent does: the mode is that of the
/// agent's tools too.
fn refused_tool(cx: &CallContext, tool: &dyn Tool) -> Option<String> {
    if *cx.mode() != RunMode::Plan || (tool as &dyn Any).is::<AgentTool>() {
        return None;
    }
    cx.mode().refuses(tool.name(), tool.known_effect())
}

/// Returns whether a confirmation allows what a hook around a tool call made of it: of a caller that names its id
/// alone, the tool with whatever arguments.
fn allows_after_check(confirmed: &Confirmed, call: &ToolUse) -> bool {
    confirmed.allows(call) || confirmed.is_of_call() && confirmed.edited.is_none()
}

/// Returns whether the user confirmed the tool call: this tool, with the arguments that were shown, if
/// they are known.
fn is_confirmed(cx: &CallContext, call: &ToolUse) -> bool {
    let is_same = cx.checked().is_none_or(|checked| checked.call().name == call.name);
    // Whoever asked: what the tool asks is whether the tool call may run, and nothing else. What is remembered is an
    // answer to those who asked then.
    is_same
        && cx.confirmed(&call.id).is_some_and(|confirmed| {
            let answers = !confirmed.is_remembered() || confirmed.answers_hook(None);
            answers
                && match cx.checked() {
                    Some(_) => allows_after_check(&confirmed, call),
                    None => confirmed.allows(call),
                }
        })
}

/// Begins a result with the arguments that ran in place of the model's, as the guards of the call leave
/// them.
async fn with_edit_notice(cx: &CallContext, call: &ToolUse, mut result: ToolResult) -> ToolResult {
    let mut arguments = ToolOutput::text(call.input.to_string());
    if let Err(blocked) = cx.screen_output(Door::Edit, &call.name, &mut arguments).await {
        arguments = blocked.reason.into();
    }
    let text = result.output.text_mut();
    *text = format!(
        "The user edited this tool call before it ran.\n\nExecuted instead: {} with arguments {}.\n\n\
         Tool response:\n{text}",
        call.name,
        arguments.as_str()
    );
    result
}
