//! What a hook may return.

use crate::error::BoxError;
use crate::flow::Flow;
use crate::point::{Fallible, Fault, HookPoint, Output, ReturnKind};

/// What a pre hook decided, whatever its form.
#[doc(hidden)]
#[derive(Debug)]
pub enum PreStep<Args, Output> {
    Continue,
    Replace(Args),
    Return(Output),
}

/// What a pre hook may return.
///
/// `()`: go on. `Option<Args>`: `Some` replaces the arguments. [`Flow<Output>`](Flow): `Return`
/// answers in place of the body. Where the method returns a `Result`, also
/// [`HookResult`](crate::HookResult) of each.
pub trait PreAnswer<A: ?Sized + HookPoint<Args>, Args> {
    #[doc(hidden)]
    fn into_step(self) -> PreResult<A, Args>;
}

/// What a post hook may return.
///
/// `()`: keep the output. `Option<Output>`: `Some` replaces it. Where the method returns a
/// `Result`, also [`HookResult`](crate::HookResult) of each.
pub trait PostAnswer<A: ?Sized + HookPoint<Args>, Args> {
    #[doc(hidden)]
    fn into_output(self) -> PostResult<A, Args>;
}

pub(crate) type PreResult<A, Args> = Result<PreStep<Args, Output<A, Args>>, Fault<A, Args>>;
pub(crate) type PostResult<A, Args> = Result<Option<Output<A, Args>>, Fault<A, Args>>;

impl<A: ?Sized + HookPoint<Args>, Args> PreAnswer<A, Args> for () {
    fn into_step(self) -> PreResult<A, Args> {
        Ok(PreStep::Continue)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> PreAnswer<A, Args> for Option<Args> {
    fn into_step(self) -> PreResult<A, Args> {
        Ok(self.map_or(PreStep::Continue, PreStep::Replace))
    }
}

impl<A, Args, O> PreAnswer<A, Args> for Flow<O>
where
    A: ?Sized + HookPoint<Args>,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_step(self) -> PreResult<A, Args> {
        Ok(match self {
            Flow::Continue => PreStep::Continue,
            Flow::Return(output) => PreStep::Return(output),
        })
    }
}

// One error type only, so that `?` and `Ok(())` in a closure need no annotation.
impl<A, Args, R> PreAnswer<A, Args> for Result<R, BoxError>
where
    A: ?Sized + HookPoint<Args, Kind = Fallible>,
    Fallible: ReturnKind<A::Return, Fault = BoxError>,
    R: PreAnswer<A, Args>,
{
    fn into_step(self) -> PreResult<A, Args> {
        self?.into_step()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> PostAnswer<A, Args> for () {
    fn into_output(self) -> PostResult<A, Args> {
        Ok(None)
    }
}

impl<A, Args, O> PostAnswer<A, Args> for Option<O>
where
    A: ?Sized + HookPoint<Args>,
    A::Kind: ReturnKind<A::Return, Output = O>,
{
    fn into_output(self) -> PostResult<A, Args> {
        Ok(self)
    }
}

impl<A, Args, R> PostAnswer<A, Args> for Result<R, BoxError>
where
    A: ?Sized + HookPoint<Args, Kind = Fallible>,
    Fallible: ReturnKind<A::Return, Fault = BoxError>,
    R: PostAnswer<A, Args>,
{
    fn into_output(self) -> PostResult<A, Args> {
        self?.into_output()
    }
}
