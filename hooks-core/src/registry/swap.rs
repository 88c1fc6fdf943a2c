//! What threads share, replaced by models of it where schedules are explored (`--cfg hooks_shuttle`).

#[cfg(not(hooks_shuttle))]
pub(crate) use arc_swap::ArcSwap;
#[cfg(not(hooks_shuttle))]
pub(crate) use std::sync::Mutex;
#[cfg(not(hooks_shuttle))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};

/// What a swapped cell held when it was looked at.
#[cfg(not(hooks_shuttle))]
pub(crate) type Loaded<T> = arc_swap::Guard<std::sync::Arc<T>>;

#[cfg(hooks_shuttle)]
pub(crate) use model::{ArcSwap, Loaded};
#[cfg(hooks_shuttle)]
pub(crate) use shuttle::sync::Mutex;
#[cfg(hooks_shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicU64, Ordering};

/// A cell that is swapped, as the explorer of schedules understands it.
#[cfg(hooks_shuttle)]
mod model {
    use std::sync::{Arc, PoisonError};

    use shuttle::sync::Mutex;

    pub(crate) type Loaded<T> = Arc<T>;

    #[derive(Default)]
    pub(crate) struct ArcSwap<T>(Mutex<Arc<T>>);

    impl<T> ArcSwap<T> {
        pub(crate) fn load(&self) -> Arc<T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }

        pub(crate) fn swap(&self, new: Arc<T>) -> Arc<T> {
            std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), new)
        }
    }
}
