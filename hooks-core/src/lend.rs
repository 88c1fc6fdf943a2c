//! The instance of a call, for the time between its hooks and its body.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Gives the instance to one part of a call after the other.
///
/// A shared reference is simply copied. A mutable one is lent: the body may have it only while its
/// future lives, and even a dropped body gives it back, so that settled hooks can look at it.
pub trait Lender {
    /// The instance's type.
    type Agent;
    /// The instance, until it is dropped.
    type Lent: Deref<Target = Self::Agent>;

    /// The instance; nobody else has it.
    fn lend(&self) -> Self::Lent;
}

/// A shared reference, which everybody may have at once.
#[derive(Debug)]
pub struct Share<'a, A>(pub &'a A);

impl<'a, A> Lender for Share<'a, A> {
    type Agent = A;
    type Lent = &'a A;

    fn lend(&self) -> &'a A {
        self.0
    }
}

/// The place of a mutable reference that is lent.
#[derive(Debug)]
pub struct Lend<'a, A> {
    agent: Mutex<Option<&'a mut A>>,
}

impl<'a, A> Lend<'a, A> {
    /// The place of this one.
    pub fn new(agent: &'a mut A) -> Self {
        Self { agent: Mutex::new(Some(agent)) }
    }
}

impl<'l, 'a, A> Lender for &'l Lend<'a, A> {
    type Agent = A;
    type Lent = Lent<'l, 'a, A>;

    fn lend(&self) -> Lent<'l, 'a, A> {
        let mut place = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        Lent { lend: self, agent: place.take() }
    }
}

/// A mutable reference that goes back to its place when this is dropped.
#[derive(Debug)]
pub struct Lent<'l, 'a, A> {
    lend: &'l Lend<'a, A>,
    agent: Option<&'a mut A>,
}

impl<A> Deref for Lent<'_, '_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        self.agent.as_deref().expect("the parts of a call take turns")
    }
}

impl<A> DerefMut for Lent<'_, '_, A> {
    fn deref_mut(&mut self) -> &mut A {
        self.agent.as_deref_mut().expect("the parts of a call take turns")
    }
}

impl<A> Drop for Lent<'_, '_, A> {
    fn drop(&mut self) {
        let mut place = self.lend.agent.lock().unwrap_or_else(PoisonError::into_inner);
        *place = self.agent.take();
    }
}
