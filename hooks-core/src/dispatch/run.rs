//! The way into a call: runs its hooks around its body.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::dispatch::around::{AroundHooks, AroundNow, AsyncAround, NoAround, SyncAround};
use crate::dispatch::call::{BEFORE, Call, Found, Looked};
use crate::dispatch::guard::{Left, Polled};
use crate::dispatch::receiver::{Receiver, SharedReceiver};
use crate::dispatch::snapshot::{Snapshot, Tables};
use crate::dispatch::trace;
use crate::hook_type::Phase;
use crate::point::call_mode::{AsyncMethod, SyncMethod};
use crate::point::hook_point::{AroundPoint, AsyncBody, HookPoint};
use crate::point::hook_slot::Pre;
use crate::point::return_kind::ReturnKind;
use crate::registry::hooks::HasHooks;

/// Runs a call of an async method with `&self`.
#[inline]
pub fn run<'a, A, Args>(agent: &'a A, args: Args) -> impl Future<Output = A::Return>
where
    A: ?Sized + HasHooks + AsyncBody<Args> + Sync,
    Args: 'static,
{
    HookedCall::new(
        SharedReceiver(agent),
        args,
        A::body,
        drive::<SharedReceiver<'a, A>, A, Args, AsyncAround, _, _>,
    )
}

/// Runs a call of an async method whose future is not `Send`, or which takes `&mut self`: it has no
/// around hooks.
#[inline]
pub fn run_alone<R, A, Args, Body, Fut>(
    agent: R,
    args: Args,
    body: Body,
) -> impl Future<Output = A::Return>
where
    R: Receiver<Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = AsyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    HookedCall::new(agent, args, body, drive::<R, A, Args, NoAround, _, _>)
}

