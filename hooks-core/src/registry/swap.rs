//! Cells, atomics and locks that threads share, replaced by models of them where schedules are
//! explored (`--cfg hooks_shuttle`).

use std::sync::{Arc, OnceLock};

#[cfg(not(hooks_shuttle))]
pub(crate) use arc_swap::ArcSwap;
#[cfg(not(hooks_shuttle))]
pub(crate) use std::sync::Mutex;
#[cfg(not(hooks_shuttle))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a swapped cell held when it was looked at.
#[cfg(not(hooks_shuttle))]
pub(crate) type Loaded<T> = arc_swap::Guard<Arc<T>>;

#[cfg(hooks_shuttle)]
pub(crate) use model::{ArcSwap, Loaded};
#[cfg(hooks_shuttle)]
pub(crate) use shuttle::sync::Mutex;
#[cfg(hooks_shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is read without a counter until it is opened. It stays in memory as long as this.
pub(crate) struct Sealed<T> {
    kept: OnceLock<Arc<T>>,
    is_open: AtomicBool,
}

impl<T> Sealed<T> {
    /// What was sealed, unless it was opened since.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<T>> {
        let kept = self.kept.get()?;
        // What was written before this was opened is seen by whoever sees that it is open.
        (!self.is_open.load(Ordering::Acquire)).then_some(kept)
    }

    /// Seals a value, the first alone.
    pub(crate) fn seal(&self, value: Arc<T>) {
        let _ = self.kept.set(value);
    }

    /// Opens it for good, if there is something sealed.
    pub(crate) fn open(&self) {
        if self.kept.get().is_some() {
            self.is_open.store(true, Ordering::Release);
        }
    }
}

impl<T> Default for Sealed<T> {
    fn default() -> Self {
        Self { kept: OnceLock::new(), is_open: AtomicBool::new(false) }
    }
}

/// A cell that is swapped, as the explorer of schedules understands it.
#[cfg(hooks_shuttle)]
mod model {
    use std::ops::Deref;
    use std::sync::{Arc, PoisonError};

    use shuttle::sync::Mutex;

    pub(crate) struct Loaded<T>(Arc<T>);

    impl<T> Deref for Loaded<T> {
        type Target = Arc<T>;

        fn deref(&self) -> &Arc<T> {
            &self.0
        }
    }

    #[derive(Default)]
    pub(crate) struct ArcSwap<T>(Mutex<Arc<T>>);

    impl<T> ArcSwap<T> {
        pub(crate) fn load(&self) -> Loaded<T> {
            Loaded(self.load_full())
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }

        pub(crate) fn swap(&self, new: Arc<T>) -> Arc<T> {
            std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), new)
        }
    }
}
