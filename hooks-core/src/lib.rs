//! Hooks on the methods of any type: instance and class level, sync and async, nearly free where
//! none is registered.
//!
//! [`#[hookable]`](macro@hookable) turns methods into hook points. Each keeps its signature; a call
//! of it packs its arguments into a struct of named fields, runs the pre hooks, the body and the
//! post hooks. A call that no hook wants goes straight to the body.
//!
//! ```
//! use hooks_core::{Hookable, Hooks, hook, hookable};
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
//! let shout = hook!(Assistant::PRE_REPLY, |_, args| args.question.make_ascii_uppercase());
//! assistant.register_instance_hook(Assistant::PRE_REPLY, "shout", shout);
//! assert_eq!(assistant.reply("why"), "WHY - good question!");
//! ```
//!
//! # Hooks
//!
//! | phase | runs | gets, after the agent | may return |
//! |---|---|---|---|
//! | pre | before the body | `&mut Args` | `()`, `Option<Args>`, [`ControlFlow<Output>`](std::ops::ControlFlow) |
//! | around | between pre and post hooks | `Args`, [`Next`] | what the method returns |
//! | post | after success | `&Args`, `&mut Output` | `()`, `Option<Output>` |
//! | error | after failure | `&Args`, `&mut Error` | `()`, `Option<Error>`, [`Recovery<Output>`](Recovery) |
//! | settled | at the end, however the call ended | [`&Outcome`](Outcome) | nothing |
//!
//! A hook is a function, a closure or a type: [every form](guide::forms). [`hook!`] infers the types of a
//! closure, sync or async. [`HookOptions`] say priority, timeout, condition and failure policy.
//! [`#[class_hook]`](macro@class_hook) registers a function for every instance when the program is
//! linked. [What runs when](guide::order) has the order and the rules.
//!
//! The body consumes the arguments; post and error hooks see a copy, made before the body runs and only in
//! calls that have such hooks.
//!
//! # Errors
//!
//! A hook of a method that returns a `Result` may fail: the call fails with a [`HookError`] that names the
//! hook and the cause, converted by `From` into the method's error type. Hooks of other methods cannot fail,
//! which the compiler checks. A panic unwinds and leaves guard and registry in order.
//!
//! Operations on the registry fail with a [`RegistryError`], which a [`HookError`] carries too; in a method
//! with an error type of its own write `.map_err(HookError::from)?`.
//!
//! # Re-entrancy
//!
//! A call of a method from inside its own call, on the same instance, goes straight to the body. Every other
//! call runs its hooks: of other tasks, of other futures in the same task, of other instances. A spawned task
//! starts outside of the call, unless [`carry`] takes it along.
//!
//! Hooks registered as [`always`](HookOptions::always) run in nested calls too: use it for what guards
//! something. `#[hook(reentry = "run")]` runs all hooks in nested calls, `"deny"` refuses them. Nested calls
//! that run hooks are limited to a depth of 128 ([`max_depth`](HookOptions::max_depth)); a deeper one fails,
//! or panics where the method cannot fail. A level takes some 10 KiB of stack in a debug build, up to 18 KiB
//! for hooks with limits, and a quarter of that in a release build.
//!
//! A hook that holds an `Arc` of its own agent keeps it alive for ever: use the agent that the hook is
//! given, or capture a [`Weak`](std::sync::Weak).
//!
//! # `Send`
//!
//! The future of a hooked method is `Send` if its body is, its arguments are `Send + Sync`, its output and
//! error are `Send`, and the agent is `Sync`: hooks look at them while they wait. For a body that is not
//! `Send` write `#[hook(?Send)]`.
//!
//! # Tracing
//!
//! Each call that has hooks is a span `hooked_call` of `tracing` at `DEBUG`, with the fields `agent` and
//! `method`; each hook that ran is an event in it at `TRACE`, with `hook` (its name), `hook_type`, `level`,
//! `duration` and `outcome`: `continued`, `replaced`, `returned`, `kept`, `recovered`, `ran`, `failed`,
//! `timed out` or `panicked`. A hook whose panic unwinds, or which is cancelled, leaves no event; the settled
//! hooks of a cancelled call are events outside of the span. Hooks that a nested call skips are an event at
//! `DEBUG` with `agent`, `method` and `hooks`. Failures that are ignored are reported at `WARN`.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `timeout` (default) | [`HookOptions::timeout`], by the timer of tokio |
//! | `serde` | plans are `Serialize`; hook types, phases and levels are `Deserialize` too |
//! | `json` | [hooks over JSON](guide::forms#over-json), for blocks marked `#[hookable(json)]` |
//!
//! # Modules
//!
//! The items that most programs need are here; [`forms`], [`options`], [`plan`], [`point`] and
//! [`registry`] have the rest, for code that is generic over hooks.

