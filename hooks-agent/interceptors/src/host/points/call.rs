//! A whole call: start, input, output and end of its session.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

use agent_hooks::InterceptionPoint;
use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{AgentCall, NextCall};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolOutput, ToolResult,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::context::message::{input_back, input_of, remove_thinking, thinking_of};
use crate::context::output::{output_back, output_of, text_of};
use crate::host::blocked::Blocked;
use crate::host::emission::{At, DROPPED};
use crate::host::held::Held;
use crate::host::interceptors::Host;
use crate::host::people::{self, Decided};
use crate::host::session::Session;

/// What stands in memory for a reply that was withheld.
const WITHHELD: &str = "[the reply was withheld]";

/// Why a call without a runtime fails.
const NO_RUNTIME: &str = "interceptors need a runtime of tokio that has timers, for their time limits: call the agent inside of \
                          one, with `enable_time` if it is built by hand";

/// Returns the runtime of the call, if it has timers.
fn runtime() -> Option<Handle> {
    let runtime = Handle::try_current().ok()?;
    // Without them it panics.
    let timer = catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO)));
    timer.is_ok().then_some(runtime)
}

impl Host {
    /// Runs a call as a session.
    pub(crate) async fn run_call(
        self: Arc<Self>,
        session: Arc<Session>,
        call: AgentCall<'_>,
        next: NextCall<'_>,
    ) -> Result<Msg, AgentError> {
        let Some(runtime) = runtime() else {
            if self.is_enforcing() {
                return Err(next.fail(NO_RUNTIME));
            }
            tracing::error!(target: "hooks_agent::interceptors", "{NO_RUNTIME}");
            session.end();
            return next.run(call.into_messages()).await;
        };
        let cx = call.context().clone();
        let host = self.clone();
        let shutdown = Shutdown { host: self, session, cx, runtime: Some(runtime) };
        let at = At { host: &host, session: &shutdown.session, cx: &shutdown.cx };
        let ended = at.run(call, next).await;
        let reason = match &ended {
            Ok(reply) if reply.reason == Some(GenerateReason::Interrupted) => "cancelled",
            Ok(_) => "completed",
            Err(AgentError::Interrupted) => "cancelled",
            Err(_) => "error",
        };
        shutdown.end(reason).await;
        ended
    }
}

impl At<'_> {
    async fn run(self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
        if self.host.is_enforcing() {
            self.cx.hold_answers();
        }
        self.start(call.agent()).await.map_err(|blocked| next.fail(blocked))?;
        let messages = call.into_messages();
        let goes_on = messages.is_empty();
        let messages = self.input(messages).await.map_err(|blocked| next.fail(blocked))?;
        let before = self.cx.memory().map(|memory| memory.messages()).unwrap_or_default();
        let mut reviewed = Reviewed { cx: self.cx, before, is_open: self.host.is_enforcing() };
        let held = (self.host.is_enforcing() && self.cx.has_stream()).then(|| {
            let covered = self.session.covered.clone();
            Arc::new(Held::new(self.cx.run_id(), self.host.output, covered))
        });
        let mut reply = match &held {
            Some(held) => {
                self.session.set_held(held.clone());
                let held = held.clone();
                next.run_with_events(messages, move |event| held.pass(event)).await?
            }
            None => next.run(messages).await?,
        };
        for kept in people::given_up(self.cx) {
            // People rejected it, or the conversation went on without it.
            let decided = if goes_on { Decided::Reject } else { Decided::Nothing };
            if let Some(kept) = people::take(self.cx, &kept.id)
                && let Ok(Ok(_)) = self.complete(kept, decided).await
            {
                // The interceptors permit it by now, and it did not run: this is the other point of the pair.
                self.fail(InterceptionPoint::PostToolCall, DROPPED);
            }
        }
        let said = reply.clone();
        match self.output(&mut reply).await {
            Ok(is_changed) => {
                reviewed.is_open = false;
                if is_changed {
                    reviewed.replace(Some(&said), &reply.content);
                }
                if let Some(held) = &held {
                    for event in held.release(&reply) {
                        self.cx.send_event(event).await;
                    }
                }
                Ok(reply)
            }
            Err(blocked) => {
                reviewed.is_open = false;
                reviewed.replace(Some(&said), &[ContentBlock::text(WITHHELD)]);
                Err(next.fail(blocked))
            }
        }
    }

    /// Asks about the start.
    async fn start(self, agent: &dyn Agent) -> Result<(), Blocked> {
        let mut tools = agent.tool_names(false).unwrap_or_default();
        tools.sort();
        let init = json!({ "tools_registered": tools });
        let started = self.ask(InterceptionPoint::AgentStartup, init, |context, init| {
            context.insert("agent_init".to_owned(), init.clone());
        });
        started.await.map(drop)
    }

    /// Asks about the messages of the caller, if there are any.
    async fn input(self, messages: Messages) -> Result<Messages, Blocked> {
        if messages.is_empty() {
            return Ok(messages);
        }
        let changed = self.ask(InterceptionPoint::Input, input_of(&messages), |context, input| {
            context.insert("input".to_owned(), input.clone());
        });
        match changed.await? {
            None => Ok(messages),
            Some(context) => input_back(&context["input"], messages)
                .map_err(|path| self.fail(InterceptionPoint::Input, path)),
        }
    }

    /// Asks about the reply. Returns whether it was changed.
    async fn output(self, reply: &mut Msg) -> Result<bool, Blocked> {
        let thinking = thinking_of(&reply.content);
        let changed = self.ask(InterceptionPoint::Output, output_of(reply), |context, output| {
            context.insert("output".to_owned(), output.clone());
            set_thinking(context, &thinking);
        });
        let Some(context) = changed.await? else { return Ok(false) };
        let is_changed = context["output"] != output_of(reply);
        output_back(&context["output"], reply)
            .map_err(|path| self.fail(InterceptionPoint::Output, path))?;
        Ok(is_changed)
    }
}

