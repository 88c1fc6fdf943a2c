//! The re-entrancy guard: which hooked calls the running code is inside of.
//!
//! A call is on the stack of its thread only while it is being polled, and counts there for its own
//! task of tokio only. So the guard belongs to the call and not to the instance: other tasks, and
//! other futures of a `join!` in the same task, are not inside it. A dropped future leaves nothing
//! behind.

use std::any::TypeId;
use std::cell::RefCell;
use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use smallvec::SmallVec;
use tokio::task::{Id, try_id};

use crate::dispatch::point_hooks::bit_of;
use crate::hook_type::Phase;

/// A call that is being polled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The id of the instance.
    instance: u64,
    /// The type of the agent and of the arguments.
    point: TypeId,
    /// The task that polls the call, if one does.
    task: Option<Id>,
    /// How many calls of the same method on the same instance this one is inside of.
    depth: u32,
    /// The phases whose hooks these calls are running.
    outer: u8,
    /// The phases whose hooks this call is running, of those that a refused call must not run again.
    running: u8,
    /// The address of the call, if it asks whether it is being polled; else zero.
    call: usize,
}

/// Whether a call that was carried elsewhere has ended.
pub(super) type Ended = Arc<AtomicBool>;

/// The calls that are being polled, the innermost last.
pub(super) struct Stack {
    pub(super) frames: SmallVec<[Frame; 8]>,
    /// Those that were carried elsewhere, or here, by their index in `frames`.
    pub(super) carried: Vec<(usize, Ended)>,
    /// The first that the running code is inside of.
    pub(super) base: usize,
}

impl Frame {
    /// The same call, as part of a task.
    pub(super) fn in_task(self, task: Option<Id>) -> Self {
        Self { task, ..self }
    }
}

impl Stack {
    const EMPTY: Self = Self { frames: SmallVec::new_const(), carried: Vec::new(), base: 0 };

    /// The indices of the calls that the running code is inside of, innermost first.
    #[inline]
    pub(super) fn open(&self, task: Option<Id>) -> impl Iterator<Item = usize> {
        let open = (self.base..self.frames.len()).rev();
        open.filter(move |index| self.frames[*index].task == task && !self.is_over(*index))
    }

    #[inline]
    pub(super) fn ended(&self, index: usize) -> Option<&Ended> {
        self.carried.iter().find(|(carried, _)| *carried == index).map(|(_, ended)| ended)
    }

    #[inline]
    fn is_over(&self, index: usize) -> bool {
        self.ended(index).is_some_and(|ended| ended.load(Ordering::Acquire))
    }

    #[inline]
    fn push(&mut self, instance: u64, point: TypeId) -> Nesting {
        let task = try_id();
        let is_same = |frame: &Frame| frame.instance == instance && frame.point == point;
        let (mut depth, mut outer) = (0, 0);
        // Most calls are inside of none.
        if self.frames.len() > self.base
            && let Some(frame) = self.open(task).map(|index| self.frames[index]).find(is_same)
        {
            (depth, outer) = (frame.depth + 1, frame.outer | frame.running);
        }
        self.frames.push(Frame { instance, point, task, depth, outer, running: 0, call: 0 });
        Nesting { depth: depth as usize, phases: outer }
    }

    /// Puts a call on the stack that has been there before.
    fn push_again(&mut self, frame: Frame, ended: Option<Ended>) {
        self.carried.extend(ended.map(|ended| (self.frames.len(), ended)));
        self.push(frame.instance, frame.point);
        if let Some(last) = self.frames.last_mut() {
            last.call = frame.call;
        }
    }

    /// Takes off the innermost call, with what says elsewhere that it has ended.
    #[inline]
    fn pop(&mut self) -> (Option<Frame>, Option<Ended>) {
        let frame = self.frames.pop();
        let is_tidy = self.carried.is_empty() && !self.frames.spilled();
        (frame, if is_tidy { None } else { self.tidy() })
    }

    #[cold]
    pub(super) fn tidy(&mut self) -> Option<Ended> {
        let len = self.frames.len();
        let mut ended = None;
        while let Some((_, last)) = self.carried.pop_if(|(index, _)| *index >= len) {
            ended = Some(last);
        }
        if len == 0 {
            self.frames.shrink_to_fit();
            self.carried = Vec::new();
        }
        ended
    }
}

// Without a destructor, so that it is there to the very end of its thread: also destructors of other
// thread-locals make calls. It owns nothing while no call is being polled.
#[cfg(not(hooks_shuttle))]
thread_local! {
    static STACK: ManuallyDrop<RefCell<Stack>> =
        const { ManuallyDrop::new(RefCell::new(Stack::EMPTY)) };
}

// The threads whose schedules are explored are not those of the system.
#[cfg(hooks_shuttle)]
shuttle::thread_local! {
    static STACK: ManuallyDrop<RefCell<Stack>> = ManuallyDrop::new(RefCell::new(Stack::EMPTY));
}

