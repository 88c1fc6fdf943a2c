//! The hooks of one point on one level, in the order in which they run.

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::group::HookGroup;
use crate::hook_order::{OrderFault, arrange};
use crate::hook_type::{HookType, Phase};
use crate::registry::order::Ordered;
use crate::registry::registration::Registration;

/// How many hooks a chunk holds. Nearly every list is one chunk.
const CHUNK: usize = 64;

const PHASES: usize = Phase::ALL.len();

/// A value of a type that only those know who call hooks.
pub(crate) type Erased = Arc<dyn Any + Send + Sync>;

/// A hook, without its type.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) registration: Arc<Registration>,
    pub(crate) code: Erased,
}

/// Makes the hooks of a list what calls run.
pub(crate) type Build = fn(&[Arc<Chunk>]) -> Erased;

/// The hooks of one phase by priority, then by registration.
///
/// A change copies one chunk and shares the others, so that many registrations cost little each.
#[derive(Clone, Default)]
pub(crate) struct List {
    chunks: Vec<Arc<Chunk>>,
    /// The same hooks where they ask to stand, if that is elsewhere.
    arranged: Option<Vec<Arc<Chunk>>>,
    /// What calls run; nothing if there are no hooks.
    built: Option<Erased>,
    build: Option<Build>,
}

/// Neighbours in a list.
pub(crate) struct Chunk {
    hooks: Vec<Registered>,
    built: OnceLock<Erased>,
    traits: OnceLock<Traits>,
}

/// What the hooks of a chunk have in common.
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
struct Traits {
    /// The hashes of their names, in order.
    names: Vec<u64>,
    /// Whether one of them may change something.
    acts: bool,
    waits: bool,
    is_limited: bool,
    max_depth: Option<usize>,
    /// Whether one of them asks where to stand.
    is_ordered: bool,
}

impl Clone for Chunk {
    fn clone(&self) -> Self {
        Self::new(self.hooks.clone())
    }
}

impl Chunk {
    fn new(hooks: Vec<Registered>) -> Self {
        Self { hooks, built: OnceLock::new(), traits: OnceLock::new() }
    }

    /// The hooks as calls run them, made once.
    pub(crate) fn built(&self, build: fn(&[Registered]) -> Erased) -> &Erased {
        self.built.get_or_init(|| build(&self.hooks))
    }

    fn traits(&self) -> &Traits {
        self.traits.get_or_init(|| {
            let hooks = || self.hooks.iter().map(|hook| &hook.registration);
            let mut names: Vec<_> = hooks().map(|hook| hash(&hook.name)).collect();
            names.sort_unstable();
            let is_limited = hooks().any(|hook| hook.is_limited);
            Traits {
                names,
                acts: hooks().any(|hook| !hook.looks_on),
                waits: is_limited || hooks().any(|hook| hook.waits),
                is_limited,
                max_depth: hooks().filter_map(|hook| hook.max_depth).min(),
                is_ordered: hooks().any(|hook| hook.order.is_some()),
            }
        })
    }

