//! The way into a call of an async method.

use std::any::TypeId;
use std::future::Pending;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::dispatch::around::NoAround;
use crate::dispatch::call::BEFORE;
use crate::dispatch::drive::drive;
use crate::dispatch::receiver::{Finder, Receiver, SharedReceiver};
use crate::dispatch::report::trace;
use crate::dispatch::snapshot::Tables;
use crate::dispatch::stack::guard::{Left, Nesting, Polled};
use crate::dispatch::steps::{go_failed, go_long, go_short};
use crate::dispatch::way::{ALONE, Ahead, Looked, SHARED, SHORT, Visit};
use crate::point::call_mode::{AsyncMethod, Position};
use crate::point::hook_point::{AsyncBody, HookPoint};
use crate::point::hook_slot::Pre;
use crate::registry::hooks::HasHooks;

/// Runs a call of an async method with `&self`.
#[inline]
pub fn run<A, Args>(agent: &A, args: Args) -> impl Future<Output = A::Return>
where
    A: ?Sized + AsyncBody<Args>,
    Args: 'static,
{
    HookedCall::new(
        SharedReceiver(agent),
        args,
        A::body,
        SHORT,
        |SharedReceiver(agent), _, visit, args, ahead| match ahead {
            Ahead::Short(phases) => {
                let from = visit.from.unwrap_or(Position::END);
                let future = go_short(agent, visit.tables, (from, phases), args);
                ShortOrLong::Short { future }
            }
            Ahead::Long => ShortOrLong::Long { future: go_long(agent, visit, args) },
            Ahead::Failed(returned) => {
                ShortOrLong::Long { future: go_failed(agent, visit, args, *returned) }
            }
        },
    )
}

pin_project! {
    /// What is left of a call that has more than its body and sync hooks.
    #[project = ShortOrLongProjected]
    enum ShortOrLong<S, L> {
        Short { #[pin] future: S },
        Long { #[pin] future: L },
    }
}

impl<S: Future, L: Future<Output = S::Output>> Future for ShortOrLong<S, L> {
    type Output = S::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            ShortOrLongProjected::Short { future } => future.poll(context),
            ShortOrLongProjected::Long { future } => future.poll(context),
        }
    }
}

/// Runs a call of an async method whose future is not `Send`, or which takes `&mut self`: it has no
/// around hooks.
#[expect(clippy::missing_panics_doc, reason = "the body is there when the call starts")]
#[inline]
pub fn run_alone<'h, R, A, Args, Body, Fut>(
    agent: R,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    R: Finder<'h, Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let short = if R::IS_SHARED { SHARED } else { ALONE };
    HookedCall::new(agent, args, body, short, |agent, body, visit, args, _| {
        let body = body.take().expect(BEFORE);
        let future = drive::<R, A, Args, NoAround, _, _>(agent, visit, args, body);
        ShortOrLong::<Pending<A::Return>, _>::Long { future }
    })
}

pin_project! {
    /// A call with hooks. It keeps itself on the stack of calls while it is polled.
    ///
    /// Of most calls only the body has to be awaited: their hooks run right here, before and after it.
    #[project = Projected]
    struct HookedCall<'h, R, Args, Body, Fut, Drive, D> {
        receiver: R,
        instance: u64,
        // The phases whose hooks need not be run the long way.
        short: u8,
        // The arguments for the body; then the copy that post hooks see.
        args: Option<Args>,
        body: Option<Body>,
        drive: Option<Drive>,
        // Where the post and error hooks are of a call that waits for its body.
        after: Option<Tables<'h>>,
        left: Option<Left>,
        // What is traced as the call, if it is.
        span: Option<Box<Span>>,
        #[pin]
        state: State<Fut, D>,
    }
}

