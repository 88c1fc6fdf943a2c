//! The options of a hook.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::group::HookGroup;
use crate::hook::entry::Entry;
#[cfg(feature = "timeout")]
use crate::hook::options::policy::Timed;
use crate::hook::options::policy::{
    Fail, FailurePolicy, OnFailure, Unconditional, Unlimited, When,
};
use crate::hook_order::HookOrder;
use crate::hook_type::{HookType, Level};
use crate::point::hook_point::MAX_DEPTH;
use crate::point::hook_slot::HookSlot;
use crate::registry::hooks::Hooks;
use crate::registry::registration::{Attachment, Once, Registration, Source};
use crate::role::HookRole;

/// What a hook is registered with besides its code: a name, a priority, and limits.
///
/// Hooks of lower priority run first; the default is 100. The type parameters are inferred; they
/// let the compiler refuse options that make no sense for a hook type.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_core::{HookError, HookOptions, Hookable, Hooks, Ignore, hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     async fn reply(&self, name: String) -> Result<String, HookError> {
///         Ok(format!("Hello, {name}"))
///     }
/// }
///
/// # #[cfg(feature = "timeout")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let greeter = Greeter::default();
/// greeter.register_instance_hook(
///     Greeter::PRE_REPLY,
///     HookOptions::named("enrich")
///         .priority(10)
///         .timeout(Duration::from_millis(1))
///         .on_failure(Ignore)
///         .when(|_: &Greeter, args: &GreeterReplyArgs| args.name != "Bob"),
///     hook!(Greeter::PRE_REPLY, async |_, args| {
///         args.name.push_str(" and what a slow service knows of her");
///         std::future::pending::<()>().await;
///     }),
/// );
/// // Too slow, so ignored, and the arguments are as they were.
/// assert_eq!(greeter.reply("Ada".to_owned()).await.unwrap(), "Hello, Ada");
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct HookOptions<F = Fail, W = Unconditional, L = Unlimited> {
    name: Arc<str>,
    group: Option<HookGroup>,
    priority: i32,
    order: HookOrder,
    timeout: Option<Duration>,
    once: bool,
    always: bool,
    looks_on: bool,
    role: Option<HookRole>,
    attachment: Option<Attachment>,
    /// `None` as its form says.
    answers: Option<bool>,
    warnings: Arc<[String]>,
    max_depth: usize,
    when: W,
    registered: Option<Source>,
    marker: PhantomData<fn() -> (F, L)>,
}

/// What a hook is registered with: its name, or [`HookOptions`]. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither the name of a hook nor `HookOptions`",
    note = "write a name, `\"audit\"`, or `HookOptions::named(\"audit\").priority(10)`"
)]
pub trait IntoHookOptions: sealed::Named {
    /// What happens when the hook fails.
    type OnFailure;
    /// In which calls it runs.
    type When;
    /// How long it may take.
    type Limit;

    /// The options.
    fn into_hook_options(self) -> HookOptions<Self::OnFailure, Self::When, Self::Limit>;
}

impl<F, W, L> IntoHookOptions for HookOptions<F, W, L> {
    type OnFailure = F;
    type When = W;
    type Limit = L;

    fn into_hook_options(self) -> Self {
        self
    }
}

macro_rules! options_of_a_name {
    ($($name:ty),*) => {$(
        impl IntoHookOptions for $name {
            type OnFailure = Fail;
            type When = Unconditional;
            type Limit = Unlimited;

            fn into_hook_options(self) -> HookOptions {
                HookOptions::named(self)
            }
        }

        impl From<$name> for HookOptions {
            fn from(name: $name) -> Self {
                Self::named(name)
            }
        }

        impl sealed::Named for $name {}
    )*};
}

options_of_a_name!(&str, String, Box<str>, Arc<str>, Cow<'_, str>);

impl HookOptions {
    /// The priority of a hook that names none.
    pub const DEFAULT_PRIORITY: i32 = 100;

    /// Options with everything at its default. The name is what removes or replaces the hook.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            group: None,
            priority: Self::DEFAULT_PRIORITY,
            order: HookOrder::new(),
            timeout: None,
            once: false,
            always: false,
            looks_on: false,
            role: None,
            attachment: None,
            answers: None,
            warnings: Arc::default(),
            max_depth: MAX_DEPTH,
            when: Unconditional,
            registered: None,
            marker: PhantomData,
        }
    }
}

