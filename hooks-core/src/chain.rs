//! The hooks of one point on one level, in the order in which they run.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::class::ClassHooks;
use crate::hook::{HookSlot, PostHook, PreHook};
use crate::hook_type::{HookType, Phase};
use crate::point::{HookPoint, Post, Pre};
use crate::registry::{ErasedHooks, Registry, Row, Source};

/// A hook and what it was registered with.
#[derive(Clone, Debug)]
pub(crate) struct Entry<H> {
    pub(crate) name: Arc<str>,
    pub(crate) priority: i32,
    pub(crate) source: Source,
    pub(crate) hook: H,
}

/// Hooks of one type, by priority, then by registration.
#[derive(Debug)]
pub struct Chain<H> {
    entries: Vec<Entry<H>>,
}

impl<H> Chain<H> {
    pub(crate) fn entries(&self) -> &[Entry<H>] {
        &self.entries
    }

    /// Adds a hook. One of the same name and priority is replaced where it stands.
    pub(crate) fn insert(&mut self, entry: Entry<H>) {
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
    pub(crate) fn append(&mut self, entry: Entry<H>) {
        let index = self.entries.partition_point(|known| known.priority <= entry.priority);
        self.entries.insert(index, entry);
    }

    fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| &*entry.name != name);
        self.entries.len() < before
    }

    fn rows(&self, phase: Phase, method: &'static str) -> impl Iterator<Item = Row> {
        self.entries.iter().map(move |entry| Row {
            hook_type: HookType::new(phase, method),
            name: entry.name.clone(),
            priority: entry.priority,
            source: entry.source,
        })
    }
}

impl<H> Default for Chain<H> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<H: Clone> Clone for Chain<H> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }
}

/// The chains of every phase of one point.
pub(crate) struct PointHooks<A: ?Sized + HookPoint<Args>, Args> {
    pub(crate) pre: Chain<PreHook<A, Args>>,
    pub(crate) post: Chain<PostHook<A, Args>>,
    point: PhantomData<fn(Args) -> *const A>,
}

impl<A: ?Sized + HookPoint<Args>, Args> Default for PointHooks<A, Args> {
    fn default() -> Self {
        Self { pre: Chain::default(), post: Chain::default(), point: PhantomData }
    }
}

impl<A: ?Sized + HookPoint<Args>, Args> Clone for PointHooks<A, Args> {
    fn clone(&self) -> Self {
        Self { pre: self.pre.clone(), post: self.post.clone(), point: PhantomData }
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
        interest::<A, Args>()
    }

    fn is_empty(&self) -> bool {
        self.pre.entries.is_empty() && self.post.entries.is_empty()
    }

    fn rows(&self) -> Vec<Row> {
        let pre = self.pre.rows(Phase::Pre, A::METHOD);
        pre.chain(self.post.rows(Phase::Post, A::METHOD)).collect()
    }

    fn without(&self, phase: Phase, name: &str) -> Option<Arc<dyn ErasedHooks>> {
        let mut hooks = self.clone();
        let found = match phase {
            Phase::Pre => hooks.pre.remove(name),
            Phase::Post => hooks.post.remove(name),
        };
        found.then(|| Arc::new(hooks) as Arc<dyn ErasedHooks>)
    }

    fn cleared(&self, phase: Phase) -> Arc<dyn ErasedHooks> {
        let mut hooks = self.clone();
        match phase {
            Phase::Pre => hooks.pre = Chain::default(),
            Phase::Post => hooks.post = Chain::default(),
        }
        Arc::new(hooks)
    }
}

/// The bit of a point in the interest mask of a registry.
pub(crate) const fn interest<A: ?Sized + HookPoint<Args>, Args>() -> u64 {
    1 << (A::INDEX % u64::BITS)
}

/// A typed hook type of the agent `A`. Implemented here only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook type of `{A}`",
    label = "belongs to another type",
    note = "the hook types of an agent are the constants that `#[hookable]` gives it: \
            `{A}::PRE_REPLY` for its method `reply`"
)]
pub trait HookTypeOf<A: ?Sized>: HookSlot + Into<HookType> {
    /// Changes the chain of this type in a registry.
    #[doc(hidden)]
    fn edit(registry: &Registry, edit: impl FnOnce(&mut Chain<Self::Hook>));
    /// The class table of this type.
    #[doc(hidden)]
    fn class() -> &'static ClassHooks;
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookTypeOf<A> for Pre<A, Args> {
    fn edit(registry: &Registry, edit: impl FnOnce(&mut Chain<Self::Hook>)) {
        registry.edit(|hooks: &mut PointHooks<A, Args>| edit(&mut hooks.pre));
    }

    fn class() -> &'static ClassHooks {
        A::class()
    }
}

impl<A: ?Sized + HookPoint<Args>, Args: 'static> HookTypeOf<A> for Post<A, Args> {
    fn edit(registry: &Registry, edit: impl FnOnce(&mut Chain<Self::Hook>)) {
        registry.edit(|hooks: &mut PointHooks<A, Args>| edit(&mut hooks.post));
    }

    fn class() -> &'static ClassHooks {
        A::class()
    }
}
