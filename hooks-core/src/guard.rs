//! The re-entrancy guard: which hooked calls the running code is inside of.
//!
//! A call is on the stack of its thread only while it is being polled, so the guard belongs to
//! the call and not to the instance: other tasks, and other futures of a `join!` in the same
//! task, are not inside it. A dropped future leaves nothing behind.

use std::any::TypeId;
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;

/// A method of an instance. The hooks field stands for the instance, whose own address may be
/// that of its first field too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) instance: usize,
    pub(crate) point: TypeId,
}

thread_local! {
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// Whether the running code is inside a call of that method of that instance.
pub(crate) fn is_inside(frame: Frame) -> bool {
    // Past the end of the thread there is no stack, and nothing to be inside of.
    STACK.try_with(|stack| stack.borrow().contains(&frame)).unwrap_or(false)
}

/// Runs a future with the frame on the stack while it is polled.
pub(crate) async fn scope<F: Future>(frame: Frame, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _entered = Entered::new(frame);
        future.as_mut().poll(context)
    })
    .await
}

/// A frame on the stack, taken off when dropped, also by a panic.
struct Entered;

impl Entered {
    fn new(frame: Frame) -> Self {
        let _ = STACK.try_with(|stack| stack.borrow_mut().push(frame));
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = STACK.try_with(|stack| stack.borrow_mut().pop());
    }
}