/// The reply of a call, in memory, until its verdict. A call that ends without one leaves it withheld.
struct Reviewed<'a> {
    cx: &'a CallContext,
    /// What was there before the call.
    before: Messages,
    is_open: bool,
}

impl Reviewed<'_> {
    /// Replaces what the reply is of: the last answer of this call, or, if a hook has made it of what a tool returned,
    /// that result. `said` is the reply as it was.
    fn replace(&self, said: Option<&Msg>, content: &[ContentBlock]) {
        let Some(memory) = self.cx.memory() else { return };
        let messages = memory.messages();
        let is_old = |msg: &Arc<Msg>| self.before.shared().any(|old| Arc::ptr_eq(old, msg));
        let new: Vec<_> = messages.shared().rev().take_while(|msg| !is_old(msg)).collect();
        let is_answer = |msg: &&&Arc<Msg>| {
            msg.role == Role::Assistant
                && msg.name == self.cx.agent_name()
                && msg.tool_uses().next().is_none()
        };
        let mut is_of_answer = said.is_none();
        if let Some(answer) = new.iter().find(is_answer) {
            is_of_answer |= said.is_some_and(|said| answer.text() == said.text());
            let mut changed = Msg::clone(answer);
            changed.content = content.to_vec();
            remove_thinking(&mut changed.content);
            changed.metadata.clear();
            memory.replace_message(answer, changed);
        }
        let Some(said) = said.filter(|_| !is_of_answer) else { return };
        let (said_text, text) = (said.text(), text_of(content));
        let is_said = |result: &ToolResult| {
            let is_text = !said_text.is_empty() && result.output.as_str() == said_text;
            is_text || said.tool_results().any(|said| said.id == result.id)
        };
        for msg in new.iter().filter(|msg| msg.tool_results().any(is_said)) {
            let mut changed = Msg::clone(msg);
            for block in &mut changed.content {
                if let ContentBlock::ToolResult(result) = block
                    && is_said(result)
                {
                    result.output = ToolOutput::text(text.clone());
                }
            }
            memory.replace_message(msg, changed);
        }
    }
}

impl Drop for Reviewed<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.replace(None, &[ContentBlock::text(WITHHELD)]);
        }
    }
}

/// Adds what can be read of thoughts to the extensions of a context.
pub(crate) fn set_thinking(context: &mut agent_hooks::AgentContext, thinking: &str) {
    if thinking.is_empty() {
        return;
    }
    if let Some(hooks) = context.get_mut("extensions").and_then(|it| it.get_mut("hooks")) {
        hooks["thinking"] = json!(thinking);
    }
}

/// The end of a session, which is reached once, however the call ends: awaited where it can be, else on the runtime of
/// the call.
struct Shutdown {
    host: Arc<Host>,
    session: Arc<Session>,
    cx: CallContext,
    /// Taken when the end is reached.
    runtime: Option<Handle>,
}

impl Shutdown {
    async fn end(mut self, reason: &'static str) {
        // Dropped while it waits, it is still the end: the trail has it as one that was dropped.
        self.runtime = None;
        self.session.end();
        ask_shutdown(&self.host, &self.session, &self.cx, reason).await;
    }
}

impl Drop for Shutdown {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        self.session.end();
        let reason = if std::thread::panicking() { "error" } else { "cancelled" };
        let (host, session, cx) = (self.host.clone(), self.session.clone(), self.cx.clone());
        let mut unasked = Unasked { host, session, cx, is_asked: false };
        runtime.spawn(async move {
            unasked.is_asked = true;
            ask_shutdown(&unasked.host, &unasked.session, &unasked.cx, reason).await;
        });
    }
}

/// The end of a session whose runtime may end before it is asked about.
struct Unasked {
    host: Arc<Host>,
    session: Arc<Session>,
    cx: CallContext,
    is_asked: bool,
}

impl Drop for Unasked {
    fn drop(&mut self) {
        if !self.is_asked {
            let at = At { host: &self.host, session: &self.session, cx: &self.cx };
            at.fail(InterceptionPoint::AgentShutdown, DROPPED);
        }
    }
}

/// Asks about the end. What the interceptors say is recorded.
async fn ask_shutdown(host: &Host, session: &Session, cx: &CallContext, reason: &'static str) {
    let at = At { host, session, cx };
    let summary: Value = json!({ "reason": reason });
    let ended = at.ask(InterceptionPoint::AgentShutdown, summary, |context, summary| {
        context.insert("summary".to_owned(), summary.clone());
    });
    if let Err(blocked) = ended.await {
        tracing::debug!(target: "hooks_agent::interceptors", %blocked, "a shutdown was denied");
    }
}
