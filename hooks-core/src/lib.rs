//! Hooks on the methods of any type: instance and class level, sync and async, nearly free where
//! none is registered.
//!
//! [`#[hookable]`](macro@hookable) turns methods into hook points. Each keeps its signature; a call
//! of it packs its arguments into a struct of named fields, runs the pre hooks, the body and the
//! post hooks. A call that no hook wants goes straight to the body.
//!
//! ```
//! use hooks_core::{Hookable, Hooks, hookable};
//!
//! #[derive(Hookable, Default)]
//! pub struct Assistant {
//!     hooks: Hooks,
//! }
//!
//! #[hookable]
//! impl Assistant {
//!     /// Has the hook types `Assistant::PRE_REPLY` and `Assistant::POST_REPLY`, and the
//!     /// arguments `AssistantReplyArgs { pub question: String }`.
//!     pub fn reply(&self, question: &str) -> String {
//!         format!("{question} - good question!")
//!     }
//! }
//!
//! let assistant = Assistant::default();
//! assistant.register_instance_hook(
//!     Assistant::PRE_REPLY,
//!     "shout",
//!     |_: &Assistant, args: &mut AssistantReplyArgs| args.question.make_ascii_uppercase(),
//! );
//! assert_eq!(assistant.reply("why"), "WHY - good question!");
//! ```
//!
//! # Order
//!
//! A call runs its pre hooks, then the around hooks with the body inside, then the post hooks; if
//! any of these fails, the error hooks; and at the very end, whatever happened, the settled hooks.
//! Post hooks do not run when the body fails; error and settled hooks do.
//!
//! In each phase instance hooks run before class hooks; post hooks are not reversed. On a level the
//! hooks of the type itself run before those of a hookable trait that it implements; of each, lower
//! priorities run first and equal ones in the order of registration. The first around hook is
//! the outermost; a call has at most 256 of them.
//!
//! A call runs the hooks that were there when it started, in every phase. What its own hooks or its
//! body register or remove counts from the next call on.
//!
//! # What a hook looks like
//!
//! A function or closure of the agent and its arguments, or a type; [one page](guide::forms) shows every
//! form. Pre, post and error hooks return a [`HookAnswer`], an around hook runs the rest of the call
//! with [`Next`], a settled hook looks at an [`Outcome`]. An async closure that captures is written
//! with [`hook!`]. Configure timeout, condition and failure policy with [`HookOptions`].
//!
//! The body consumes the arguments; post and error hooks, and settled hooks that ask for it, see a copy
//! that is made before the body runs, only in calls that have such hooks.
//!
//! # Errors
//!
//! A hook of a method that returns a `Result` may fail: the call fails with a [`HookError`] that
//! names the hook and has the cause as its source, converted by `From` into the method's error type.
//! Hooks of other methods cannot fail, which the compiler checks. A panic unwinds and leaves guard
//! and registry in order.
//!
//! # Re-entrancy
//!
//! A hooked method that is called on the same instance from inside its own call, by the body or by
//! a hook, goes straight to the body, unless the method says otherwise (`#[hook(reentry = "run")]`,
//! `"deny"`). Every other call runs its hooks: of other tasks, of other futures in the same task, of
//! other instances, of other types that share their hooks. A spawned task starts outside of the call,
//! unless [`carry`] takes it along.
//!
//! A hook that is registered as [`always`](HookOptions::always) runs in nested calls too: use it for
//! what guards something. At most 128 calls of a method on an instance are inside of each other then
//! ([`max_depth`](HookOptions::max_depth)); a deeper one fails, or panics where the method cannot fail.
//! A level takes some 10 KiB of stack in a debug build, up to 18 KiB for hooks with limits, and a
//! quarter of that in a release build.
//!
//! A call that is refused, by `"deny"` or by its depth, runs its error and settled hooks, unless such
//! hooks made it.
//!
//! # When a hook does not run
//!
//! [`hook_plan()`](Hookable::hook_plan) shows what would run, `tracing` what did.
//!
//! | cause | cure |
//! |---|---|
//! | The call is nested. An event at `DEBUG` names the hooks that it skips. | [`always`](HookOptions::always), or `#[hook(reentry = "run")]` on the method |
//! | A thread pool whose waiting threads take on other jobs, as `rayon`'s do, runs the call on a thread that waits inside a call of the same method. The library cannot tell it from a nested call. | `always`, or [`outside`] around the job |
//! | A hook awaits a future that another task polls too (`Shared`), and is the first to poll it. | `always`, or [`outside_future`] around the future |
//! | Another executor than tokio runs tasks inside a call, on its thread. Tasks of tokio are recognised. | the same |
//! | A `#[class_hook]` is in a crate that nobody names, so it is not linked. | `use the_crate as _;` in the program |
//!
//! A hook that holds an `Arc` of its own agent keeps it alive for ever: use the agent that the hook is
//! given, or capture a [`Weak`](std::sync::Weak).
//!
//! # `Send`
//!
//! The future of a hooked method is `Send` if its body is, its arguments are `Send + Sync`, its output
//! and error are `Send`, and the agent is `Sync`: hooks look at them while they wait. For a body that
//! is not `Send` write `#[hook(?Send)]`.
//!
//! # Tracing
//!
//! Each call that has hooks is a span `hooked_call` of `tracing` at the level `DEBUG`, with the fields
//! `agent` and `method`; each hook that ran is an event in it at the level `TRACE`, with `hook` (its
//! name), `hook_type`, `level`, `duration` and `outcome`: `continued`, `replaced`, `returned`, `kept`,
//! `recovered`, `ran`, `failed`, `timed out` or `panicked`. A hook whose panic unwinds, or which is
//! cancelled, leaves no event; the settled hooks of a cancelled call are events outside of the span.
//! Hooks that a nested call skips are an event at `DEBUG` with `agent`, `method` and `hooks`. Failures
//! that are ignored are reported at the level `WARN`.
//!
//! # Cancellation
//!
//! Dropping the future of a call drops the hook or body that it waits for and runs nothing more but
//! the settled hooks.

