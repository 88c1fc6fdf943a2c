//! The order of the hooks of an agent, which limits the content that may be shown.

use hooks_agent_core::hook::priority;
use hooks_core::plan::PlannedHook;
use hooks_core::{HookPlan, HookRole, Phase};

/// The default name of the studio's hook, by which the order of hooks is judged.
pub(super) const NAME: &str = "Studio";

/// What the order of the hooks of an agent means for what may be shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// A redactor runs after the studio, so the studio receives text that is removed later.
    pub(super) is_unredacted: bool,
    /// A redactor changes what a model is asked after the studio has seen it.
    pub(super) is_request_unredacted: bool,
    /// Hooks see an answer after its chunks were shown, and nothing says that they only look.
    pub(super) reviews_answers: bool,
}

impl Order {
    /// Reads the plan of an agent. `name` is that of the studio's hook; if it was given another one, the
    /// first observer stands for it.
    pub(super) fn of(plan: &HookPlan, name: &str) -> Self {
        let mut order = Self::default();
        let is_around_model = |hook: &&PlannedHook| {
            let hook_type = hook.hook_type();
            hook_type.method() == "model_call" && hook_type.phase() == Phase::Around
        };
        // A redactor of chunks is also around the model call.
        let around: Vec<_> = plan.hooks().iter().filter(is_around_model).collect();
        let rewrites = |hook: &PlannedHook| {
            hook.group().is_some() && around.iter().any(|it| it.group() == hook.group())
        };
        for hooks in plan.hooks().chunk_by(|one, other| one.hook_type() == other.hook_type()) {
            let Some(first) = hooks.first() else { continue };
            let phase = first.hook_type().phase();
            let is_attempt = first.hook_type().method() == "model_attempt";
            if phase == Phase::Around && !is_attempt {
                continue;
            }
            let own = place(hooks, name);
            let later = own.map_or(&[][..], |own| &hooks[own + 1..]);
            let is_unredacted = later.iter().any(|it| it.role() == Some(HookRole::Redacts));
            if phase == Phase::Around {
                order.is_request_unredacted |= is_unredacted;
                continue;
            }
            order.is_unredacted |= is_unredacted;
            let is_answer = matches!(first.hook_type().method(), "reasoning" | "summarizing");
            if phase == Phase::Post && is_answer {
                // Who stands for the studio may run long before it.
                let earlier = named(hooks, name).map_or(hooks, |own| &hooks[..own]);
                order.reviews_answers |= earlier.iter().any(|it| may_change(it, rewrites));
            }
        }
        order
    }
}

impl Order {
    /// Returns what holds if either does.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            is_unredacted: self.is_unredacted || other.is_unredacted,
            is_request_unredacted: self.is_request_unredacted || other.is_request_unredacted,
            reviews_answers: self.reviews_answers || other.reviews_answers,
        }
    }
}

/// Returns whether a redactor of an agent runs after the studio's hook.
pub(crate) fn is_unredacted(plan: &HookPlan) -> bool {
    Order::of(plan, NAME).is_unredacted
}

/// Returns the place of the studio, or else that of the first observer.
fn place(hooks: &[PlannedHook], name: &str) -> Option<usize> {
    named(hooks, name).or_else(|| hooks.iter().position(is_observer))
}

fn named(hooks: &[PlannedHook], name: &str) -> Option<usize> {
    hooks.iter().position(|hook| is_observer(hook) && hook.name() == name)
}

fn is_observer(hook: &PlannedHook) -> bool {
    hook.role() == Some(HookRole::Observes)
}

/// Returns whether a hook may change an answer in a way that its chunks do not have: a redactor that
/// does not rewrite them, or a hook that has no role and does not run among those that log and measure.
fn may_change(hook: &PlannedHook, rewrites: impl Fn(&PlannedHook) -> bool) -> bool {
    match hook.role() {
        Some(HookRole::Redacts) => !rewrites(hook),
        Some(_) => false,
        None => hook.priority() < priority::LOGGING,
    }
}
