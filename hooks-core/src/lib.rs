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
//! the outermost. The list of pre hooks is fixed when the first of them starts, the list of post
//! hooks when the body has returned.
//!
//! # What a hook looks like
//!
//! A function or closure of the agent and its arguments, or a type; [one page](guide::forms) shows every
//! form.
//! A pre hook answers with a [`PreAnswer`], a post or error hook with an [`AfterAnswer`], an around
//! hook has [`Next`] in its hands, a settled hook looks at an [`Outcome`]. An async closure that
//! captures is written with [`hook!`]. What a hook is held to is said by [`Hook`].
//!
//! The body consumes the arguments; what post and error hooks see is a copy, made only for calls that
//! have such hooks when the body starts. A post hook that the body itself registers therefore takes
//! part in that call only if there was one already.
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
//! a hook, goes straight to the body, unless the method says otherwise. Every other call runs its
//! hooks: of other tasks, of other futures in the same task, of other instances. A spawned task starts
//! outside of the call, unless [`carry`] takes it along.
//!
//! A call that finds no hook when it starts is none of these: what it calls runs the hooks that there are
//! by then.
//!
//! A call is known by the thread that polls it. What another executor runs on that thread while the
//! call blocks on it (a thread pool that steals work, a second runtime) is taken for the call's own.
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
//! Failures that are ignored are reported at the level `WARN`.
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
mod after;
mod after_forms;
mod around;
mod around_forms;
mod before;
mod chain;
mod class;
mod dispatch;
mod entry;
mod error;
mod failure;
mod finish;
mod flow;
mod form;
mod future;
mod guard;
mod hook_type;
mod hookable;
#[cfg(feature = "json")]
mod json;
mod lend;
mod limit;
mod linked;
mod methods;
mod mode;
mod options;
mod outcome;
#[cfg(test)]
mod own_use;
mod place;
mod plan;
mod point;
mod pre;
mod pre_forms;
mod progress;
mod registry;
mod select;
#[cfg(feature = "serde")]
mod serialize;
mod settle;
mod settled;
mod slot;
mod snapshot;
mod sync;
mod trace;
mod type_name;

pub use after::{After, AfterAnswer, AfterHook};
pub use around::{AroundHook, Next};
pub use error::{BoxError, HookError, HookResult};
pub use flow::Flow;
pub use form::IntoHook;
pub use future::BoxFuture;
pub use guard::carry;
pub use hook_type::{HookType, Level, ParseHookTypeError, Phase};
pub use hookable::{HasHooks, Hookable};
#[cfg(feature = "json")]
pub use json::{JsonAnswer, JsonHook};
pub use linked::{LinkedClassHook, class_hooks};
pub use options::{Always, Fail, Hook, Ignore, Limit, OnFailure, Timed, Unlimited, When};
pub use outcome::{Outcome, Recovery};
pub use plan::{HookPlan, PlannedHook};
pub use point::{AroundPoint, FromHookError, HookPoint};
pub use pre::{PreAnswer, PreHook};
pub use registry::Hooks;
pub use select::SelectHookType;
pub use slot::{Around, HookSlot, OnError, OnSettled, Post, Pre};

/// Implements [`Hookable`](trait@Hookable) by the one field of type [`Hooks`].
///
/// `#[hooks(crate = path)]` on the struct says where `hooks_core` is, if not under its own name.
///
/// ```
/// use hooks_core::{Hookable, Hooks};
///
/// #[derive(Hookable, Default)]
/// struct Assistant {
///     name: String,
///     hooks: Hooks,
/// }
///
/// assert!(Assistant::default().hook_plan().hooks().is_empty());
/// ```
pub use hooks_macros::Hookable;