pin_project! {
    #[project = StateProjected]
    enum State<Fut, D> {
        Start,
        Body { #[pin] future: Fut },
        Drive { #[pin] future: D },
    }
}

impl<'h, R, A, Args, Body, Fut, Drive, D> HookedCall<'h, R, Args, Body, Fut, Drive, D>
where
    R: Finder<'h, Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    #[inline]
    fn new(receiver: R, args: Args, body: Body, short: u8, drive: Drive) -> Self
    where
        Drive: FnOnce(R, &mut Option<Body>, Visit<'h>, Args, Ahead<A::Return>) -> D,
    {
        // Here and not when it is polled: nothing of the user's may panic before the call is on the stack.
        let instance = receiver.borrow().hooks().id();
        let (args, body, drive) = (Some(args), Some(body), Some(drive));
        Self {
            receiver,
            instance,
            short,
            args,
            body,
            drive,
            after: None,
            left: None,
            span: None,
            state: State::Start,
        }
    }
}

impl<'h, R, A, Args, Body, Fut, Drive, D> Future for HookedCall<'h, R, Args, Body, Fut, Drive, D>
where
    R: Finder<'h, Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
    Drive: FnOnce(R, &mut Option<Body>, Visit<'h>, Args, Ahead<A::Return>) -> D,
    D: Future<Output = A::Return>,
{
    type Output = A::Return;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Return> {
        match self.as_mut().project().left.take() {
            None => self.start(context),
            Some(left) => self.go_on(left, context),
        }
    }
}

impl<'h, R, A, Args, Body, Fut, Drive, D> HookedCall<'h, R, Args, Body, Fut, Drive, D>
where
    R: Finder<'h, Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
    Drive: FnOnce(R, &mut Option<Body>, Visit<'h>, Args, Ahead<A::Return>) -> D,
    D: Future<Output = A::Return>,
{
    // Each has one place for what it returns, which is polled into: it is never copied.
    #[inline(never)]
    fn start(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Return> {
        let mut this = self.project();
        let mut polled = Polled::new(this.left);
        let point = TypeId::of::<Pre<A, Args>>();
        let nesting = polled.enter(*this.instance, point);
        *this.span = trace::span::<A, Args>();
        let _entered = this.span.as_deref().map(Span::enter);
        let receiver = *this.receiver;
        let mut tables = receiver.tables::<Args>();
        let (hooks, mut copy, looked);
        {
            let agent = receiver.borrow();
            hooks = tables.hooks::<A, Args>(&agent);
            copy = None;
            looked = hooks.look(&agent, this.args, &mut copy, nesting, *this.short);
        }
        let (from, ahead) = match looked {
            Looked::Answer(answer) => return Poll::Ready(*answer),
            Looked::Failed(returned) => (None, Ahead::Failed(returned)),
            Looked::Body => {
                drop(tables);
                let args = this.args.take().expect(BEFORE);
                this.state.as_mut().begin(&receiver, this.body, args);
                let poll = this.state.poll(context);
                polled.came_to(&poll);
                return poll;
            }
            Looked::Post => {
                let args = mem::replace(this.args, copy).expect(BEFORE);
                this.state.as_mut().begin(&receiver, this.body, args);
                let mut poll = this.state.as_mut().poll(context);
                let failed = match &mut poll {
                    Poll::Ready(returned) => {
                        this.state.set(State::Start);
                        hooks.post(&receiver.borrow(), this.args.as_ref(), returned);
                        this.args.is_some() && hooks.handle(returned)
                    }
                    Poll::Pending => {
                        tables.keep();
                        *this.after = Some(tables);
                        polled.came_to(&poll);
                        return poll;
                    }
                };
                match poll {
                    Poll::Ready(returned) if failed => (None, Ahead::Failed(Box::new(returned))),
                    poll => {
                        *this.args = None;
                        polled.came_to(&poll);
                        return poll;
                    }
                }
            }
            Looked::Short(at, phases) => (at, Ahead::Short(phases)),
            Looked::Long(at) => (at, Ahead::Long),
        };
        tables.keep();
        let visit = Visit { instance: *this.instance, point, nesting, tables, from };
        let (drive, args) = (this.drive.take().expect(BEFORE), this.args.take().expect(BEFORE));
        this.state.as_mut().drive(|| drive(receiver, this.body, visit, args, ahead));
        let poll = this.state.poll(context);
        polled.came_to(&poll);
        poll
    }

    #[inline(never)]
    fn go_on(self: Pin<&mut Self>, left: Left, context: &mut Context<'_>) -> Poll<A::Return> {
        let mut this = self.project();
        let mut polled = Polled::new(this.left);
        polled.again(left);
        let _entered = this.span.as_deref().map(Span::enter);
        let mut poll = this.state.as_mut().poll(context);
        if let Poll::Ready(returned) = &mut poll
            && let Some(tables) = this.after.take()
        {
            this.state.set(State::Start);
            let args = this.args.take();
            let failed = {
                let agent = this.receiver.borrow();
                let hooks = tables.hooks::<A, Args>(&agent);
                hooks.post(&agent, args.as_ref(), returned);
                hooks.handle(returned)
            };
            if let Some(args) = args.filter(|_| failed)
                && let Poll::Ready(returned) = poll
            {
                let (instance, point) = (*this.instance, TypeId::of::<Pre<A, Args>>());
                let visit = Visit { instance, point, nesting: Nesting::NONE, tables, from: None };
                let (receiver, drive) = (*this.receiver, this.drive.take().expect(BEFORE));
                let ahead = Ahead::Failed(Box::new(returned));
                this.state.as_mut().drive(|| drive(receiver, this.body, visit, args, ahead));
                poll = this.state.poll(context);
            }
        }
        polled.came_to(&poll);
        poll
    }
}

// Functions of their own: without optimisation, what each moves would be part of every call's frame.
impl<Fut, D> State<Fut, D> {
    /// Makes it the future of a body.
    #[inline]
    fn begin<R: Receiver, Args>(
        mut self: Pin<&mut Self>,
        receiver: &R,
        body: &mut Option<impl FnOnce(R::Borrowed, Args) -> Fut>,
        args: Args,
    ) {
        let body = body.take().expect(BEFORE);
        self.set(Self::Body { future: body(receiver.borrow(), args) });
    }

    /// Makes it the future of a call that has more than a body.
    #[inline]
    fn drive(mut self: Pin<&mut Self>, drive: impl FnOnce() -> D) {
        self.set(Self::Drive { future: drive() });
    }

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Fut::Output>
    where
        Fut: Future,
        D: Future<Output = Fut::Output>,
    {
        match self.project() {
            StateProjected::Body { future } => future.poll(context),
            StateProjected::Drive { future } => future.poll(context),
            StateProjected::Start => unreachable!("the call has left, or it has not begun"),
        }
    }
}
