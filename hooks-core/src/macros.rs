//! Re-exports the macros, which are in a crate of their own, with their documentation.

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
/// | `#[hook]` | Hooks it. |
/// | `#[hook(skip)]` | Leaves it as it is. |
/// | `#[hook(fallible)]`, `#[hook(infallible)]` | Says whether it returns a `Result`, where the name of the type does not: it does if the name ends in `Result`. |
/// | `#[hook(reentry = "run")]`, `"deny"`, `"skip"` | What a call from inside its own call does: runs its hooks, fails, or runs those registered as `always()` (default). |
/// | `#[hook(?Send)]` | Its future need not be `Send`. It has no around hooks. |
/// | `#[hook(name = "other_name")]` | Names its hook types and its args struct as if the method were called so. |
/// | `#[hook(args = "Name")]` | Names its args struct. |
/// | `#[hook(derive(..))]` | What its args struct derives, in place of the block's. |
///
/// | on the block | |
/// |---|---|
/// | `derive(..)` | What the args structs derive. By default they are `Clone`, for post hooks, and `Debug`. |
/// | `explicit` | Hooks the methods marked `#[hook]` and no others, whatever their names are. An impl of such a trait says it too. |
/// | `own` | On an impl of a trait that is not `#[hookable]`: hooks its methods for this type. |
/// | `private` | Beside `own`: the hook types and the args structs are seen in the module alone. |
/// | `non_exhaustive` | Makes the args structs `#[non_exhaustive]`: see [what is semver](crate::guide::semver). |
/// | `json` | Takes hooks over JSON too, by `register_json_hook`. Needs the feature `json`, and arguments and outputs that are `Serialize` and `DeserializeOwned`. |
/// | `crate = path` | Where this crate is, if not under its own name or inside of `hooks_agent`. |
///
/// [What the macro takes](crate::guide::inputs) lists parameters, return types and receivers, and what is
/// refused; [a page](crate::guide::expansion) shows what it writes.
///
/// For a method `reply` of `Assistant` it gives the hook types `Assistant::PRE_REPLY`, `AROUND_REPLY`,
/// `POST_REPLY`, `ERROR_REPLY` (of methods that return a `Result`) and `SETTLED_REPLY`, and the struct
/// `AssistantReplyArgs` beside the block, all as visible as the method.
///
/// ```
/// use hooks_core::{Hookable, Hooks, hook, hookable};
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
/// let check = hook!(Calculator::PRE_SUM, |_, args| {
///     assert_eq!(*args, CalculatorSumArgs { pair: (1, 2), more: vec![3] });
/// });
/// calculator.register_instance_hook(Calculator::PRE_SUM, "check", check);
/// assert_eq!(calculator.sum((1, 2), &[3]), 6);
/// ```
///
/// # Traits
///
/// On a trait, it makes hook points of `dyn Trait`: `<dyn Agent>::PRE_REPLY`, with one args struct for
/// all implementors. Hooks of these run for every type whose impl of the trait is marked `#[hookable]`
/// too, in any crate; and such a type has hook types of its own, `Assistant::PRE_REPLY`.
///
/// Async methods are boxed, so that `dyn Trait` is possible; whether there are hooks is tested when they are
/// called. A method hooked by `#[hook]` is marked in the trait and in its impls; async methods of an impl need
/// no mark; options are the trait's. Hooked methods take `&self`; the trait has no type parameters, associated
/// types or constants. Of two such traits of one type no two methods have the same name. Every implementor is
/// `Send + Sync` and [has hooks](crate::HasHooks).
///
/// A hooked method may have a default body. A type that leaves it runs the hooks of `<dyn Trait>`; the
/// constants `Type::PRE_X` are of types that write the method.
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
/// # Traits that are not hookable
///
/// `#[hookable(own)]` hooks the methods of an impl of any trait for its type: of a trait of another crate, of a
/// generic one, of one with associated types or constants. The hook types are those of the type, as if the methods
/// were its own, and calls by the trait run the hooks too. All are `pub`, since an impl does not say how visible its
/// trait is; if the trait or its types are private and the type is not, write `#[hookable(own, private)]`.
///
/// A hooked body means what it means in the impl. A type that a supertrait has is written `<Self as
/// Supertrait>::Item`, and `<Self>::Item` as `Self::Item`. `#[async_trait]` may stand above or below. A method that
/// returns a named future, such as tower's `Self::Future`, is a sync method that returns a value.
///
/// Two impls of one generic trait tell their methods apart by `#[hook(name = "..")]`. What every implementor shares needs
/// `dyn Trait`, which such traits do not have: hooks for all of them are registered type by type.
///
/// ```
/// use hooks_core::{HookError, Hookable, Hooks, class_hook, hookable};
///
/// trait Handler<Message> {
///     type Reply;
///     async fn handle(&self, message: Message) -> Result<Self::Reply, HookError>;
/// }
///
/// #[derive(Hookable, Default)]
/// struct Clerk {
///     hooks: Hooks,
/// }
///
/// #[hookable(own)]
/// impl Handler<String> for Clerk {
///     type Reply = usize;
///
///     #[hook]
///     async fn handle(&self, message: String) -> Result<Self::Reply, HookError> {
///         Ok(message.len())
///     }
/// }
///
/// #[class_hook(Clerk::PRE_HANDLE)]
/// fn trim(_: &Clerk, args: &mut ClerkHandleArgs) {
///     args.message = args.message.trim().to_owned();
/// }
///
/// # futures::executor::block_on(async {
/// assert_eq!(Clerk::default().handle("  two ".to_owned()).await?, 3);
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
/// `priority = ..` (default 100), `before = "other"`, `after`, `requires` (a name or several, `["one", "two"]`: see
/// [`HookOrder`](crate::HookOrder)) and `crate = path`. Hooks of equal priority run in the order of
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
///
/// Post hooks run after success. An audit that sees every call, also one that a hook refused, is a
/// settled hook:
///
/// ```
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// use hooks_core::{HookError, Hookable, Hooks, Outcome, class_hook, hook, hookable};
///
/// static AUDIT: Mutex<Vec<String>> = Mutex::new(Vec::new());
///
/// #[derive(Hookable, Default)]
/// struct Payments {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Payments {
///     #[hook]
///     fn pay(&self, euros: u32) -> Result<u32, HookError> {
///         Ok(euros)
///     }
/// }
///
/// #[class_hook(Payments::SETTLED_PAY)]
/// fn audit(
///     _: &Payments,
///     args: &PaymentsPayArgs,
///     outcome: &Outcome<'_, u32, HookError>,
///     _elapsed: Duration,
/// ) {
///     let end = if let Outcome::Ok(_) = outcome { "paid" } else { "not paid" };
///     AUDIT.lock().unwrap().push(format!("{} euros: {end}", args.euros));
/// }
///
/// let payments = Payments::default();
/// let limit = hook!(Payments::PRE_PAY, |_, args| {
///     if args.euros > 100 { Err("over the limit".into()) } else { Ok(()) }
/// });
/// payments.register_instance_hook(Payments::PRE_PAY, "limit", limit);
/// payments.pay(12)?;
/// assert!(payments.pay(1_000).is_err());
/// assert_eq!(*AUDIT.lock().unwrap(), ["12 euros: paid", "1000 euros: not paid"]);
/// # Ok::<(), HookError>(())
/// ```
pub use hooks_macros::class_hook;

/// Makes a hook of a closure, sync or async; the types of its parameters are inferred from the hook type.
///
/// | at | closure |
/// |---|---|
/// | pre | `\|agent, args\|` |
/// | around | `\|agent, args, next\|` |
/// | post | `\|agent, args, output\|` |
/// | error | `\|agent, args, error\|` |
/// | settled, sync only | `\|agent, outcome\|` |
///
/// What may be changed is mutable. An async closure may hold its captures over `.await`; its future must be
/// `Send`. Without the macro the compiler says that an async closure which captures "does not implement `Fn`
/// because it captures state from its environment".
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