/// Pages that explain one thing at length.
#[cfg(any(doc, doctest))]
pub mod guide {
    // Its examples are compiled as tests of their own.
    #[cfg(not(doctest))]
    #[doc = include_str!("../docs/links.md")]
    #[doc = include_str!("../docs/forms.md")]
    pub mod forms {}

    #[doc = include_str!("../docs/order.md")]
    pub mod order {}

    #[doc = include_str!("../docs/inputs.md")]
    pub mod inputs {}

    #[doc = include_str!("../docs/links.md")]
    #[doc = include_str!("../docs/not_run.md")]
    pub mod not_run {}

    #[doc = include_str!("../docs/semver.md")]
    pub mod semver {}

    #[doc = include_str!("../docs/expansion.md")]
    pub mod expansion {}
}

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
mod dispatch;
mod error;
mod expansion;
mod group;
mod hook;
mod hook_order;
mod hook_type;
mod hookable;
#[cfg(feature = "json")]
mod json;
mod macros;
mod outcome;
#[cfg(test)]
mod own_use;
pub mod plan;
pub mod point;
mod printable;
pub mod registry;
mod role;

pub use dispatch::point_hooks::HookTypeOf;
pub use dispatch::stack::carry::{carry, outside, outside_future};
pub use error::{BoxError, HookError, HookResult, RegistryError};
pub use group::HookGroup;
pub use hook::after::AfterHook;
pub use hook::around::{AroundHook, Next};
pub use hook::into_hook::IntoHook;
pub use hook::options::hook_options::HookOptions;
pub use hook::options::policy::{Fail, Ignore};
pub use hook::pre::PreHook;
pub use hook::stage::HookAnswer;
pub use hook_order::{HookOrder, OrderFault};
pub use hook_type::{HookType, Level, ParseNameError, Phase};
pub use hookable::Hookable;
#[cfg(feature = "json")]
pub use json::JsonHook;
pub use macros::{Hookable, class_hook, hook, hookable};
pub use outcome::{Outcome, Recovery};
pub use plan::HookPlan;
pub use point::{
    Around, AroundPoint, AsyncBody, BoxFuture, HookPoint, OnError, OnSettled, Post, Pre,
};
pub use registry::{HasHooks, Hooks, class_hooks};
pub use role::HookRole;

/// What a hook may look like: the forms of functions, the traits of hooks that are types, what they
/// get and what they answer.
pub mod forms {
    pub use crate::dispatch::point_hooks::HookTypeOf;
    pub use crate::hook::after::{After, AfterHook};
    pub use crate::hook::around::{AroundHook, Next};
    pub use crate::hook::into_hook::IntoHook;
    pub use crate::hook::pre::PreHook;
    pub use crate::hook::stage::{HookAnswer, Stage};
    #[cfg(feature = "json")]
    pub use crate::json::{JsonAnswer, JsonHook};
    pub use crate::outcome::{Outcome, Recovery};
}

/// What a hook is registered with: name, priority, order, timeout, condition, failure policy.
pub mod options {
    pub use crate::hook::options::hook_options::{HookOptions, IntoHookOptions};
    pub use crate::hook::options::policy::{
        Fail, FailurePolicy, Ignore, Limit, OnFailure, Timed, Unconditional, Unlimited, When,
    };
    pub use crate::hook_order::{HookOrder, OrderFault, Relation, arrange};
}
