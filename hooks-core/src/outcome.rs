//! The outcome of a call, for hooks that look at the end of it.

/// How a hooked call ended, as `settled` hooks see it.
///
/// A settled hook takes the agent and the outcome. It may take `elapsed: Duration` behind the outcome,
/// the time from the first poll of the call, and then `args: &Args` before it, a copy of what the body
/// was given, or would have been.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_core::{HookError, Hookable, Hooks, Outcome, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Worker {
///     open: AtomicUsize,
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Worker {
///     async fn reply(&self, job: String) -> Result<String, HookError> {
///         std::future::pending().await
///     }
/// }
///
/// let worker = Worker::default();
/// worker.register_instance_hook(
///     Worker::SETTLED_REPLY,
///     "gauge",
///     |worker: &Worker, outcome: &Outcome<'_, String, HookError>| {
///         assert!(matches!(outcome, Outcome::Cancelled));
///         worker.open.fetch_sub(1, Ordering::Relaxed);
///     },
/// );
/// worker.register_instance_hook(
///     Worker::PRE_REPLY,
///     "gauge",
///     |worker: &Worker, _: &WorkerReplyArgs| {
///         worker.open.fetch_add(1, Ordering::Relaxed);
///     },
/// );
/// let mut call = Box::pin(worker.reply("sleep".to_owned()));
/// # futures::executor::block_on(async {
/// assert!(futures::poll!(&mut call).is_pending());
/// # });
/// assert_eq!(worker.open.load(Ordering::Relaxed), 1);
/// drop(call);
/// assert_eq!(worker.open.load(Ordering::Relaxed), 0);
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome<'a, T, E> {
    /// It returned this output, after its post hooks; or an error hook recovered it.
    Ok(&'a T),
    /// It returned this error, after its error hooks.
    Err(&'a E),
    /// Its future was dropped before it was finished.
    Cancelled,
    /// The body or a hook panicked.
    Panicked,
}

// By hand: a reference is `Copy` whatever it refers to.
impl<T, E> Clone for Outcome<'_, T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Outcome<'_, T, E> {}

/// What an `error` hook may answer to save the call.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery<T> {
    /// The call fails with the error as it is now.
    #[default]
    Fail,
    /// The call returns this output after all. Post hooks do not see it.
    Recover(T),
}
