//! The hooked methods of types, as the linker knows them.

use std::any::TypeId;

use crate::hook_type::{HookType, Phase};
use crate::registry::type_name::{crate_of, split_type_name};

/// The hooked methods of one `#[hookable]` block.
#[derive(Debug)]
#[doc(hidden)]
pub struct HookedMethods {
    /// The type; `None` for a generic one, which has no single identity.
    pub agent: Option<fn() -> TypeId>,
    /// The trait, as `dyn Trait`, that the block implements.
    pub base: Option<fn() -> TypeId>,
    pub module: &'static str,
    pub line: u32,
    pub ident: &'static str,
    pub methods: &'static [HookedMethod],
}

/// A hooked method: its name, and whether it has around hooks and error hooks.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct HookedMethod {
    pub(crate) name: &'static str,
    around: bool,
    error: bool,
}

impl HookedMethod {
    /// A method, and whether it has around hooks and error hooks.
    #[must_use]
    pub const fn new(name: &'static str, around: bool, error: bool) -> Self {
        Self { name, around, error }
    }

    /// Its hook types, in the order of a call.
    pub(crate) fn types(self) -> impl Iterator<Item = HookType> {
        let has = move |phase: &Phase| match phase {
            Phase::Around => self.around,
            Phase::Error => self.error,
            Phase::Pre | Phase::Post | Phase::Settled => true,
        };
        Phase::ALL.iter().copied().filter(has).map(move |phase| HookType::new(phase, self.name))
    }
}

/// Refuses a method of an impl that is not marked, although its trait hooks it.
///
/// # Panics
/// If the trait hooks it; this is when the impl is compiled.
pub const fn assert_unhooked(methods: &[HookedMethod], name: &str) {
    let mut index = 0;
    while index < methods.len() {
        assert!(
            !is_same(methods[index].name.as_bytes(), name.as_bytes()),
            "the trait hooks this method: mark it `#[hook]`, or `#[hook(skip)]` to leave its hooks out"
        );
        index += 1;
    }
}

const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

inventory::collect!(HookedMethods);

/// The hooked methods of a type: those of its traits, then its own, each in the order of the source.
pub(crate) fn methods_of(agent: TypeId, type_name: &str) -> Vec<HookedMethod> {
    blocks_of(agent, type_name).into_iter().flat_map(|block| block.methods).copied().collect()
}

/// The hookable traits that a type implements, as `dyn Trait`.
pub(crate) fn bases_of(agent: TypeId, type_name: &str) -> Vec<TypeId> {
    let blocks = blocks_of(agent, type_name).into_iter();
    blocks.filter_map(|block| block.base).map(|base| base()).collect()
}

/// The hookable traits that exactly this type implements; none of a generic one, which is known by its
/// name alone.
#[cfg(feature = "json")]
pub(crate) fn exact_bases_of(agent: TypeId) -> impl Iterator<Item = TypeId> {
    let blocks = inventory::iter::<HookedMethods>.into_iter();
    let blocks = blocks.filter(move |block| block.agent.is_some_and(|known| known() == agent));
    blocks.filter_map(|block| block.base).map(|base| base())
}

/// The blocks of a type. The order of the linker is not that of the source.
fn blocks_of(agent: TypeId, type_name: &str) -> Vec<&'static HookedMethods> {
    let (path, ident) = split_type_name(type_name);
    let blocks = inventory::iter::<HookedMethods>.into_iter();
    let is_of_type = |block: &&HookedMethods| match block.agent {
        Some(known) => known() == agent,
        None => block.ident == ident && crate_of(block.module) == crate_of(path),
    };
    let mut blocks: Vec<_> = blocks.filter(is_of_type).collect();
    blocks.sort_by_key(|block| (block.base.is_none(), block.module, block.line));
    blocks
}
