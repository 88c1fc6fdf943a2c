//! What a hook may look like: the forms that can be registered.

use std::marker::PhantomData;

use crate::slot::HookSlot;

/// A hook that may be registered at the hook type `P`.
///
/// `Form` is inferred; it tells the forms apart:
///
/// | at | sync | async, on async methods |
/// |---|---|---|
/// | pre | `Fn(&Agent, &mut Args) -> R` | `async fn(&Agent, &mut Args) -> R` |
/// | pre | `Fn(&Agent, &Args) -> R` | `async fn(&Agent, &Args) -> R` |
/// | around | `Fn(&Agent, Args, Next<'_, Agent, Args>) -> Return`, on sync methods | `async fn(&Agent, Args, Next<'_, Agent, Args>) -> Return` |
/// | post | `Fn(&Agent, &Args, &mut Output) -> R` | `async fn(&Agent, &Args, &mut Output) -> R` |
/// | post | `Fn(&Agent, &Args, &Output) -> R` | `async fn(&Agent, &Args, &Output) -> R` |
/// | error | `Fn(&Agent, &Args, &mut Error) -> R` | `async fn(&Agent, &Args, &mut Error) -> R` |
/// | error | `Fn(&Agent, &Args, &Error) -> R` | `async fn(&Agent, &Args, &Error) -> R` |
/// | settled | `Fn(&Agent, &Outcome<'_, Output, Error>)` | – |
///
/// `R` of a pre hook is a [`PreAnswer`](crate::PreAnswer), of a post or error hook an
/// [`AfterAnswer`](crate::AfterAnswer); an around hook returns what the method returns. An async
/// closure that captures is written with [`hook!`](crate::hook). A hook with state of its own may
/// be a type that implements [`PreHook`](crate::PreHook), [`AfterHook`](crate::AfterHook) or
/// [`AroundHook`](crate::AroundHook).
#[diagnostic::on_unimplemented(
    message = "this is not a hook for `{P}`",
    label = "its parameters, what it returns, `Send` or `Clone` do not fit: see the notes",
    note = "a pre hook is `|agent: &Agent, args: &mut Args|` or `|agent: &Agent, args: &Args|` and \
            returns `()`, `Option<Args>` or `Flow<Output>`",
    note = "an around hook is `|agent: &Agent, args: Args, next: Next<'_, Agent, Args>|` and \
            returns what the method returns",
    note = "a post hook is `|agent: &Agent, args: &Args, output: &mut Output|` or `|agent: &Agent, \
            args: &Args, output: &Output|` and returns `()` or `Option<Output>`; `Args` must be \
            `Clone`",
    note = "an error hook has the shape of a post hook, with the error for the output, and returns \
            `()`, `Option<Error>` or `Recovery<Output>`",
    note = "a settled hook is `|agent: &Agent, outcome: &Outcome<'_, Output, Error>|` and returns \
            nothing",
    note = "`Output` is the `T` of a method that returns `Result<T, E>`; there a pre or post hook may \
            return `HookResult<..>` of these, elsewhere a hook cannot fail; an alias of `Result` whose \
            name does not end so needs `#[hook(fallible)]` on the method",
    note = "where the method is async, a hook may be an `async fn` whose future is `Send`; an async \
            closure that captures is written `hook!(Agent::PRE_REPLY, async move |agent, args| ..)`, \
            which also shows what is not `Send`",
    note = "the parameters of a closure need their types: `|_: &Agent, args: &mut Args|`"
)]
pub trait IntoHook<P: HookSlot, Form> {
    /// The hook in its erased form.
    #[doc(hidden)]
    fn into_hook(self) -> P::Hook;
}

/// The form of a hook that is erased already: what [`hook!`](crate::hook) gives.
#[derive(Debug)]
pub enum Erased {}

/// The form of a sync hook that changes in place and answers `R`.
#[derive(Debug)]
pub struct SyncInPlace<R>(PhantomData<R>);

/// The form of a sync hook that looks and answers `R`.
#[derive(Debug)]
pub struct SyncLook<R>(PhantomData<R>);

/// The form of an async hook that changes in place.
#[derive(Debug)]
pub enum AsyncInPlace {}

/// The form of an async hook that looks.
#[derive(Debug)]
pub enum AsyncLook {}

/// The form of a hook that is a type.
#[derive(Debug)]
pub enum Object {}

/// Calls an async function with mutable access.
pub(crate) struct InPlace<F>(pub(crate) F);

/// Calls an async function with shared access.
pub(crate) struct Look<F>(pub(crate) F);

/// An async closure of a hook type, and how to call it.
pub(crate) struct Bound<P, F, Call> {
    pub(crate) slot: P,
    pub(crate) hook: F,
    pub(crate) call: Call,
}