impl<F, W, L> HookOptions<F, W, L> {
    /// Where the hook stands in its level: lower runs first.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// The hook runs before those of this name, whatever their priorities: see [`HookOrder`]. May be said of several.
    pub fn before(self, name: impl Into<Arc<str>>) -> Self {
        Self { order: self.order.before(name), ..self }
    }

    /// The hook runs after those of this name, whatever their priorities: see [`HookOrder`]. May be said of several.
    pub fn after(self, name: impl Into<Arc<str>>) -> Self {
        Self { order: self.order.after(name), ..self }
    }

    /// The hook runs only where one of this name is: see [`HookOrder`]. May be said of several.
    pub fn requires(self, name: impl Into<Arc<str>>) -> Self {
        Self { order: self.order.requires(name), ..self }
    }

    /// Where the hook stands by the names of others, in place of what was said before.
    pub fn order(self, order: HookOrder) -> Self {
        Self { order, ..self }
    }

    /// Makes the hook part of a [group](HookGroup).
    pub fn group(mut self, group: HookGroup) -> Self {
        self.group = Some(group);
        self
    }

    /// The hook runs in the first call that it applies to, then it is removed.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// The hook is never skipped: it also runs in a nested call, one of the same method on the same
    /// instance from inside a call of it, by the body or by a hook. For hooks that guard something.
    ///
    /// A call that goes deeper than [`max_depth`](HookOptions::max_depth) fails with
    /// [`HookError::TooDeep`](crate::HookError::TooDeep); a method that cannot fail panics with the
    /// same text. Of such a call only error and settled hooks run, and not where such hooks made it.
    pub fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// How many calls of the method on the instance may be inside of each other before a hook that
    /// is registered as [`always`](HookOptions::always) refuses one: 128 by default, at least 1. Of
    /// several such hooks the smallest counts.
    ///
    /// Each level takes stack, and more of it the more around hooks it runs: some 10 KiB in a debug
    /// build without any.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth.max(1);
        self
    }

    /// What the hook does to a call, for the [warnings](crate::HookPlan::warnings) of plans.
    pub fn role(mut self, role: impl Into<Option<HookRole>>) -> Self {
        self.role = role.into();
        self
    }

    /// Keeps something with the hook that plans [give back](crate::plan::PlannedHook::attachment): for a library that
    /// looks up what it registered.
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachment = Some(attachment);
        self
    }

    /// Says that the hook changes nothing about the call, so that [`has_hooks`](crate::Hookable::has_hooks) does
    /// not count it. Nobody checks that.
    pub fn looks_on(mut self) -> Self {
        self.looks_on = true;
        self
    }

    /// Whether the hook may answer in place of the call, or end it, for the
    /// [warnings](crate::HookPlan::warnings) of plans; else its form says it: a pre hook that returns
    /// [`ControlFlow`](std::ops::ControlFlow) may.
    pub fn answers(mut self, answers: bool) -> Self {
        self.answers = Some(answers);
        self
    }

    /// What is wrong with the hook, whatever else runs, for the [warnings](crate::HookPlan::warnings) of
    /// plans: whole sentences that say what to change.
    pub fn warnings(mut self, warnings: impl Into<Arc<[String]>>) -> Self {
        self.warnings = warnings.into();
        self
    }

    /// Where plans say that the hook was registered, for a library that registers it for its caller;
    /// else it is the line that registers it.
    pub fn registered_at(self, location: &'static Location<'static>) -> Self {
        self.registered_in(location.file(), location.line())
    }

    /// Where plans say that the hook was registered, for a library that registers what a file of the
    /// user says: the name of the file, and its line, from 1.
    ///
    /// ```
    /// use hooks_core::HookOptions;
    ///
    /// let options = HookOptions::named("audit").registered_in("policy.toml", 3);
    /// # let _ = options;
    /// ```
    pub fn registered_in(mut self, file: impl Into<Cow<'static, str>>, line: u32) -> Self {
        self.registered = Some(Source { file: file.into(), line });
        self
    }

    /// What happens when the hook fails: [`Fail`] or [`Ignore`](crate::Ignore).
    ///
    /// `Ignore` is for pre, post and error hooks, and needs what they change to be `Clone`.
    pub fn on_failure<G: FailurePolicy>(self, _: G) -> HookOptions<G, W, L> {
        self.with(|when| when)
    }

    /// The hook runs in calls that this says yes to: `|agent: &Agent, args: &Args| -> bool`.
    ///
    /// A panic in it unwinds. Not for settled hooks, which have no arguments to look at.
    pub fn when<V>(self, when: V) -> HookOptions<F, V, L> {
        self.with(|_| when)
    }

    /// How long the hook may take. A longer one is dropped and has failed.
    ///
    /// Needs a runtime of tokio with time (`enable_time`): without a runtime the hook fails and does not run;
    /// in one without time the call panics.
    ///
    /// For pre and post hooks of async methods. A sync hook cannot be stopped, so it is not, and the
    /// [warnings](crate::HookPlan::warnings) of the plan say so. Where the method cannot fail, the failure must be ignored: `on_failure(Ignore)`.
    #[cfg(feature = "timeout")]
    pub fn timeout(mut self, timeout: Duration) -> HookOptions<F, W, Timed> {
        self.timeout = Some(timeout);
        self.with(|when| when)
    }

    /// The same options with other types.
    fn with<G, V, M>(self, when: impl FnOnce(W) -> V) -> HookOptions<G, V, M> {
        let Self {
            name,
            group,
            priority,
            order,
            timeout,
            once,
            always,
            looks_on,
            role,
            attachment,
            answers,
            warnings,
            max_depth,
            when: old,
            registered,
            ..
        } = self;
        let (when, marker) = (when(old), PhantomData);
        HookOptions {
            name,
            group,
            priority,
            order,
            timeout,
            once,
            always,
            looks_on,
            role,
            attachment,
            answers,
            warnings,
            max_depth,
            when,
            registered,
            marker,
        }
    }

    /// The name of the hook.
    #[cfg(feature = "json")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The hook with what it is registered with; where, unless the options say so, and how hooks of its type
    /// are taken out that have had their one run.
    pub(crate) fn into_entry<P: HookSlot>(
        self,
        source: Source,
        hook: P::Hook,
        remove_spent: fn(Level, &Hooks),
    ) -> Entry<P>
    where
        F: OnFailure<P>,
        W: When<P>,
    {
        let Self {
            name,
            group,
            priority,
            order,
            timeout,
            once,
            always,
            looks_on,
            role,
            attachment,
            answers,
            warnings,
            max_depth,
            when,
            registered,
            ..
        } = self;
        let (undo, when) = (F::undo(), when.predicate());
        let (is_conditional, is_failure_ignored) = (when.is_some(), undo.is_some());
        let is_limited = timeout.is_some() || once || is_conditional || is_failure_ignored;
        let waits = P::waits(&hook);
        let warnings = match timeout {
            Some(_) if !waits => with_warning(&warnings, SYNC_TIMEOUT),
            _ => warnings,
        };
        let registration = Registration {
            hook_type: HookType::new(P::PHASE, P::METHOD),
            name,
            group,
            priority,
            order: (!order.is_empty()).then(|| Arc::new(order)),
            role,
            attachment,
            may_answer: answers.unwrap_or_else(|| P::may_answer(&hook)),
            warnings,
            source: registered.unwrap_or(source),
            max_depth: always.then_some(max_depth),
            looks_on,
            waits,
            timeout,
            once: once.then(|| Once::new(remove_spent)),
            is_limited,
        };
        Entry { hook, undo, when, is_limited, registration: Arc::new(registration) }
    }
}

fn with_warning(warnings: &[String], warning: &str) -> Arc<[String]> {
    warnings.iter().cloned().chain([warning.to_owned()]).collect()
}

/// What is wrong with a sync hook that has a timeout.
const SYNC_TIMEOUT: &str =
    "its timeout has no effect: only an async hook can be stopped while it waits";

mod sealed {
    pub trait Named {}
    impl<F, W, L> Named for super::HookOptions<F, W, L> {}
}
