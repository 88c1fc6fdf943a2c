//! Hooks whose order defeats them.

use std::fmt;

use crate::hook::options::role::HookRole;
use crate::hook_type::{HookType, Phase};
use crate::plan::hook_plan::{HookPlan, PlannedHook};

/// Two hooks whose order defeats one of them. `Display` says what to change.
#[derive(Clone, Debug)]
pub struct PlanWarning {
    first: PlannedHook,
    second: PlannedHook,
    kind: Kind,
    /// The hook types at which they meet.
    hook_types: Vec<HookType>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    ObservesUnredacted,
    LimitsOnce,
}

impl PlanWarning {
    /// Returns the hook that runs first, or further out.
    #[must_use]
    pub fn first(&self) -> &PlannedHook {
        &self.first
    }

    /// Returns the hook types of the first hook at which they meet.
    #[must_use]
    pub fn hook_types(&self) -> &[HookType] {
        &self.hook_types
    }

    /// Returns the hook that runs later, or further in.
    #[must_use]
    pub fn second(&self) -> &PlannedHook {
        &self.second
    }
}

impl HookPlan {
    /// Returns the pairs of hooks whose order defeats one of them, by the
    /// [roles](crate::HookOptions::role) that their registrations name. Hooks without a role are not
    /// judged. Hooks that meet at several hook types, as event hooks do, are one warning.
    ///
    /// | warning | hook types |
    /// |---|---|
    /// | a hook observes content before another one redacts it | of one hook type, except around |
    /// | a hook counts a call once that another one repeats | pre and around of one method |
    ///
    /// ```
    /// use hooks_core::{HookOptions, HookRole, Hookable, Hooks, hook, hookable};
    ///
    /// #[derive(Hookable, Default)]
    /// struct Greeter {
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Greeter {
    ///     fn reply(&self, name: &str) -> String {
    ///         format!("Hello, {name}")
    ///     }
    /// }
    ///
    /// let greeter = Greeter::default();
    /// let log = HookOptions::named("log").priority(10).role(HookRole::Observes);
    /// let mask = HookOptions::named("mask").priority(20).role(HookRole::Redacts);
    /// greeter.register_instance_hook(
    ///     Greeter::PRE_REPLY,
    ///     log,
    ///     hook!(Greeter::PRE_REPLY, |_, args| println!("{}", args.name)),
    /// );
    /// greeter.register_instance_hook(
    ///     Greeter::PRE_REPLY,
    ///     mask,
    ///     hook!(Greeter::PRE_REPLY, |_, args| args.name = "***".to_owned()),
    /// );
    /// let warnings = greeter.hook_plan().warnings();
    /// assert_eq!(
    ///     warnings[0].to_string(),
    ///     "`log` (priority 10) observes pre_reply before `mask` (priority 20) redacts it: give `log` \
    ///      the higher priority",
    /// );
    /// ```
    #[must_use]
    pub fn warnings(&self) -> Vec<PlanWarning> {
        let mut warnings: Vec<PlanWarning> = Vec::new();
        for (index, first) in self.hooks().iter().enumerate() {
            for second in &self.hooks()[index + 1..] {
                let Some(kind) = conflict(first, second) else { continue };
                let hook_type = first.hook_type().clone();
                let known = warnings.iter_mut().find(|known| {
                    known.kind == kind
                        && is_same(&known.first, first)
                        && is_same(&known.second, second)
                });
                if let Some(known) = known {
                    known.hook_types.push(hook_type);
                    continue;
                }
                let (first, second) = (first.clone(), second.clone());
                warnings.push(PlanWarning { first, second, kind, hook_types: vec![hook_type] });
            }
        }
        warnings
    }
}

/// Returns whether they are registrations of one hook.
fn is_same(one: &PlannedHook, other: &PlannedHook) -> bool {
    one.name() == other.name() && one.group() == other.group()
}

/// Returns what is wrong with the order of two hooks, of which the first one runs first.
fn conflict(first: &PlannedHook, second: &PlannedHook) -> Option<Kind> {
    let (outer, inner) = (first.hook_type(), second.hook_type());
    match (first.role()?, second.role()?) {
        (HookRole::Observes, HookRole::Redacts)
            if outer == inner && outer.phase() != Phase::Around =>
        {
            Some(Kind::ObservesUnredacted)
        }
        (HookRole::Limits, HookRole::Retries)
            if outer.method() == inner.method()
                && matches!(outer.phase(), Phase::Pre | Phase::Around)
                && inner.phase() == Phase::Around =>
        {
            Some(Kind::LimitsOnce)
        }
        _ => None,
    }
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, kind, .. } = self;
        let (outer, inner) = (first.name(), second.name());
        write!(f, "`{outer}` (priority {}) ", first.priority())?;
        match kind {
            Kind::ObservesUnredacted => write!(
                f,
                "observes {} before `{inner}` (priority {}) redacts it: give `{outer}` the higher \
                 priority",
                list(&self.hook_types),
                second.priority(),
            ),
            Kind::LimitsOnce => write!(
                f,
                "counts a call of {} once that `{inner}` (priority {}) repeats: give `{outer}` the \
                 higher priority",
                first.hook_type().method(),
                second.priority(),
            ),
        }
    }
}

/// Returns the hook types as a list.
fn list(hook_types: &[HookType]) -> String {
    let names: Vec<_> = hook_types.iter().map(ToString::to_string).collect();
    names.join(", ")
}