/// Pages that explain one thing at length.
#[cfg(any(doc, doctest))]
pub mod guide {
    #[doc = include_str!("../docs/forms.md")]
    pub mod forms {}

    #[doc = include_str!("../docs/expansion.md")]
    pub mod expansion {}
}

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
mod dispatch;
mod error;
mod expansion;
mod hook;
mod hook_type;
mod hookable;
mod macros;
mod outcome;
#[cfg(test)]
mod own_use;
pub mod plan;
pub mod point;
pub mod registry;

pub use dispatch::carry::{carry, outside, outside_future};
pub use error::{BoxError, HookError, HookResult, RegistryError};
pub use hook::after::AfterHook;
pub use hook::around::{AroundHook, Next};
pub use hook::into_hook::IntoHook;
#[cfg(feature = "json")]
pub use hook::json::JsonHook;
pub use hook::options::{Fail, HookOptions, Ignore};
pub use hook::point_hooks::HookTypeOf;
pub use hook::pre::PreHook;
pub use hook::stage::HookAnswer;
pub use hook_type::{HookType, Level, ParseNameError, Phase};
pub use hookable::Hookable;
#[doc(hidden)]
pub use macros::agent_hook;
pub use macros::{Hookable, class_hook, hook, hookable};
pub use outcome::{Outcome, Recovery};
pub use plan::HookPlan;
pub use point::{
    Around, AroundPoint, AsyncBody, BoxFuture, HookPoint, OnError, OnSettled, Post, Pre,
};
pub use registry::{HasHooks, Hooks, class_hooks};

/// What a hook may look like: the forms of functions, the traits of hooks that are types, what they
/// get and what they answer.
pub mod forms {
    pub use crate::hook::after::{After, AfterHook};
    pub use crate::hook::around::{AroundHook, Next};
    pub use crate::hook::into_hook::IntoHook;
    #[cfg(feature = "json")]
    pub use crate::hook::json::{JsonAnswer, JsonHook};
    pub use crate::hook::point_hooks::HookTypeOf;
    pub use crate::hook::pre::PreHook;
    pub use crate::hook::stage::{HookAnswer, Stage};
    pub use crate::outcome::{Outcome, Recovery};
}

/// What a hook is registered with: name, priority, timeout, condition, failure policy.
pub mod options {
    pub use crate::hook::options::{
        Fail, FailurePolicy, HookOptions, Ignore, IntoHookOptions, Limit, OnFailure, Timed,
        Unconditional, Unlimited, When,
    };
}
