//! Receivers, which lend the instance of a call to its hooks and its body in turn.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::dispatch::snapshot::Tables;
use crate::point::hook_point::HookPoint;
use crate::registry::hooks::HasHooks;

/// Lends the instance to one part of a call after the other.
///
/// A shared reference is simply copied. A mutable one is borrowed in turns: the body has it only
/// while its future lives, and even a dropped body gives it back, so that settled hooks can look at
/// it.
pub trait Receiver {
    /// The instance's type.
    type Agent: ?Sized;
    /// A borrow of the instance, which ends when it is dropped.
    type Borrowed: Deref<Target = Self::Agent>;

    /// Borrows the instance; nobody else does.
    fn borrow(&self) -> Self::Borrowed;
}

/// Finds the hooks of its instance.
pub trait Finder<'h>: Receiver {
    /// Whether everybody may have the instance at once.
    const IS_SHARED: bool;

    /// The tables in which the hooks of a call are that starts now.
    fn tables<Args: 'static>(&self) -> Tables<'h>
    where
        Self::Agent: HasHooks + HookPoint<Args>;
}

/// `&self`, which everybody may have at once.
#[derive(Debug)]
pub struct SharedReceiver<'a, A: ?Sized>(pub &'a A);

impl<A: ?Sized> Clone for SharedReceiver<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: ?Sized> Copy for SharedReceiver<'_, A> {}

impl<'a, A: ?Sized> Receiver for SharedReceiver<'a, A> {
    type Agent = A;
    type Borrowed = &'a A;

    #[inline]
    fn borrow(&self) -> &'a A {
        self.0
    }
}

impl<'a, A: ?Sized> Finder<'a> for SharedReceiver<'a, A> {
    const IS_SHARED: bool = true;

    #[inline]
    fn tables<Args: 'static>(&self) -> Tables<'a>
    where
        A: HasHooks + HookPoint<Args>,
    {
        Tables::load::<A, Args>(self.0)
    }
}

/// `&mut self`, which is borrowed in turns.
#[derive(Debug)]
pub struct ExclusiveReceiver<'a, A> {
    agent: Mutex<Option<&'a mut A>>,
}

impl<'a, A> ExclusiveReceiver<'a, A> {
    /// Borrows from this reference.
    pub fn new(agent: &'a mut A) -> Self {
        Self { agent: Mutex::new(Some(agent)) }
    }
}

impl<'r, 'a, A> Receiver for &'r ExclusiveReceiver<'a, A> {
    type Agent = A;
    type Borrowed = ExclusiveBorrow<'r, 'a, A>;

    fn borrow(&self) -> ExclusiveBorrow<'r, 'a, A> {
        let mut agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        ExclusiveBorrow { receiver: self, agent: agent.take() }
    }
}

impl<'h, A> Finder<'h> for &ExclusiveReceiver<'_, A> {
    const IS_SHARED: bool = false;

    fn tables<Args: 'static>(&self) -> Tables<'h>
    where
        A: HasHooks + HookPoint<Args>,
    {
        Tables::load::<A, Args>(&self.borrow()).unsealed()
    }
}

/// A mutable reference that goes back to its receiver when this is dropped.
#[derive(Debug)]
pub struct ExclusiveBorrow<'r, 'a, A> {
    receiver: &'r ExclusiveReceiver<'a, A>,
    agent: Option<&'a mut A>,
}

impl<A> Deref for ExclusiveBorrow<'_, '_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        self.agent.as_deref().expect("the parts of a call take turns")
    }
}

impl<A> DerefMut for ExclusiveBorrow<'_, '_, A> {
    fn deref_mut(&mut self) -> &mut A {
        self.agent.as_deref_mut().expect("the parts of a call take turns")
    }
}

impl<A> Drop for ExclusiveBorrow<'_, '_, A> {
    fn drop(&mut self) {
        let mut agent = self.receiver.agent.lock().unwrap_or_else(PoisonError::into_inner);
        *agent = self.agent.take();
    }
}