/// Makes hook points of the methods of an impl block, or of a trait.
///
/// Methods named `reply`, `observe`, `print`, `reasoning` and `acting` are hooked by their names,
/// others by an attribute of their own:
///
/// | on a method | |
/// |---|---|
/// | `#[hook]` | hook it |
/// | `#[hook(skip)]` | leave it as it is |
/// | `#[hook(fallible)]`, `#[hook(infallible)]` | whether it returns a `Result`, where the name of the type does not tell: one that ends in `Result` is taken for one |
/// | `#[hook(reentry = "run")]`, `"deny"`, `"skip"` | what a call from inside its own call does: run its hooks (up to 16 deep), fail, or go straight to the body (default) |
/// | `#[hook(?Send)]` | its future need not be `Send`; it has no around hooks |
///
/// | on the block | default | |
/// |---|---|---|
/// | `derive(..)` | `Debug, Clone` | what the args structs derive; post hooks need `Clone` |
/// | `crate = path` | `::hooks_core` | where this crate is |
/// | `json` | | [hooks over JSON](Hookable::register_json_hook) too: needs the feature `json` of this crate, and arguments and outputs that are `Serialize` and `DeserializeOwned`; derives these for the args structs |
///
/// A method takes `&self`, `&mut self` (then it has no around hooks), `self: Arc<Self>` or `self:
/// &Arc<Self>` (nor then) and is sync, `async`, or returns `impl Future` or `Pin<Box<dyn Future>>`. Borrowed arguments `&str`, `&[T]`,
/// `&T`, `Option<&T>` and `Cow<'_, T>` are owned in the args struct. An argument that is a pattern
/// is named by `#[arg(name = "..")]`; one that the body leaves unused, `_style`, is a field `style`.
///
/// [A page](guide::expansion) shows what the attribute writes.
///
/// For a method `reply` of `Assistant` the block gets the hook types `Assistant::PRE_REPLY`,
/// `AROUND_REPLY` (of use where it takes `&self`), `POST_REPLY`, `ERROR_REPLY` (of methods that return a
/// `Result`) and `SETTLED_REPLY`, and the struct `AssistantReplyArgs` beside it, all as visible as the
/// method. What they are called by must be imported like any other name.
///
/// ```
/// use hooks_core::{Hookable, Hooks, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Calculator {
///     hooks: Hooks,
/// }
///
/// #[hookable(derive(Debug, Clone, PartialEq))]
/// impl Calculator {
///     #[hook]
///     fn sum(&self, #[arg(name = "pair")] (left, right): (i32, i32), more: &[i32]) -> i32 {
///         left + right + more.iter().sum::<i32>()
///     }
/// }
///
/// let calculator = Calculator::default();
/// calculator.register_instance_hook(
///     Calculator::PRE_SUM,
///     "check",
///     |_: &Calculator, args: &CalculatorSumArgs| {
///         assert_eq!(*args, CalculatorSumArgs { pair: (1, 2), more: vec![3] });
///     },
/// );
/// assert_eq!(calculator.sum((1, 2), &[3]), 6);
/// ```
///
/// # Traits
///
/// On a trait, it makes hook points of `dyn Trait`: `<dyn Agent>::PRE_REPLY`, with one args struct for
/// all implementors. Hooks of these run for every type whose impl of the trait is marked `#[hookable]`
/// too, in any crate; and such a type has hook types of its own, `Assistant::PRE_REPLY`.
///
/// Async methods are boxed, so that `dyn Trait` is possible, and look whether there are hooks when they
/// are called, not when their future is first polled. Those that are hooked by `#[hook]` are marked both
/// in the trait and in its impls; what else `#[hook(..)]` says is said in the trait. Hooked methods take
/// `&self` and have no default body; the trait is not generic. Of two such traits of one type no two
/// methods have the same name. Every implementor is `Send + Sync` and [has hooks](HasHooks).
///
/// ```
/// use hooks_core::{HookError, HookResult, Hookable, Hooks, class_hook, hookable};
///
/// #[hookable]
/// pub trait Agent: Hookable {
///     async fn reply(&self, msg: String) -> Result<String, HookError>;
///     fn name(&self) -> &str;
/// }
///
/// #[derive(Hookable, Default)]
/// pub struct Assistant {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Agent for Assistant {
///     async fn reply(&self, msg: String) -> Result<String, HookError> {
///         Ok(format!("You said {msg}"))
///     }
///
///     fn name(&self) -> &str {
///         "assistant"
///     }
/// }
///
/// // Runs for every agent.
/// #[class_hook(<dyn Agent>::POST_REPLY, name = "sign")]
/// async fn sign(agent: &dyn Agent, _: &AgentReplyArgs, reply: &mut String) -> HookResult {
///     reply.push_str(", said the ");
///     reply.push_str(agent.name());
///     Ok(())
/// }
///
/// # futures::executor::block_on(async {
/// let agent: Box<dyn Agent> = Box::new(Assistant::default());
/// agent.register_instance_hook(
///     <dyn Agent>::PRE_REPLY,
///     "trim",
///     |_: &dyn Agent, args: &mut AgentReplyArgs| args.msg = args.msg.trim().to_owned(),
/// );
/// assert_eq!(agent.reply(" hello ".to_owned()).await?, "You said hello, said the assistant");
/// # Ok::<(), HookError>(())
/// # }).unwrap();
/// ```
///
/// # Mistakes
///
/// A hook of another type does not compile:
///
/// ```compile_fail
/// # use hooks_core::{Hookable, Hooks, hookable};
/// # #[derive(Hookable, Default)]
/// # struct One { hooks: Hooks }
/// # #[hookable]
/// # impl One { fn reply(&self) {} }
/// # #[derive(Hookable, Default)]
/// # struct Two { hooks: Hooks }
/// # #[hookable]
/// # impl Two { fn reply(&self) {} }
/// One::default().register_instance_hook(Two::PRE_REPLY, "no", |_: &Two, _: &TwoReplyArgs| {});
/// ```
pub use hooks_macros::hookable;

