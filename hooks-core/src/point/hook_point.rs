//! Hook points: what a hooked method is, as types.

use crate::point::call_mode::{AsyncMethod, BoxFuture, Mode};
use crate::point::rest::Rest;
use crate::point::return_kind::ReturnKind;
use crate::registry::class::ClassHooks;
use crate::registry::hooks::HasHooks;

/// A hooked method of a type, identified by the struct of its arguments.
///
/// `#[hookable]` implements it, once per method: `Assistant: HookPoint<AssistantReplyArgs>`.
/// It is named in signatures that are generic over points and never implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooked method with the arguments `{Args}`",
    note = "`#[hookable]` on an impl block makes hook points of its methods"
)]
pub trait HookPoint<Args>: 'static {
    /// What the method returns.
    type Return;
    /// Whether it can fail.
    type Kind: ReturnKind<Self::Return>;
    /// Whether it is async.
    type Mode: Mode;
    /// The method's name in the source.
    const METHOD: &'static str;
    /// The method's place in its block.
    #[doc(hidden)]
    const INDEX: u32;
    /// Where the rest of a call is that needs more than its body and simple hooks.
    #[doc(hidden)]
    type Rest: Rest<Self, Args>;
    /// What a call from inside a call of the same method on the same instance does.
    #[doc(hidden)]
    const REENTRY: Reentry = Reentry::Skip;
    /// The hookable trait that the method is of, as `dyn Trait`; the type itself where it is of none.
    type Base: ?Sized + HookPoint<Args, Return = Self::Return, Kind = Self::Kind, Mode = Self::Mode>;
    /// The class hooks of the method.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
    /// The instance as [`Base`](HookPoint::Base), where the method is of a trait.
    #[doc(hidden)]
    fn as_base(&self) -> Option<&Self::Base> {
        None
    }
}

/// A hook point that has around hooks: its body can be run any number of times.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` has no around hooks",
    note = "around hooks may run the body any number of times, also on another thread: the method \
            must take `&self`, and its future must be `Send`"
)]
pub trait AroundPoint<Args: 'static>: HasHooks + HookPoint<Args> {
    /// Starts the body.
    #[doc(hidden)]
    fn start(&self, args: Args) -> <Self::Mode as Mode>::Running<'_, Self::Return>;
}

/// The body of an async method whose future is `Send`.
///
/// `#[hookable]` implements it; that gives the method its around hooks.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` is not async, or its future is not `Send`",
    label = "not an async hook point"
)]
pub trait AsyncBody<Args: 'static>: HasHooks + HookPoint<Args, Mode = AsyncMethod> + Sync {
    /// The body.
    #[doc(hidden)]
    #[rustfmt::skip]
    fn body(
        &self,
        args: Args,
    ) -> impl Future<Output = Self::Return> + Send; // not `Send`? write `#[hook(?Send)]` on the method

    /// The body, boxed.
    #[doc(hidden)]
    fn boxed_body(&self, args: Args) -> BoxFuture<'_, Self::Return> {
        Box::pin(self.body(args))
    }
}

#[diagnostic::do_not_recommend]
impl<A: ?Sized + AsyncBody<Args>, Args: 'static> AroundPoint<Args> for A {
    fn start(&self, args: Args) -> BoxFuture<'_, Self::Return> {
        self.boxed_body(args)
    }
}

/// What post hooks of a point see: `T` of a method that returns `Result<T, E>`.
pub(crate) type Output<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Output;

/// The `E` of a method that returns `Result<T, E>`; no error at all of one that returns `T`.
pub(crate) type Error<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Error;

/// What a hook of a point fails with: [`BoxError`](crate::BoxError), or nothing where the method cannot fail.
pub(crate) type Fault<A, Args> =
    <<A as HookPoint<Args>>::Kind as ReturnKind<<A as HookPoint<Args>>::Return>>::Fault;

/// What a nested call does: a call of a hooked method from inside a call of the same method on the
/// same instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reentry {
    /// It runs the hooks that are registered as `always()`, and else goes straight to the body.
    Skip,
    /// It runs its hooks like any other, up to a depth of 128.
    Run,
    /// It fails.
    Deny,
}

/// How many calls of a method on an instance may be inside of each other, if each runs hooks.
pub(crate) const MAX_DEPTH: usize = 128;