pin_project! {
    /// A call with hooks. It keeps itself on the stack of calls while it is polled.
    ///
    /// Of most calls only the body has to be awaited: their hooks run right here, before and after it.
    #[project = Projected]
    struct HookedCall<R, A, Args, Body, Fut, Drive, D>
    where
        A: ?Sized,
        A: HookPoint<Args>,
        Args: 'static,
    {
        receiver: R,
        instance: u64,
        // The arguments for the body; then the copy that post hooks see.
        args: Option<Args>,
        body: Option<Body>,
        drive: Option<Drive>,
        // The post hooks of a call that waits for its body.
        after: Option<Box<Snapshot<A, Args>>>,
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

impl<R, A, Args, Body, Fut, Drive, D> HookedCall<R, A, Args, Body, Fut, Drive, D>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
{
    #[inline]
    fn new(receiver: R, args: Args, body: Body, drive: Drive) -> Self {
        // Here and not when it is polled: nothing of the user's may panic before the call is on the stack.
        let instance = receiver.borrow().hooks().id();
        let (args, body, drive) = (Some(args), Some(body), Some(drive));
        Self {
            receiver,
            instance,
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

impl<R, A, Args, Body, Fut, Drive, D> Future for HookedCall<R, A, Args, Body, Fut, Drive, D>
where
    R: Receiver<Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
    Drive: FnOnce(R, Found<A, Args>, Option<Args>, Body) -> D,
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

impl<R, A, Args, Body, Fut, Drive, D> HookedCall<R, A, Args, Body, Fut, Drive, D>
where
    R: Receiver<Agent = A> + Copy,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
    Drive: FnOnce(R, Found<A, Args>, Option<Args>, Body) -> D,
    D: Future<Output = A::Return>,
{
    // Each has one place for what it returns, which is polled into: it is never copied.
    #[inline(never)]
    fn start(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Return> {
        let mut this = self.project();
        let mut polled = Polled::new(this.left);
        let nesting = polled.enter::<Pre<A, Args>>(*this.instance);
        *this.span = trace::span::<A, Args>();
        let _entered = this.span.as_deref().map(Span::enter);
        let receiver = *this.receiver;
        let body = this.body.take().expect(BEFORE);
        let borrowed = receiver.shared().is_none().then(|| receiver.borrow());
        let agent = receiver.shared().or(borrowed.as_deref()).expect(BEFORE);
        let tables = Tables::load::<A, Args>(agent);
        let hooks = tables.hooks::<A, Args>(agent);
        let is_shared = borrowed.is_none();
        match Found::look(agent, *this.instance, nesting, &tables, &hooks, this.args, is_shared) {
            Looked::Answer(answer) => Poll::Ready(*answer),
            Looked::Body => {
                drop(tables);
                drop(borrowed);
                this.state.as_mut().begin(&receiver, body, this.args.take().expect(BEFORE));
                this.state.poll(context)
            }
            Looked::Post => {
                let args = this.args.take().expect(BEFORE);
                *this.args = hooks.keep_args().map(|keep_args| keep_args(&args));
                this.state.as_mut().begin(&receiver, body, args);
                let mut poll = this.state.as_mut().poll(context);
                match &mut poll {
                    Poll::Ready(returned) => {
                        this.state.set(State::Start);
                        hooks.run_post(&*receiver.borrow(), this.args.as_ref(), returned);
                    }
                    Poll::Pending => *this.after = Some(Box::new(hooks.keep(&tables))),
                }
                poll
            }
            Looked::Found(found) => {
                drop(tables);
                drop(borrowed);
                let drive = this.drive.take().expect(BEFORE);
                this.state.as_mut().drive(drive, receiver, found, this.args.take(), body);
                this.state.poll(context)
            }
        }
    }

    #[inline(never)]
    fn go_on(self: Pin<&mut Self>, left: Left, context: &mut Context<'_>) -> Poll<A::Return> {
        let mut this = self.project();
        let mut polled = Polled::new(this.left);
        polled.again(left);
        let _entered = this.span.as_deref().map(Span::enter);
        let mut poll = this.state.as_mut().poll(context);
        if let Poll::Ready(returned) = &mut poll
            && let Some(hooks) = this.after.take()
        {
            this.state.set(State::Start);
            hooks.run_post(&*this.receiver.borrow(), this.args.as_ref(), returned);
        }
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
        body: impl FnOnce(R::Borrowed, Args) -> Fut,
        args: Args,
    ) {
        self.set(Self::Body { future: body(receiver.borrow(), args) });
    }

    /// Makes it the future of a call that has more than a body.
    #[inline]
    fn drive<R, A, Args, Body>(
        mut self: Pin<&mut Self>,
        drive: impl FnOnce(R, Found<A, Args>, Option<Args>, Body) -> D,
        receiver: R,
        found: Found<A, Args>,
        args: Option<Args>,
        body: Body,
    ) where
        A: ?Sized + HookPoint<Args>,
        Args: 'static,
    {
        self.set(Self::Drive { future: drive(receiver, found, args, body) });
    }

    #[inline]
    fn poll<T>(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T>
    where
        Fut: Future<Output = T>,
        D: Future<Output = T>,
    {
        match self.project() {
            StateProjected::Body { future } => future.poll(context),
            StateProjected::Drive { future } => future.poll(context),
            StateProjected::Start => unreachable!("the call has left"),
        }
    }
}

/// Runs a call of a sync method with `&self`.
pub fn run_sync<A, Args>(agent: &A, args: Args) -> A::Return
where
    A: ?Sized + HasHooks + AroundPoint<Args, Mode = SyncMethod>,
    Args: 'static,
{
    run_now::<_, A, Args, SyncAround>(&SharedReceiver(agent), args, A::start)
}

/// Runs a call of a sync method which takes `&mut self`: it has no around hooks.
#[expect(clippy::needless_pass_by_value, reason = "the expansion makes it for the call")]
pub fn run_sync_alone<R, A, Args, Body>(agent: R, args: Args, body: Body) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Body: FnOnce(R::Borrowed, Args) -> A::Return,
{
    run_now::<R, A, Args, NoAround>(&agent, args, body)
}

/// Runs a call in which nothing waits.
#[inline]
fn run_now<R, A, Args, Onion>(
    receiver: &R,
    args: Args,
    body: impl FnOnce(R::Borrowed, Args) -> A::Return,
) -> A::Return
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args, Mode = SyncMethod>,
    Args: 'static,
    Onion: AroundNow<A, Args>,
{
    let instance = receiver.borrow().hooks().id();
    let mut left = None;
    let mut polled = Polled::new(&mut left);
    let nesting = polled.enter::<Pre<A, Args>>(instance);
    let span = trace::span::<A, Args>();
    let _entered = span.as_deref().map(Span::enter);
    let (mut args, mut answer) = (Some(args), None);
    let mut found = {
        let borrowed = receiver.shared().is_none().then(|| receiver.borrow());
        let agent = receiver.shared().or(borrowed.as_deref()).expect(BEFORE);
        let tables = Tables::load::<A, Args>(agent);
        let hooks = tables.hooks::<A, Args>(agent);
        let may_wait = borrowed.is_none();
        match Found::look(agent, instance, nesting, &tables, &hooks, &mut args, may_wait) {
            Looked::Body => {
                drop(tables);
                drop(borrowed);
                return body(receiver.borrow(), args.take().expect(BEFORE));
            }
            Looked::Answer(answer) => return *answer,
            Looked::Post => {
                let args = args.take().expect(BEFORE);
                let copy = hooks.keep_args().map(|keep_args| keep_args(&args));
                let mut returned = body(receiver.borrow(), args);
                hooks.run_post(&*receiver.borrow(), copy.as_ref(), &mut returned);
                return returned;
            }
            Looked::Found(found) => found,
        }
    };
    let mut call = Call::new(receiver, &mut found, &mut args, &mut answer);
    call.start();
    if let Some(at) = call.waits() {
        call.resume_pre_now(at);
    }
    let mut returned = match call.answer() {
        Some(answer) => answer,
        None => 'body: {
            let args = call.take_args();
            if call.has(Phase::Around) {
                let agent = receiver.borrow();
                if let Some(around) = Onion::call(&agent, &call.found.hooks, call.is_nested()) {
                    break 'body Onion::now(&around, args);
                }
            }
            body(receiver.borrow(), args)
        }
    };
    call.start_post(&mut returned);
    if let Some(at) = call.waits() {
        call.resume_post_now(at, &mut returned);
    }
    if call.needs_error_hooks(&returned) {
        call.run_error_now(&mut returned);
    }
    call.settle(&returned);
    returned
}

/// The one order of things: pre hooks, around hooks and body, post hooks; error hooks if any of
/// these failed; settled hooks whatever happened.
///
/// One async block, which keeps next to nothing from one `await` to another but the [`Call`]: every
/// call has room for what it keeps.
#[inline]
fn drive<R, A, Args, Onion, Body, Fut>(
    receiver: R,
    found: Found<A, Args>,
    args: Option<Args>,
    body: Body,
) -> impl Future<Output = A::Return>
where
    R: Receiver<Agent = A>,
    A: ?Sized + HasHooks + HookPoint<Args>,
    Args: 'static,
    Onion: AroundHooks<A, Args>,
    Body: FnOnce(R::Borrowed, Args) -> Fut,
    Fut: Future<Output = A::Return>,
{
    let (mut found, mut args) = (found, args);
    async move {
        if found.is_short {
            // Pre hooks, of which some wait, and nothing but the body behind them.
            let ended = found.run_pre(receiver.borrow(), args.as_mut().expect(BEFORE)).await;
            return match ended {
                Some(end) => A::Kind::join(end),
                None => pin!(body(receiver.borrow(), args.take().expect(BEFORE))).await,
            };
        }
        let mut answer = None;
        let mut call = Call::new(&receiver, &mut found, &mut args, &mut answer);
        call.start();
        if let Some(at) = call.waits() {
            call.resume_pre(at).await;
        }
        let mut returned = match call.answer() {
            Some(answer) => answer,
            None => 'body: {
                let args = call.take_args();
                if call.has(Phase::Around) {
                    let agent = receiver.borrow();
                    if let Some(around) = Onion::call(&agent, &call.found.hooks, call.is_nested()) {
                        break 'body Onion::start(&around, args).await;
                    }
                }
                pin!(body(receiver.borrow(), args)).await
            }
        };
        call.start_post(&mut returned);
        if let Some(at) = call.waits() {
            call.resume_post(at, &mut returned).await;
        }
        if call.needs_error_hooks(&returned) {
            Box::pin(call.run_error(&mut returned)).await;
        }
        call.settle(&returned);
        returned
    }
}
