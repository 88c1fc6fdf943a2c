//! The hooks of one point on one level, in the order in which they run.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::class::ClassHooks;
use crate::entry::Entry;
use crate::hook_type::{HookType, Phase};
use crate::point::{AroundPoint, HookPoint};
use crate::registry::{ErasedHooks, Registry, Row};
use crate::slot::{Around, HookSlot, OnError, OnSettled, Post, Pre};

/// Hooks of one type, by priority, then by registration.
pub struct Chain<P: HookSlot> {
    entries: Vec<Entry<P>>,
}

impl<P: HookSlot> Chain<P> {
    pub(crate) fn entries(&self) -> &[Entry<P>] {
        &self.entries
    }

    /// Adds a hook. One of the same name and priority is replaced where it stands.
    pub(crate) fn insert(&mut self, entry: Entry<P>) {
        let named = self.entries.iter().position(|known| known.name == entry.name);
        match named {
            Some(index) if self.entries[index].priority == entry.priority => {
                self.entries[index] = entry;
            }
            _ => {
                if let Some(index) = named {
                    self.entries.remove(index);
                }
                self.append(entry);
            }
        }
    }

    /// Adds a hook behind those of its priority, whatever its name.
    pub(crate) fn append(&mut self, entry: Entry<P>) {
        let index = self.entries.partition_point(|known| known.priority <= entry.priority);
        self.entries.insert(index, entry);
    }
}

impl<P: HookSlot> Default for Chain<P> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<P: HookSlot> Clone for Chain<P> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }
}

impl<P: HookSlot> fmt::Debug for Chain<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| &entry.name)).finish()
    }
}

/// What can be done with a chain of any type.
trait AnyChain {
    fn is_empty(&self) -> bool;
    fn rows(&self, method: &'static str) -> Vec<Row>;
    fn remove(&mut self, name: &str) -> bool;
    fn remove_spent(&mut self);
    fn part(&mut self);
    fn clear(&mut self);
}

impl<P: HookSlot> AnyChain for Chain<P> {
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn rows(&self, method: &'static str) -> Vec<Row> {
        let row = |entry: &Entry<P>| Row {
            hook_type: HookType::new(P::PHASE, method),
            name: entry.name.clone(),
            priority: entry.priority,
            source: entry.source,
        };
        self.entries.iter().map(row).collect()
    }

    fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| &*entry.name != name);
        self.entries.len() < before
    }

    fn remove_spent(&mut self) {
        self.entries.retain(|entry| !entry.is_spent());
    }

    fn part(&mut self) {
        for entry in &mut self.entries {
            entry.part();
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
    }
}

