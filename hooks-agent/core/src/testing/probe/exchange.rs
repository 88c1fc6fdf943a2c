//! A call whose inner side is played by the test.

use std::fmt::Debug;
use std::pin::Pin;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use futures::{FutureExt, StreamExt};

/// The requests of one side, with a place for the answer of the other.
pub(super) type Requests<Q, A> = UnboundedSender<(Q, oneshot::Sender<A>)>;

/// A call, and the requests that come from inside of it. Whoever waits for one drives the call.
pub(super) struct Exchange<Q, A, R> {
    call: BoxFuture<'static, R>,
    requests: UnboundedReceiver<(Q, oneshot::Sender<A>)>,
}

impl<Q: Debug, A, R: Debug> Exchange<Q, A, R> {
    pub(super) fn start<C>(call: impl FnOnce(Requests<Q, A>) -> C) -> Self
    where
        C: Future<Output = R> + Send + 'static,
    {
        let (sender, requests) = unbounded();
        Self { call: call(sender).boxed(), requests }
    }

    pub(super) async fn next(&mut self) -> (Q, oneshot::Sender<A>) {
        match select(Pin::new(&mut self.call), self.requests.next()).await {
            Either::Right((Some(request), _)) => request,
            Either::Right((None, call)) => panic!("the call ended with {:?}", call.await),
            Either::Left((ended, _)) => {
                panic!("expected a further request, but the call ended with {ended:?}")
            }
        }
    }

    pub(super) async fn end(mut self) -> R {
        match select(self.call, self.requests.next()).await {
            Either::Left((ended, _)) => ended,
            Either::Right((Some((request, _)), _)) => panic!(
                "expected the end of the call, but there is a further request, wait for it by \
                 `next_request`: {request:?}"
            ),
            Either::Right((None, call)) => call.await,
        }
    }
}

/// Passes a request on to the test and waits for the answer.
pub(super) async fn pass_on<Q, A>(
    requests: &Requests<Q, A>,
    request: Q,
) -> Result<A, oneshot::Canceled> {
    let (sender, answer) = oneshot::channel();
    // The test has dropped the call otherwise, which is then not polled.
    let _ = requests.unbounded_send((request, sender));
    answer.await
}