/// Registers a function as a class hook when the program is linked.
///
/// The arguments are the hook type, then `name = ".."` (default: the function's name),
/// `priority = ..` (default 100) and `crate = path`. Hooks of equal priority run in the order of
/// their module paths and lines, before those registered at run time. Two that share a name both
/// run.
///
/// A crate that nobody names is not linked, and then its hooks are not there: a program that wants
/// them says `use the_crate as _;`. [`Hookable::hook_plan`] shows what is there.
///
/// ```
/// use hooks_core::{Hookable, Hooks, class_hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     fn reply(&self) -> String {
///         "Hello".to_owned()
///     }
/// }
///
/// #[class_hook(Greeter::POST_REPLY, name = "stamp", priority = 500)]
/// fn stamp(_: &Greeter, _: &GreeterReplyArgs, reply: &mut String) {
///     reply.push('!');
/// }
///
/// assert_eq!(Greeter::default().reply(), "Hello!");
/// ```
pub use hooks_macros::class_hook;

/// Binds an async closure that captures to a hook type.
///
/// The closure takes `|agent, args|` at a pre hook type, `|agent, args, output|` at a post,
/// `|agent, args, error|` at an error, and `|agent, args, next|` at an around hook type, with what may
/// be changed mutable; the types are known from the hook type. It may hold its captures over
/// `.await`; its future must be `Send`. Without the macro the compiler says that such a closure "does
/// not implement `Fn` because it captures state from its environment".
///
/// ```
/// use hooks_core::{HookError, Hookable, Hooks, hook, hookable};
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
/// # futures::executor::block_on(async {
/// let greeter = Greeter::default();
/// let banned = vec!["Mallory".to_owned()];
/// greeter.register_instance_hook(
///     Greeter::PRE_REPLY,
///     "policy",
///     hook!(Greeter::PRE_REPLY, async move |_, args| {
///         if banned.contains(&args.name) {
///             return Err("not here".into());
///         }
///         Ok(())
///     }),
/// );
/// assert_eq!(greeter.reply("Alice".to_owned()).await?, "Hello, Alice");
/// assert!(greeter.reply("Mallory".to_owned()).await.is_err());
/// # Ok::<(), HookError>(())
/// # }).unwrap();
/// ```
pub use hooks_macros::hook;