#[inline]
pub(super) fn with_stack<T>(look: impl FnOnce(&mut Stack) -> T) -> T {
    STACK.with(|stack| look(&mut stack.borrow_mut()))
}

/// How a call stands to the calls of the same method on the same instance that it is inside of.
#[derive(Clone, Copy)]
pub(crate) struct Nesting {
    /// How many there are.
    pub(crate) depth: usize,
    /// The phases whose hooks they are running.
    phases: u8,
}

impl Nesting {
    /// Of a call that is inside of no other.
    pub(crate) const NONE: Self = Self { depth: 0, phases: 0 };

    /// Whether the hooks of a phase made the call.
    pub(crate) fn is_made_by(self, phase: Phase) -> bool {
        self.phases & bit_of(phase) != 0
    }
}

/// Puts a call on the stack, and says what it is inside of: one look at the stack for both.
#[inline]
pub(crate) fn enter(instance: u64, point: TypeId) -> Nesting {
    with_stack(|stack| stack.push(instance, point))
}

/// Changes the frame of the call that is being polled.
fn with_frame(change: impl FnOnce(&mut Frame)) {
    with_stack(|stack| stack.frames.last_mut().map(change));
}

/// The call that is being polled has no hooks: nothing is inside of it.
#[cold]
pub(crate) fn leave() {
    // The id of no instance.
    with_frame(|frame| frame.instance = 0);
}

/// Says where the call that is being polled is.
pub(crate) fn set_address(call: usize) {
    with_frame(|frame| frame.call = call);
}

/// Whether the call at this address is being polled.
pub(crate) fn is_polled(call: usize) -> bool {
    with_stack(|stack| stack.frames.iter().any(|frame| frame.call == call))
}

/// Says that the call that is being polled runs the hooks of a phase, until its poll ends.
pub(crate) fn mark(phase: Phase) {
    with_frame(|frame| frame.running |= bit_of(phase));
}

/// Says the same for as long as it lives.
pub(crate) struct Marked(Phase);

impl Marked {
    pub(crate) fn new(phase: Phase) -> Self {
        mark(phase);
        Self(phase)
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        with_frame(|frame| frame.running &= !bit_of(self.0));
    }
}

/// Runs a future of the call that is being polled, whose hooks of a phase these are.
pub(crate) async fn marked<T>(phase: Phase, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        mark(phase);
        let poll = future.as_mut().poll(context);
        with_frame(|frame| frame.running &= !bit_of(phase));
        poll
    })
    .await
}

/// Runs a function of a call that is over and is not being polled.
pub(crate) fn reenter(instance: u64, point: TypeId, run: impl FnOnce()) {
    /// Takes the call off again, also where it was carried.
    struct Left;
    impl Drop for Left {
        fn drop(&mut self) {
            end(with_stack(Stack::pop).1.as_ref());
        }
    }

    enter(instance, point);
    let _left = Left;
    run();
}

/// The call is over, also where it was carried.
#[inline]
pub(super) fn end(ended: Option<&Ended>) {
    if let Some(ended) = ended {
        ended.store(true, Ordering::Release);
    }
}

/// A call between its polls.
pub(crate) struct Left {
    frame: Frame,
    /// Set when the call has ended, if it was carried elsewhere.
    ended: Option<Ended>,
}

impl Drop for Left {
    fn drop(&mut self) {
        end(self.ended.as_ref());
    }
}

/// A call that is being polled; taken off the stack when dropped, also by a panic.
pub(crate) struct Polled<'a> {
    /// Where it is kept until it is polled again, unless it is over.
    left: Option<&'a mut Option<Left>>,
}

impl<'a> Polled<'a> {
    /// A call that may be polled again.
    #[inline]
    pub(crate) fn new(left: &'a mut Option<Left>) -> Self {
        Self { left: Some(left) }
    }

    /// A call that is run at once.
    #[inline]
    pub(crate) fn once() -> Self {
        Self { left: None }
    }

    /// Puts a call on the stack.
    #[inline]
    pub(crate) fn enter(&mut self, instance: u64, point: TypeId) -> Nesting {
        enter(instance, point)
    }

    /// Puts a call on the stack that has been there before.
    #[inline]
    pub(crate) fn again(&mut self, mut left: Left) {
        let ended = left.ended.take();
        with_stack(|stack| stack.push_again(left.frame, ended));
    }

    /// Says what a poll came to: a call that is over is not kept.
    #[inline]
    pub(crate) fn came_to<T>(&mut self, poll: &Poll<T>) {
        if poll.is_ready() {
            self.left = None;
        }
    }
}

impl Drop for Polled<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.left.take() {
            None => end(with_stack(Stack::pop).1.as_ref()),
            Some(left) => {
                let (frame, ended) = with_stack(Stack::pop);
                *left = frame.map(|frame| Left { frame, ended });
            }
        }
    }
}
