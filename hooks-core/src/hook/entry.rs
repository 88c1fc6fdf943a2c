//! A hook as calls find it, and the hooks of one type on one level.

use std::sync::Arc;

use crate::point::call_mode::Position;
use crate::point::hook_slot::{HookSlot, KeepArgs};
use crate::registry::list::{Chunk, Erased, List, Registered};
use crate::registry::registration::Registration;

/// Copies what a failing hook must give back, if its failures are ignored.
pub(crate) type Undo<P> = Option<fn(&<P as HookSlot>::Subject) -> <P as HookSlot>::Subject>;

pub(crate) type Predicate<P> =
    dyn Fn(&<P as HookSlot>::Agent, &<P as HookSlot>::Args) -> bool + Send + Sync;

/// A hook and what it was registered with.
pub(crate) struct Entry<P: HookSlot> {
    pub(crate) hook: P::Hook,
    pub(crate) undo: Undo<P>,
    pub(crate) when: Option<Arc<Predicate<P>>>,
    /// Whether more has to be done than to call it.
    pub(crate) is_limited: bool,
    pub(crate) registration: Arc<Registration>,
}

impl<P: HookSlot> Entry<P> {
    /// The hook for a list of the registry.
    pub(crate) fn registered(self) -> Registered {
        Registered { registration: self.registration.clone(), code: Arc::new(self) }
    }

    /// Whether the hook runs in this call; of a hook that runs once, this is the run.
    pub(crate) fn applies(&self, agent: &P::Agent, args: &P::Args) -> bool {
        let applies = match &self.when {
            Some(when) => when(agent, args),
            None => true,
        };
        applies && self.registration.fire()
    }

    /// The same hook with what it is registered with now.
    fn again(&self, registration: &Arc<Registration>) -> Self {
        Self {
            hook: self.hook.clone(),
            undo: self.undo,
            when: self.when.clone(),
            is_limited: self.is_limited,
            registration: registration.clone(),
        }
    }
}

/// The hooks of one type on one level, in the order in which they run.
pub(crate) struct Entries<P: HookSlot> {
    /// None is empty.
    chunks: Arc<[Arc<[Entry<P>]>]>,
    /// How the arguments are copied for those that will see them after the body.
    pub(crate) keep_args: KeepArgs<P>,
}

/// The hooks of a chunk, and the same of them.
type Built<P> = (Arc<[Entry<P>]>, KeepArgs<P>);

impl<P: HookSlot> Clone for Entries<P> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), keep_args: self.keep_args }
    }
}

// Loops and not iterators: each hook type that has hooks has a copy of these.
impl<P: HookSlot> Entries<P> {
    /// Those of a list that calls may run.
    pub(crate) fn of(list: &List) -> Self {
        match list.built() {
            Some(built) => built.downcast_ref::<Self>().expect(ONE_TYPE).clone(),
            None => Self { chunks: Arc::default(), keep_args: None },
        }
    }

    /// Makes those of a list what calls run.
    pub(crate) fn build(list: &[Arc<Chunk>]) -> Erased {
        let mut chunks = Vec::with_capacity(list.len());
        let mut keep_args = None;
        for chunk in list {
            let built = chunk.built(Self::chunk);
            let (chunk, of_chunk) = built.downcast_ref::<Built<P>>().expect(ONE_TYPE);
            keep_args = keep_args.or(*of_chunk);
            chunks.push(chunk.clone());
        }
        Arc::new(Self { chunks: chunks.into(), keep_args })
    }

    fn chunk(hooks: &[Registered]) -> Erased {
        let mut chunk = Vec::with_capacity(hooks.len());
        let mut keep_args = None;
        for hook in hooks {
            let entry = hook.code.downcast_ref::<Entry<P>>().expect(ONE_TYPE);
            keep_args = keep_args.or(P::keep_args(&entry.hook));
            chunk.push(entry.again(&hook.registration));
        }
        let built: Built<P> = (chunk.into(), keep_args);
        Arc::new(built)
    }

    /// The hooks of each chunk.
    #[inline]
    pub(crate) fn chunks(&self) -> &[Arc<[Entry<P>]>] {
        &self.chunks
    }

    /// The hook at a position or, where its chunk ends there, at the start of the next chunk.
    #[inline]
    pub(crate) fn seek(&self, at: &mut Position) -> Option<&Entry<P>> {
        while let Some(chunk) = self.chunks.get(at.chunk as usize) {
            if let Some(entry) = chunk.get(at.index as usize) {
                return Some(entry);
            }
            *at = Position { chunk: at.chunk + 1, index: 0, ..*at };
        }
        None
    }
}

/// A hook that is not what its list says must not be left out in silence.
const ONE_TYPE: &str = "the hooks of a list are of one type";
