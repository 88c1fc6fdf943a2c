//! Refuses agents whose hooks change text after its last verdict.

use hooks_core::plan::PlannedHook;
use hooks_core::{HookGroup, HookPlan, HookRole, Phase};

use crate::host::interceptors::{Interceptors, Output};

/// Returns why a verdict of the interceptors would not be the last word about text of an agent, if it would not.
pub(super) fn fault(plan: &HookPlan, own: HookGroup, output: Output) -> Option<String> {
    let around = |method: &'static str| {
        let is_there = move |hook: &&PlannedHook| {
            hook.hook_type().method() == method && hook.hook_type().phase() == Phase::Around
        };
        plan.hooks().iter().filter(is_there)
    };
    // What runs before and after a method is outside of all that is around it.
    let mut beside = plan.hooks().iter().filter(|hook| {
        let kind = hook.hook_type();
        kind.phase() != Phase::Around && ["whole_call", "model_attempt"].contains(&kind.method())
    });
    if let Some(hook) = beside.find(|hook| may_rewrite(hook)) {
        return Some(format!(
            "`{}` runs before or after `{}`, where it may change what a verdict was about: say by its `role` that it only \
             looks, or remove it",
            hook.name(),
            hook.hook_type().method(),
        ));
    }
    let is_own = |hook: &PlannedHook| hook.group() == Some(own);
    // A reply, and the messages of the caller.
    let mut outside = around("whole_call").take_while(|hook| !is_own(hook));
    if let Some(hook) = outside.find(|hook| may_rewrite(hook)) {
        return Some(format!(
            "`{}` is outside of it around whole calls, where it may change a reply after the verdict about it: give it a \
             priority above {}",
            hook.name(),
            Interceptors::PRIORITY,
        ));
    }
    // A request is sent, and an answer comes, right inside of the hook.
    let mut attempts = around("model_attempt");
    if let Some(hook) = attempts.find(|hook| !is_own(hook) && may_rewrite(hook)) {
        return Some(format!(
            "`{}` is around attempts too, where it may change what a verdict was about: have it run around model calls, \
             or say by its `role` that it only looks",
            hook.name(),
        ));
    }
    if output == Output::Buffered {
        return None;
    }
    // Text is sent to the caller as it comes out of the hooks around the model call.
    let redacts = |hook: &&PlannedHook| hook.role() == Some(HookRole::Redacts);
    let rewrites = around("model_call").find(redacts)?;
    Some(format!(
        "`{}` rewrites streamed text after the verdict about it, so it needs `Output::Buffered`",
        rewrites.name(),
    ))
}

/// Returns whether a hook may change content: a redactor, or one that says nothing of itself.
fn may_rewrite(hook: &PlannedHook) -> bool {
    matches!(hook.role(), None | Some(HookRole::Redacts))
}
