//! Futures of bodies.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::point::call_mode::BoxFuture;

/// The body of an async method, which around hooks may run on any thread.
#[rustfmt::skip]
pub fn sendable<F>(body: F) -> F
where
    F: Future + Send, // not `Send`? write `#[hook(?Send)]` on the method
{
    body
}

/// Boxes the body of an async method, which around hooks may run on any thread.
#[rustfmt::skip]
pub fn boxed<'a, T>(
    body: impl Future<Output = T> + Send + 'a, // not `Send`? write `#[hook(?Send)]` on the method
) -> BoxFuture<'a, T> {
    Box::pin(body)
}

pin_project! {
    #[expect(missing_docs, reason = "`pin_project` takes no docs on the fields of variants")]
    /// The future of a method that returns `impl Future`: its body, started when it was called, or the
    /// call with its hooks.
    #[project = EitherProjected]
    #[derive(Debug)]
    pub enum EitherFuture<U, H> {
        /// No hook was there.
        Unhooked {
            #[pin]
            future: U,
        },
        /// A hook was there.
        Hooked {
            #[pin]
            future: H,
        },
    }
}

impl<U: Future, H: Future<Output = U::Output>> Future for EitherFuture<U, H> {
    type Output = U::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<U::Output> {
        match self.project() {
            EitherProjected::Unhooked { future } => future.poll(context),
            EitherProjected::Hooked { future } => future.poll(context),
        }
    }
}
