//! Hooks whose order or settings defeat them.

use std::fmt;

use crate::hook_order::{OrderFault, arrange};
use crate::hook_type::{HookType, Phase};
use crate::plan::hook_plan::{HookPlan, PlannedHook};
use crate::printable::printable;
use crate::registry::order;
use crate::role::HookRole;

/// Two hooks whose order defeats one of them, or one hook whose settings do. `Display` says what to change.
#[derive(Clone, Debug)]
pub struct PlanWarning {
    first: PlannedHook,
    second: PlannedHook,
    kind: Kind,
    /// The hook types at which they meet.
    hook_types: Vec<HookType>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    ObservesUnredacted,
    LimitsOnce,
    AnswersUnguarded,
    /// What the registration says.
    Own(String),
    /// Calls fail with it.
    Misordered(OrderFault),
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

    /// Returns the hook that runs later, or further in; the same as the first, if its settings defeat it.
    #[must_use]
    pub fn second(&self) -> &PlannedHook {
        &self.second
    }
}

impl HookPlan {
    /// Returns what is wrong with the [order](crate::HookOrder) that hooks ask for, which fails calls, then the pairs
    /// of hooks whose order defeats one of them, by the
    /// [roles](crate::HookOptions::role) that their registrations name, whatever their levels, and what
    /// [registrations](crate::HookOptions::warnings) warn of. Hooks that
    /// meet at several hook types, as event hooks do, are one warning.
    ///
    /// | warning | hook types |
    /// |---|---|
    /// | a hook observes content before another one redacts it | of one hook type, except around |
    /// | a hook counts a call once that another one repeats | pre and around of one method |
    /// | a hook [may answer](PlannedHook::may_answer), so that one after it that guards, redacts or asks does not run | pre, and pre or around, or both around, of one method |
    ///
    /// What a hook that guards, limits or redacts answers is a refusal, so it may answer before the others.
    /// A hook around a call may answer, unless its [options](crate::HookOptions::answers) deny it.
    ///
    /// The advice depends on what decides the order: the phase, the level, then the type that the hook is
    /// registered for, then the priority.
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
        let mut warnings = Vec::new();
        self.add_misordered(&mut warnings);
        for (index, first) in self.hooks().iter().enumerate() {
            for own in first.own_warnings() {
                add(&mut warnings, first, first, Kind::Own(own.clone()));
            }
            for second in &self.hooks()[index + 1..] {
                if let Some(kind) = conflict(first, second) {
                    add(&mut warnings, first, second, kind);
                }
            }
        }
        warnings
    }
}

impl HookPlan {
    /// Returns what is wrong with the [order](crate::HookOrder) that hooks ask for: calls of these hook types fail. It is
    /// among the [warnings](Self::warnings) too.
    #[must_use]
    pub fn order_faults(&self) -> Vec<(HookType, OrderFault)> {
        let mut warnings = Vec::new();
        self.add_misordered(&mut warnings);
        let faults = warnings.into_iter().filter_map(|warning| match warning.kind {
            Kind::Misordered(fault) => Some((warning.first.hook_type().clone(), fault)),
            _ => None,
        });
        faults.collect()
    }

    /// Adds what is wrong with the order that hooks ask for.
    fn add_misordered(&self, warnings: &mut Vec<PlanWarning>) {
        let is_one_type =
            |one: &PlannedHook, other: &PlannedHook| one.hook_type() == other.hook_type();
        for hooks in self.hooks().chunk_by(is_one_type) {
            if hooks.iter().all(|hook| hook.order().is_none()) {
                continue;
            }
            let place = |hook: &PlannedHook| (hook.level(), hook.rank());
            let groups: Vec<_> = hooks.chunk_by(|one, other| place(one) == place(other)).collect();
            let has = |group: usize, name: &str| groups[group].iter().any(|it| it.name() == name);
            for (group, hooks) in groups.iter().enumerate() {
                let named: Vec<_> =
                    hooks.iter().map(|hook| hook.registration().named_order()).collect();
                if let Err(fault) = arrange(&named) {
                    add(warnings, &hooks[0], &hooks[0], Kind::Misordered(fault));
                }
                for hook in *hooks {
                    let fault = order::fault_of(hook.registration(), group, groups.len(), has);
                    if let Some(fault) = fault {
                        add(warnings, hook, hook, Kind::Misordered(fault));
                    }
                }
            }
        }
    }
}

