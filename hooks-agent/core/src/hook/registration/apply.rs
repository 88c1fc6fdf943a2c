//! Applies a flow to a call, and handles failures of hooks.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use hooks_core::{HookError, HookResult, Recovery};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::{Decided, EventKind, Flow, HookEvent, Substitute};
use crate::hook::boxed::DynAgentHook;
use crate::hook::watch::Installed;
use crate::message::{GenerateReason, Msg, ToolResult};

/// The failure of a hook that waits at `Settled`.
pub(crate) const WAITS_AT_SETTLED: &str = "the hook waits, which it may not do here";

/// Applies a flow at an event that accepts only `Continue`.
pub(crate) fn no_flow(flow: Flow, kind: EventKind) -> HookResult {
    match flow.decided() {
        None => Ok(()),
        Some(_) => Err(Decided::misplaced(kind)),
    }
}

/// Applies a flow at `PreCall`: an answer replaces the call.
pub(crate) fn answered(flow: Flow) -> HookResult<ControlFlow<Msg>> {
    match flow.decided() {
        None => Ok(ControlFlow::Continue(())),
        Some(Decided::Answer(mut msg)) => {
            msg.reason.get_or_insert(GenerateReason::HookAnswered);
            Ok(ControlFlow::Break(msg))
        }
        Some(_) => Err(Decided::misplaced(EventKind::PreCall)),
    }
}

/// Returns whether error hooks received the error where it happened, so that `ErrorPhase::Call` does
/// not report it again. A failure of a hook of `reply` is another error.
pub(crate) fn was_reported(cx: &CallContext, error: &AgentError) -> bool {
    let is_of_reply = match error {
        AgentError::Hook(
            HookError::Failed { hook_type, .. } | HookError::TimedOut { hook_type, .. },
        ) => hook_type.method() == "reply",
        _ => false,
    };
    cx.is_told() && !is_of_reply
}

/// Applies the flow of an error hook.
pub(crate) fn recover<T>(
    ended: HookResult<Flow>,
    cx: &CallContext,
    fits: impl FnOnce(Substitute) -> HookResult<T>,
) -> Recovery<T> {
    let recovered = match ended.map(Flow::decided) {
        Ok(None) => return Recovery::Fail,
        Ok(Some(Decided::Recover(substitute))) => fits(substitute),
        Ok(Some(_)) => Err(Decided::misplaced(EventKind::Error)),
        Err(failure) => Err(failure),
    };
    match recovered {
        Ok(output) => Recovery::Recover(output),
        Err(failure) => {
            cx.add_hook_failure(failure);
            Recovery::Fail
        }
    }
}

/// Returns the message; a tool result is an error.
pub(crate) fn message_of(substitute: Substitute) -> HookResult<Msg> {
    match substitute {
        Substitute::Message(mut msg) => {
            msg.reason.get_or_insert(GenerateReason::Recovered);
            Ok(msg)
        }
        Substitute::ToolResult(_) => Err("a message saves this phase, not a tool result".into()),
    }
}

/// Returns the tool result; a message is an error.
pub(crate) fn result_of(substitute: Substitute) -> HookResult<ToolResult> {
    match substitute {
        Substitute::ToolResult(result) => Ok(result),
        Substitute::Message(_) => Err("a tool result saves this phase, not a message".into()),
    }
}

/// Runs the hook; returns a panic as an error.
pub(crate) async fn contained(hook: impl Future<Output = HookResult<Flow>>) -> HookResult<Flow> {
    let ended = AssertUnwindSafe(hook).catch_unwind().await;
    ended.unwrap_or_else(|_| Err("the hook panicked".into()))
}

/// Runs the hook; returns a panic as an error.
pub(crate) fn contained_now(hook: impl FnOnce() -> HookResult<Flow>) -> HookResult<Flow> {
    catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(|_| Err("the hook panicked".into()))
}

/// Reports the failure of a hook that does not affect the call.
pub(crate) fn report(ended: HookResult<Flow>, kind: EventKind, hook: &dyn DynAgentHook) {
    if let Err(failure) = ended.and_then(|flow| no_flow(flow, kind)) {
        let error = &*failure as &dyn std::error::Error;
        tracing::warn!(
            target: "hooks_agent::hook",
            hook = hook.name(), event = kind.name(), error, "a hook failed"
        );
    }
}

/// Runs a hook at `Settled`, where it cannot wait.
pub(crate) fn settle_now(installed: &Installed, event: HookEvent<'_>) {
    let hook = &*installed.hook;
    let ended = if hook.sync_events().contains(EventKind::Settled) {
        contained_now(|| installed.run_now(event))
    } else {
        let ended = contained(installed.run(event)).now_or_never();
        ended.unwrap_or_else(|| Err(WAITS_AT_SETTLED.into()))
    };
    report(ended, EventKind::Settled, hook);
}
