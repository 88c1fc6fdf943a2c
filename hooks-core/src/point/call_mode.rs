//! Whether a method is async, and what follows from it.

use std::pin::Pin;

use crate::hook_type::Level;

/// A boxed future of an async hook.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whether a method is async. Implemented here only.
pub trait Mode: sealed::Sealed + 'static {
    /// A value that is on its way: a boxed future for [`AsyncMethod`], the value for [`SyncMethod`].
    type Running<'a, T: 'a>;
    /// A call with around hooks; those of async methods go from thread to thread.
    #[doc(hidden)]
    type Call<'a, Args: 'static, R: 'a>: ?Sized + RestOfCall<Args, Self, R> + 'a;
    /// Looks at a value when it is there.
    #[doc(hidden)]
    fn then<'a, T: 'a>(
        running: Self::Running<'a, T>,
        look: impl FnOnce(&T) + Send + 'a,
    ) -> Self::Running<'a, T>;
}

/// A call with around hooks, whatever the types whose hooks these are.
#[doc(hidden)]
pub trait RestOfCall<Args: 'static, M: ?Sized + Mode, R> {
    /// Starts the rest of the call: the first hook at or behind `from` that applies, or the body.
    /// `call` is this call itself, to be handed on.
    fn start<'a>(
        &'a self,
        call: &'a M::Call<'a, Args, R>,
        from: Position,
        args: Args,
    ) -> M::Running<'a, R>;
    /// Level and name of a hook.
    fn hook(&self, at: Position) -> (Level, &str);
    /// How many hooks there are from a position on.
    fn hooks_from(&self, from: Position) -> usize;
}

/// Where a hook stands among those of its phase, in the order in which they run.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Twice the level; one more for the hooks of a trait.
    pub(crate) group: u32,
    pub(crate) chunk: u32,
    pub(crate) index: u32,
}

impl Position {
    /// Behind all hooks.
    pub(crate) const END: Self = Self { group: u32::MAX, chunk: 0, index: 0 };

    /// The position behind this one.
    #[inline]
    pub(crate) fn next(self) -> Self {
        Self { index: self.index + 1, ..self }
    }
}

/// A mode whose methods wait for async hooks. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "the method is not async, so its hooks cannot wait",
    label = "an async hook",
    note = "write the closure without `async`: `|agent, args| ..`"
)]
pub trait Waiting: Mode {}

impl Waiting for AsyncMethod {}

/// A mode whose methods give their values at once. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "the method is async, so its around hooks are",
    label = "a sync around hook",
    note = "write `async move |agent, args, next| next.run(args).await`"
)]
#[doc(hidden)]
pub trait Immediate: Mode {
    fn running<'a, T: 'a>(value: T) -> Self::Running<'a, T>;
}

impl Immediate for SyncMethod {
    fn running<'a, T: 'a>(value: T) -> T {
        value
    }
}

/// The mode of an `async fn`: its hooks may be sync or async.
#[derive(Debug)]
pub enum AsyncMethod {}

/// The mode of a plain `fn`: its hooks are sync.
#[derive(Debug)]
pub enum SyncMethod {}

impl Mode for AsyncMethod {
    type Running<'a, T: 'a> = BoxFuture<'a, T>;
    type Call<'a, Args: 'static, R: 'a> = dyn RestOfCall<Args, Self, R> + Send + Sync + 'a;

    fn then<'a, T: 'a>(
        running: BoxFuture<'a, T>,
        look: impl FnOnce(&T) + Send + 'a,
    ) -> BoxFuture<'a, T> {
        Box::pin(async move {
            let value = running.await;
            look(&value);
            value
        })
    }
}

impl Mode for SyncMethod {
    type Running<'a, T: 'a> = T;
    type Call<'a, Args: 'static, R: 'a> = dyn RestOfCall<Args, Self, R> + 'a;

    fn then<'a, T: 'a>(value: T, look: impl FnOnce(&T) + Send + 'a) -> T {
        look(&value);
        value
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AsyncMethod {}
    impl Sealed for super::SyncMethod {}
}
