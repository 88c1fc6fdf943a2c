//! What the macros are for; they are written in a crate of their own.

/// Implements [`Hookable`](trait@crate::Hookable) by the one field of type [`Hooks`](crate::Hooks).
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
/// | `#[hook(reentry = "run")]`, `"deny"`, `"skip"` | what a call from inside its own call does: run its hooks (up to 128 deep), fail, or run only those that are registered as `always()` (default) |
/// | `#[hook(?Send)]` | its future need not be `Send`; it has no around hooks |
///
/// | on the block | default | |
/// |---|---|---|
/// | `derive(..)` | `Debug, Clone` | what the args structs derive; post hooks need `Clone` |
/// | `crate = path` | `::hooks_core` | where this crate is |
/// | `json` | | hooks over JSON too, by `register_json_hook`: needs the feature `json` of this crate, and arguments and outputs that are `Serialize` and `DeserializeOwned`; derives these for the args structs |
///
/// A method takes `&self`, `&mut self` (then it has no around hooks), `self: Arc<Self>` or `self:
/// &Arc<Self>` (nor then) and is sync, `async`, or returns `impl Future` or `Pin<Box<dyn Future>>`. Borrowed arguments `&str`, `&[T]`,
/// `&T`, `Option<&T>` and `Cow<'_, T>` are owned in the args struct. An argument that is a pattern
/// is named by `#[arg(name = "..")]`; one that the body leaves unused, `_style`, is a field `style`.
///
/// [A page](crate::guide::expansion) shows what the attribute writes.
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
/// `AsyncMethod` methods are boxed, so that `dyn Trait` is possible, and look whether there are hooks when they
/// are called, not when their future is first polled. Those that are hooked by `#[hook]` are marked both
/// in the trait and in its impls; what else `#[hook(..)]` says is said in the trait. Hooked methods take
/// `&self` and have no default body; the trait is not generic. Of two such traits of one type no two
/// methods have the same name. Every implementor is `Send + Sync` and [has hooks](crate::HasHooks).
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
/// them says `use the_crate as _;`. [`Hookable::hook_plan`](crate::Hookable::hook_plan()) shows what is there.
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

#[doc(hidden)]
pub use hooks_macros::agent_hook;