    /// The hooks of a chunk that nobody else has, to be changed.
    fn hooks_mut(chunk: &mut Arc<Self>) -> &mut Vec<Registered> {
        let chunk = Arc::make_mut(chunk);
        (chunk.built, chunk.traits) = (OnceLock::new(), OnceLock::new());
        &mut chunk.hooks
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

impl List {
    /// The hooks in the order in which they run.
    fn running(&self) -> &[Arc<Chunk>] {
        self.arranged.as_ref().unwrap_or(&self.chunks)
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Registration>> {
        self.running().iter().flat_map(|chunk| &chunk.hooks).map(|hook| &hook.registration)
    }

    /// Whether a hook has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let hash = hash(name);
        let may_have = |chunk: &&Arc<Chunk>| chunk.traits().names.binary_search(&hash).is_ok();
        let mut hooks = self.chunks.iter().filter(may_have).flat_map(|chunk| &chunk.hooks);
        hooks.any(|hook| &*hook.registration.name == name)
    }

    /// The hooks as calls run them.
    pub(crate) fn built(&self) -> Option<&Erased> {
        self.built.as_ref()
    }

    /// Adds a hook. One of the same name and group is replaced: where it stands, if its priority is the same.
    fn insert(&mut self, hook: Registered) {
        let new = hook.registration.clone();
        let named = |known: &Registered| {
            known.registration.name == new.name && known.registration.group == new.group
        };
        let name = hash(&new.name);
        let found = self.chunks.iter().enumerate().find_map(|(chunk, known)| {
            known.traits().names.binary_search(&name).ok()?;
            known.hooks.iter().position(named).map(|index| (chunk, index))
        });
        match found {
            Some((chunk, index))
                if self.chunks[chunk].hooks[index].registration.priority == new.priority =>
            {
                Chunk::hooks_mut(&mut self.chunks[chunk])[index] = hook;
            }
            Some((chunk, index)) => {
                Chunk::hooks_mut(&mut self.chunks[chunk]).remove(index);
                self.chunks.retain(|chunk| !chunk.hooks.is_empty());
                self.append(hook);
            }
            None => self.append(hook),
        }
    }

    /// Adds a hook behind those of its priority, whatever its name.
    fn append(&mut self, hook: Registered) {
        let priority = hook.registration.priority;
        let is_before = |known: &Registered| known.registration.priority <= priority;
        let behind =
            self.chunks.partition_point(|chunk| chunk.hooks.first().is_some_and(is_before));
        let chunk = behind.saturating_sub(1);
        let Some(known) = self.chunks.get_mut(chunk) else {
            self.chunks.push(Arc::new(Chunk::new(vec![hook])));
            return;
        };
        let index = known.hooks.partition_point(is_before);
        if known.hooks.len() < CHUNK {
            Chunk::hooks_mut(known).insert(index, hook);
        } else if index == CHUNK {
            self.chunks.insert(chunk + 1, Arc::new(Chunk::new(vec![hook])));
        } else {
            let rest = Chunk::hooks_mut(known).split_off(CHUNK / 2);
            self.chunks.insert(chunk + 1, Arc::new(Chunk::new(rest)));
            self.append(hook);
        }
    }

    /// Keeps the hooks that pass the test; returns how many did not.
    fn retain(&mut self, keep: impl Fn(&Registered) -> bool) -> usize {
        let mut removed = 0;
        for chunk in &mut self.chunks {
            let gone = chunk.hooks.iter().filter(|hook| !keep(hook)).count();
            if gone > 0 {
                Chunk::hooks_mut(chunk).retain(&keep);
                removed += gone;
            }
        }
        self.chunks.retain(|chunk| !chunk.hooks.is_empty());
        removed
    }

    fn part(&mut self) {
        for chunk in &mut self.chunks {
            for hook in Chunk::hooks_mut(chunk) {
                hook.registration = Arc::new(hook.registration.parted());
            }
        }
    }

    fn rebuild(&mut self) -> Option<(HookType, OrderFault)> {
        let circle = self.arrange();
        let build = self.build.filter(|_| !self.chunks.is_empty());
        self.built = build.map(|build| build(self.running()));
        circle
    }

    /// Puts the hooks where they ask to stand; says why that cannot be.
    fn arrange(&mut self) -> Option<(HookType, OrderFault)> {
        self.arranged = None;
        if !self.chunks.iter().any(|chunk| chunk.traits().is_ordered) {
            return None;
        }
        let hooks: Vec<_> = self.chunks.iter().flat_map(|chunk| &chunk.hooks).collect();
        let named: Vec<_> = hooks.iter().map(|hook| hook.registration.named_order()).collect();
        match arrange(&named) {
            Ok(order) if order.is_sorted() => None,
            Ok(order) => {
                let chunks = order.chunks(CHUNK);
                let chunks = chunks.map(|order| {
                    let hooks = order.iter().map(|index| hooks[*index].clone());
                    Arc::new(Chunk::new(hooks.collect()))
                });
                self.arranged = Some(chunks.collect());
                None
            }
            Err(fault) => {
                let first = hooks.first();
                first.map(|hook| (hook.registration.hook_type.clone(), fault))
            }
        }
    }
}

/// The hooks of every phase of one point on one level.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    lists: [List; PHASES],
    pub(crate) masks: Masks,
    max_depth: Option<usize>,
    /// What the hooks ask for, if they ask for anything.
    ordered: Option<Arc<Ordered>>,
}

/// The bit of [`Masks::phases`] that says that hooks ask where to stand: calls with it go the long way.
pub(crate) const ORDERED: u8 = 1 << 7;

/// What hooks of several phases have in common.
#[derive(Clone, Copy, Default)]
pub(crate) struct Masks {
    /// A bit per phase that has hooks, and [`ORDERED`].
    pub(crate) phases: u8,
    /// A bit per phase that has hooks which may change something.
    pub(crate) acts: u8,
    /// A bit per phase that has hooks which wait or have limits.
    pub(crate) waits: u8,
    /// Whether hooks have limits.
    pub(crate) is_limited: bool,
    /// How many around hooks there are.
    pub(crate) arounds: usize,
}

impl Masks {
    /// What these and others have in common.
    #[inline]
    pub(crate) fn and(self, others: Option<Self>) -> Self {
        let Some(others) = others else { return self };
        Self {
            phases: self.phases | others.phases,
            acts: self.acts | others.acts,
            waits: self.waits | others.waits,
            is_limited: self.is_limited | others.is_limited,
            arounds: self.arounds + others.arounds,
        }
    }
}

/// Where a hook goes that is added to a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It replaces one of the same name.
    ByName,
    /// Behind those of its priority, whatever its name.
    Behind,
}