/// Adds a warning, or the hook type to the same warning at another one.
fn add(warnings: &mut Vec<PlanWarning>, first: &PlannedHook, second: &PlannedHook, kind: Kind) {
    let hook_type = first.hook_type().clone();
    let known = warnings.iter_mut().find(|known| {
        known.kind == kind && is_same(&known.first, first) && is_same(&known.second, second)
    });
    match known {
        Some(known) if known.hook_types.contains(&hook_type) => {}
        Some(known) => known.hook_types.push(hook_type),
        None => {
            let (first, second) = (first.clone(), second.clone());
            warnings.push(PlanWarning { first, second, kind, hook_types: vec![hook_type] });
        }
    }
}

/// Returns whether they are registrations of one hook.
fn is_same(one: &PlannedHook, other: &PlannedHook) -> bool {
    one.name() == other.name() && one.group() == other.group()
}

/// Returns what is wrong with the order of two hooks, of which the first one runs first.
fn conflict(first: &PlannedHook, second: &PlannedHook) -> Option<Kind> {
    let (outer, inner) = (first.hook_type(), second.hook_type());
    let is_one_method = outer.method() == inner.method();
    match (first.role(), second.role()?) {
        (Some(HookRole::Observes), HookRole::Redacts)
            if outer == inner && outer.phase() != Phase::Around =>
        {
            Some(Kind::ObservesUnredacted)
        }
        (Some(HookRole::Limits), HookRole::Retries)
            if is_one_method
                && matches!(outer.phase(), Phase::Pre | Phase::Around)
                && inner.phase() == Phase::Around =>
        {
            Some(Kind::LimitsOnce)
        }
        // What these answer is a refusal.
        (Some(HookRole::Guards | HookRole::Limits | HookRole::Redacts), _) => None,
        (_, HookRole::Guards | HookRole::Redacts | HookRole::Asks)
            if first.may_answer()
                && is_one_method
                && skips(outer.phase(), inner.phase())
                && !is_same(first, second) =>
        {
            Some(Kind::AnswersUnguarded)
        }
        _ => None,
    }
}

/// Returns whether hooks of the inner phase do not run if one of the outer phase answers.
fn skips(outer: Phase, inner: Phase) -> bool {
    match outer {
        Phase::Pre => matches!(inner, Phase::Pre | Phase::Around),
        Phase::Around => inner == Phase::Around,
        _ => false,
    }
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, kind, hook_types } = self;
        let (outer, inner) = (printable(first.name()), printable(second.name()));
        if let Kind::Own(warning) = kind {
            return write!(f, "`{outer}`: {warning}");
        }
        if let Kind::Misordered(fault) = kind {
            return write!(f, "calls of {} fail: {fault}", list(hook_types));
        }
        write!(f, "`{outer}` (priority {}) ", first.priority())?;
        match kind {
            Kind::Own(_) | Kind::Misordered(_) => Ok(()),
            Kind::ObservesUnredacted => write!(
                f,
                "observes {} before `{inner}` (priority {}) redacts it: ",
                list(hook_types),
                second.priority(),
            ),
            Kind::LimitsOnce => write!(
                f,
                "counts a call of {} once that `{inner}` (priority {}) repeats: ",
                first.hook_type().method(),
                second.priority(),
            ),
            Kind::AnswersUnguarded => write!(
                f,
                "may answer at {}, and `{inner}` (priority {}) does not run then: ",
                list(hook_types),
                second.priority(),
            ),
        }?;
        self.advise(f)
    }
}

impl PlanWarning {
    /// Writes what turns the order of the hooks round: all that decides it, except the priority.
    fn advise(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, kind, .. } = self;
        let (outer, inner) = (printable(first.name()), printable(second.name()));
        let (mut causes, mut cures) = (Vec::new(), Vec::new());
        if first.hook_type().phase() != second.hook_type().phase() {
            causes.push("pre hooks run before hooks around the call");
            let around = format!("make a hook around the call of `{outer}`");
            cures.push(match kind {
                Kind::AnswersUnguarded => format!("{around}, or a pre hook of `{inner}`"),
                _ => around,
            });
        }
        if first.level() < second.level() {
            causes.push("hooks of an instance run before hooks of its class");
            cures.push(format!("register `{inner}` on the instance, or `{outer}` for the class"));
        }
        if first.rank() < second.rank() {
            causes.push("hooks of a type run before hooks of its traits");
            cures.push("register both for one of them".to_owned());
        }
        if !causes.is_empty() {
            let (causes, cures) = (causes.join(", "), cures.join(", "));
            write!(f, "{causes}, whatever their priorities: {cures}, and ")?;
        }
        write!(f, "give `{outer}` the higher priority")
    }
}

/// Returns the hook types as a list.
fn list(hook_types: &[HookType]) -> String {
    let names: Vec<_> = hook_types.iter().map(ToString::to_string).collect();
    names.join(", ")
}
