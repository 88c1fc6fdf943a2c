//! Which calls a piece of work is inside of, where that is not decided by where it runs.

use std::future::poll_fn;
use std::pin::pin;

use tokio::task::try_id;

use crate::dispatch::stack::guard::{Ended, Frame, with_stack};

/// The stack as it was; restored when dropped.
struct Before {
    len: usize,
    base: usize,
}

impl Before {
    /// Hides the calls that the caller is inside of, and puts others in their place.
    fn replaced(calls: &[(Frame, Ended)]) -> Self {
        with_stack(|stack| {
            let before = Self { len: stack.frames.len(), base: stack.base };
            stack.base = before.len;
            if !calls.is_empty() {
                let task = try_id();
                for (frame, ended) in calls {
                    stack.carried.push((stack.frames.len(), ended.clone()));
                    stack.frames.push(frame.in_task(task));
                }
            }
            before
        })
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        with_stack(|stack| {
            stack.base = self.base;
            if stack.frames.len() > self.len {
                stack.frames.truncate(self.len);
                stack.tidy();
            }
        });
    }
}

/// Runs a future inside of the calls that the caller is inside of, wherever it is polled.
///
/// A spawned task starts outside of the call that spawns it: a hooked method that it calls runs its
/// hooks, also if it is the method that spawned it. Wrapped in this, the task belongs to the call,
/// and the re-entrancy guard holds in it, until the call ends.
///
/// [`outside`] is the inverse.
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
    let calls = with_stack(|stack| {
        let mut open: Vec<_> = stack.open(try_id()).collect();
        open.reverse();
        let carried = open.into_iter().map(|index| {
            let ended = stack.ended(index).cloned().unwrap_or_else(|| {
                let ended = Ended::default();
                stack.carried.push((index, ended.clone()));
                stack.carried.sort_by_key(|(index, _)| *index);
                ended
            });
            (stack.frames[index], ended)
        });
        carried.collect::<Vec<_>>()
    });
    within(calls, future)
}

/// Runs a function inside of no call.
///
/// A hooked method that it calls runs its hooks, also if the caller is inside a call of that method.
/// It is for work that is not part of the call on whose thread it happens to run: the jobs of a
/// thread pool whose waiting threads take on other jobs, as those of `rayon` do. [`outside_future`]
/// is for futures.
///
/// ```
/// use hooks_core::{Hookable, Hooks, hookable, outside};
///
/// #[derive(Hookable, Default)]
/// struct Counter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Counter {
///     #[hook]
///     fn count(&self, more: &[u32]) -> u32 {
///         match more {
///             [] => 0,
///             [one, more @ ..] => one + outside(|| self.count(more)),
///         }
///     }
/// }
///
/// let counter = Counter::default();
/// counter.register_instance_hook(
///     Counter::POST_COUNT,
///     "double",
///     |_: &Counter, _: &CounterCountArgs, sum: &mut u32| *sum *= 2,
/// );
/// // Without `outside` the hook would run for the outermost call only: (1 + 1) * 2.
/// assert_eq!(counter.count(&[1, 1]), 6);
/// ```
pub fn outside<T>(run: impl FnOnce() -> T) -> T {
    let _before = Before::replaced(&[]);
    run()
}

/// Runs a future inside of no call, wherever it is polled: [`outside`] for futures.
///
/// It is for a future that others poll too, as one that is `Shared` is: a hooked call in it then runs
/// its hooks, also if a hook of the same method is the first to poll it.
pub fn outside_future<F: Future>(future: F) -> impl Future<Output = F::Output> {
    within(Vec::new(), future)
}

async fn within<F: Future>(calls: Vec<(Frame, Ended)>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _before = Before::replaced(&calls);
        future.as_mut().poll(context)
    })
    .await
}
