//! The re-entrancy guard: which hooked calls the running code is inside of.
//!
//! A call is on the stack of its thread only while it is being polled, so the guard belongs to
//! the call and not to the instance: other tasks, and other futures of a `join!` in the same
//! task, are not inside it. A dropped future leaves nothing behind.
//!
//! What another executor runs on the thread while a call waits there for it is taken for the
//! call's own: a thread pool that steals work, or a second runtime that is blocked on.

use std::any::TypeId;
use std::cell::RefCell;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::registry::Hooks;

/// A method of an instance. The hooks field stands for the instance, whose own address may be
/// that of its first field too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    instance: usize,
    point: TypeId,
}

impl Frame {
    /// The method with these arguments of the instance that has these hooks.
    #[inline]
    pub(crate) fn of<Args: 'static>(hooks: &Hooks) -> Self {
        Self { instance: instance_of(hooks), point: TypeId::of::<Args>() }
    }
}

/// What tells the instance that has these hooks from others.
#[inline]
pub(crate) fn instance_of(hooks: &Hooks) -> usize {
    std::ptr::from_ref(hooks).addr()
}

#[cfg(not(shuttle))]
thread_local! {
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

// The threads whose schedules are explored are not those of the system.
#[cfg(shuttle)]
shuttle::thread_local! {
    static STACK: RefCell<Vec<Frame>> = RefCell::new(Vec::new());
}

/// How many calls of that method of that instance the running code is inside of.
#[inline]
pub(crate) fn depth(frame: Frame) -> usize {
    // At the end of the thread the stack is gone. Then a call counts as nested: a hook that calls
    // its own method must not do so for ever.
    STACK
        .try_with(|stack| stack.borrow().iter().filter(|open| **open == frame).count())
        .unwrap_or(1)
}

pin_project! {
    /// Runs a future with the frame on the stack while it is polled.
    ///
    /// A type and not an `async fn`, which would keep room for the future twice.
    pub(crate) struct Scope<Args, F> {
        // The frame without what the type says already: a call moves it.
        instance: usize,
        args: PhantomData<fn(Args)>,
        // What is traced as the call, if it is.
        span: Option<Box<Span>>,
        #[pin]
        future: F,
    }
}

impl<Args, F> Scope<Args, F> {
    #[inline]
    pub(crate) fn new(instance: usize, span: Option<Box<Span>>, future: F) -> Self {
        Self { instance, args: PhantomData, span, future }
    }
}

impl<Args: 'static, F: Future> Future for Scope<Args, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let frame = Frame { instance: *this.instance, point: TypeId::of::<Args>() };
        let _entered = Entered::one(frame);
        let _span = this.span.as_deref().map(Span::enter);
        this.future.poll(context)
    }
}

/// Runs a future inside of the calls that the caller is inside of, wherever it is polled.
///
/// A spawned task starts outside of the call that spawns it: a hooked method that it calls runs its
/// hooks, also if it is the method that spawned it. Wrapped in this, the task belongs to the call,
/// and the re-entrancy guard holds in it.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_core::{HookError, Hookable, Hooks, carry, hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Agent {
///     hooked: AtomicUsize,
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Agent {
///     async fn reply(&self) -> Result<(), HookError> {
///         Ok(())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let agent = Arc::new(Agent::default());
/// let inner = agent.clone();
/// agent.register_instance_hook(
///     Agent::PRE_REPLY,
///     "spawn",
///     hook!(Agent::PRE_REPLY, async move |agent, _| {
///         agent.hooked.fetch_add(1, Ordering::Relaxed);
///         let inner = inner.clone();
///         tokio::spawn(carry(async move { inner.reply().await })).await??;
///         Ok(())
///     }),
/// );
/// agent.reply().await?;
/// assert_eq!(agent.hooked.load(Ordering::Relaxed), 1);
/// # Ok::<(), HookError>(())
/// # }).unwrap();
/// ```
pub fn carry<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let frames = STACK.try_with(|stack| stack.borrow().clone()).unwrap_or_default();
    async move {
        let mut future = pin!(future);
        poll_fn(|context| {
            let _entered = Entered::carried(&frames);
            future.as_mut().poll(context)
        })
        .await
    }
}

/// Puts a frame on the stack until the result is dropped.
pub(crate) fn enter(frame: Frame) -> Entered {
    Entered::one(frame)
}

/// Frames on the stack, taken off when dropped, also by a panic.
pub(crate) struct Entered {
    count: usize,
}

impl Entered {
    #[inline]
    fn one(frame: Frame) -> Self {
        let _ = STACK.try_with(|stack| stack.borrow_mut().push(frame));
        Self { count: 1 }
    }

    /// The frames that were carried here, unless this is where they come from.
    fn carried(frames: &[Frame]) -> Self {
        let pushed = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            let is_at_home = stack.starts_with(frames);
            if !is_at_home {
                stack.extend_from_slice(frames);
            }
            !is_at_home
        });
        Self { count: if pushed.unwrap_or(false) { frames.len() } else { 0 } }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            let rest = stack.len() - self.count;
            stack.truncate(rest);
        });
    }
}