impl Lists {
    /// How deep nested calls may go, by the hooks that run in them too; `None` if no hook does.
    pub(crate) fn max_depth(&self) -> Option<usize> {
        self.max_depth
    }

    /// What the hooks ask for, if they ask for anything.
    pub(crate) fn ordered(&self) -> Option<&Ordered> {
        self.ordered.as_deref()
    }

    /// The hooks of a phase.
    pub(crate) fn of(&self, phase: Phase) -> &List {
        &self.lists[phase as usize]
    }

    /// Every hook that a nested call does not run, as `type name`.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = String> {
        let skipped = self.iter().filter(|hook| hook.max_depth.is_none() && !hook.is_spent());
        skipped.map(|hook| format!("{} {}", hook.hook_type, hook.name))
    }

    /// Whether a hook runs once.
    pub(crate) fn runs_once(&self) -> bool {
        self.iter().any(|hook| hook.once.is_some())
    }

    /// What the hooks were registered with that will run again, in the order in which they run.
    pub(crate) fn registrations(&self) -> impl Iterator<Item = Arc<Registration>> {
        self.iter().filter(|hook| !hook.is_spent()).cloned()
    }

    /// The same and a hook.
    pub(crate) fn with(&self, hook: Registered, place: Place, build: Build) -> Self {
        self.changed(|lists| {
            let list = &mut lists[hook.registration.hook_type.phase() as usize];
            list.build = Some(build);
            match place {
                Place::ByName => list.insert(hook),
                Place::Behind => list.append(hook),
            }
        })
    }

    /// The same without the hooks of a phase that have a name and are in no group; `None` if there are none.
    pub(crate) fn without(&self, phase: Phase, name: &str) -> Option<Self> {
        let is_named = |hook: &Registered| {
            hook.registration.group.is_none() && &*hook.registration.name == name
        };
        let mut removed = 0;
        let lists = self.changed(|lists| {
            removed = lists[phase as usize].retain(|hook| !is_named(hook));
        });
        (removed > 0).then_some(lists)
    }

    /// The same without the hooks of a group, and how many that were; `None` if there are none.
    pub(crate) fn without_group(&self, group: HookGroup) -> Option<(usize, Self)> {
        let mut removed = 0;
        let lists = self.changed(|lists| {
            for list in lists {
                removed += list.retain(|hook| hook.registration.group != Some(group));
            }
        });
        (removed > 0).then_some((removed, lists))
    }

    /// The same without those that were to run once, and have.
    pub(crate) fn without_spent(&self) -> Self {
        self.changed(|lists| {
            for list in lists {
                list.retain(|hook| !hook.registration.is_spent());
            }
        })
    }

    /// The same without those of a phase.
    pub(crate) fn cleared(&self, phase: Phase) -> Self {
        self.changed(|lists| lists[phase as usize].chunks.clear())
    }

    /// The same for another instance: what was to run once will run once there.
    pub(crate) fn parted(&self) -> Self {
        self.changed(|lists| lists.iter_mut().for_each(List::part))
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Registration>> {
        self.lists.iter().flat_map(List::iter)
    }

    fn changed(&self, change: impl FnOnce(&mut [List; PHASES])) -> Self {
        let mut lists = self.lists.clone();
        change(&mut lists);
        let mut circles = Vec::new();
        for list in &mut lists {
            circles.extend(list.rebuild());
        }
        let mut changed = Self { lists, ..Self::default() };
        let mut max_depth: Option<usize> = None;
        for (list, phase) in changed.lists.iter().zip(0..) {
            for chunk in &list.chunks {
                let traits = chunk.traits();
                changed.masks.phases |= 1 << phase;
                changed.masks.acts |= u8::from(traits.acts) << phase;
                changed.masks.waits |= u8::from(traits.waits) << phase;
                changed.masks.is_limited |= traits.is_limited;
                max_depth = max_depth.into_iter().chain(traits.max_depth).min();
            }
        }
        let around = &changed.lists[Phase::Around as usize];
        changed.masks.arounds = around.chunks.iter().map(|chunk| chunk.hooks.len()).sum();
        changed.max_depth = max_depth;
        let is_ordered = changed.lists.iter().flat_map(|list| &list.chunks);
        if is_ordered.into_iter().any(|chunk| chunk.traits().is_ordered) {
            changed.ordered = Ordered::of(changed.iter().cloned(), circles);
        }
        changed.masks.phases |= changed.ordered.as_ref().map_or(0, |_| ORDERED);
        changed
    }
}
