//! The forms of hooks that can be registered.

use std::marker::PhantomData;

use crate::point::hook_slot::HookSlot;

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
/// | settled | `Fn(&Agent, &Outcome<'_, Output, Error>, Duration)` | – |
/// | settled | `Fn(&Agent, &Args, &Outcome<'_, Output, Error>, Duration)` | – |
///
/// `R` is a [`HookAnswer`](crate::HookAnswer); an around hook returns what the method returns. An
/// async closure that captures is written with [`hook!`](crate::hook). A hook with state of its own may
/// be a type that implements [`PreHook`](crate::PreHook), [`AfterHook`](crate::AfterHook) or
/// [`AroundHook`](crate::AroundHook).
#[diagnostic::on_unimplemented(
    message = "this is not a hook for `{P}`",
    label = "see the page `guide::forms` of the documentation for every form"
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
#[expect(unreachable_pub, reason = "it is inferred where such a hook is registered")]
pub enum AsyncLook {}

/// The form of a settled hook that takes the duration of the call.
#[derive(Debug)]
pub enum Elapsed {}

/// The form of a settled hook that takes the arguments and the duration of the call.
#[derive(Debug)]
pub enum ArgsElapsed {}

/// The form of a hook that is a type.
#[derive(Debug)]
pub enum Object {}

/// An async closure of a hook type, and how to call it.
pub(crate) struct Bound<P, F, Call> {
    pub(crate) slot: P,
    pub(crate) hook: F,
    pub(crate) call: Call,
}