/// The chains of every phase of one point.
pub(crate) struct PointHooks<A: ?Sized + HookPoint<Args>, Args: 'static> {
    pub(crate) pre: Chain<Pre<A, Args>>,
    pub(crate) around: Chain<Around<A, Args>>,
    pub(crate) post: Chain<Post<A, Args>>,
    pub(crate) error: Chain<OnError<A, Args>>,
    pub(crate) settled: Chain<OnSettled<A, Args>>,
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> PointHooks<A, Args> {
    /// Takes out the hooks that were to run once and have.
    pub(crate) fn remove_spent(&mut self) {
        for (_, chain) in self.chains_mut() {
            chain.remove_spent();
        }
    }

    /// How a hook that wants to see the arguments after the body copies them.
    pub(crate) fn keep(&self) -> Option<fn(&Args) -> Args> {
        let post = self.post.entries().first().map(|entry| entry.hook.keep);
        post.or_else(|| self.error.entries().first().map(|entry| entry.hook.keep))
    }

    fn chains(&self) -> [(Phase, &dyn AnyChain); 5] {
        [
            (Phase::Pre, &self.pre),
            (Phase::Around, &self.around),
            (Phase::Post, &self.post),
            (Phase::Error, &self.error),
            (Phase::Settled, &self.settled),
        ]
    }

    fn chains_mut(&mut self) -> [(Phase, &mut dyn AnyChain); 5] {
        [
            (Phase::Pre, &mut self.pre),
            (Phase::Around, &mut self.around),
            (Phase::Post, &mut self.post),
            (Phase::Error, &mut self.error),
            (Phase::Settled, &mut self.settled),
        ]
    }

    /// A changed copy.
    fn changed(&self, phase: Phase, change: impl FnOnce(&mut dyn AnyChain)) -> Arc<Self> {
        let mut hooks = self.clone();
        let chain = hooks.chains_mut().into_iter().find(|(of, _)| *of == phase);
        if let Some((_, chain)) = chain {
            change(chain);
        }
        Arc::new(hooks)
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Default for PointHooks<A, Args> {
    fn default() -> Self {
        Self {
            pre: Chain::default(),
            around: Chain::default(),
            post: Chain::default(),
            error: Chain::default(),
            settled: Chain::default(),
        }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> Clone for PointHooks<A, Args> {
    fn clone(&self) -> Self {
        Self {
            pre: self.pre.clone(),
            around: self.around.clone(),
            post: self.post.clone(),
            error: self.error.clone(),
            settled: self.settled.clone(),
        }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> ErasedHooks for PointHooks<A, Args> {
    fn agent(&self) -> TypeId {
        TypeId::of::<A>()
    }

    fn method(&self) -> &'static str {
        A::METHOD
    }

    fn interest(&self) -> u64 {
        let phases = self.chains().into_iter().filter(|(_, chain)| !chain.is_empty());
        phases.fold(0, |mask, (phase, _)| mask | interest::<A, Args>(phase))
    }

    fn rows(&self) -> Vec<Row> {
        self.chains().into_iter().flat_map(|(_, chain)| chain.rows(A::METHOD)).collect()
    }

    fn without(&self, phase: Phase, name: &str) -> Option<Arc<dyn ErasedHooks>> {
        let mut found = false;
        let hooks = self.changed(phase, |chain| found = chain.remove(name));
        found.then_some(hooks as Arc<dyn ErasedHooks>)
    }

    fn copied(&self) -> Arc<dyn ErasedHooks> {
        let mut hooks = self.clone();
        for (_, chain) in hooks.chains_mut() {
            chain.part();
        }
        Arc::new(hooks)
    }

    fn cleared(&self, phase: Phase) -> Arc<dyn ErasedHooks> {
        self.changed(phase, |chain| chain.clear())
    }
}

/// How many points have bits of their own in an interest mask.
const POINTS: u32 = 12;

/// The bit of a phase of a point in the interest mask of a registry.
pub(crate) const fn interest<A: ?Sized + HookPoint<Args>, Args>(phase: Phase) -> u64 {
    1 << ((A::INDEX % POINTS) * 5 + phase as u32)
}

/// The bits of all phases of a point.
pub(crate) const fn interest_of_point<A: ?Sized + HookPoint<Args>, Args>() -> u64 {
    0b1_1111 << ((A::INDEX % POINTS) * 5)
}

/// Where the hooks of a type are among those of their point.
pub(crate) trait ChainOf<A: ?Sized + HookPoint<Args>, Args: 'static>: HookSlot {
    fn chain(hooks: &PointHooks<A, Args>) -> &Chain<Self>;
}

/// A typed hook type of the agent `A`. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook type of `{A}`",
    label = "not a hook type of that agent",
    note = "the hook types of an agent are the constants that `#[hookable]` gives it: \
            `{A}::PRE_REPLY` for its method `reply`"
)]
pub trait HookTypeOf<A: ?Sized>: HookSlot {
    /// Changes the chain of this type in a registry.
    #[doc(hidden)]
    fn edit(registry: &Registry, edit: impl FnOnce(&mut Chain<Self>));
    /// The class table of this type.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
}

macro_rules! hook_type_of {
    ($($point:ident: $($slot:ident $chain:ident),*);*) => {$($(
        impl<A: ?Sized + $point<Args>, Args: 'static> HookTypeOf<A> for $slot<A, Args> {
            fn edit(registry: &Registry, edit: impl FnOnce(&mut Chain<Self>)) {
                registry.edit(|hooks: &mut PointHooks<A, Args>| edit(&mut hooks.$chain));
            }

            fn class() -> &'static ClassHooks {
                A::class()
            }
        }

        impl<A: ?Sized + HookPoint<Args>, Args: 'static> ChainOf<A, Args> for $slot<A, Args> {
            #[inline]
            fn chain(hooks: &PointHooks<A, Args>) -> &Chain<Self> {
                &hooks.$chain
            }
        }
    )*)*};
}

hook_type_of! {
    HookPoint: Pre pre, Post post, OnError error, OnSettled settled;
    AroundPoint: Around around
}
