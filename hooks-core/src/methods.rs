//! The hooked methods of types, as the linker knows them.

use std::any::TypeId;

#[cfg(feature = "json")]
use crate::class::ClassHooks;
use crate::hook_type::{HookType, Phase};
#[cfg(feature = "json")]
use crate::json::{self, RegisterJson};
#[cfg(feature = "json")]
use crate::point::{HookPoint, Output};
use crate::type_name::{crate_of, split_type_name};
#[cfg(feature = "json")]
use serde::{Serialize, de::DeserializeOwned};

/// The hooked methods of one `#[hookable]` block.
#[derive(Debug)]
#[doc(hidden)]
pub struct HookedMethods {
    /// The type; `None` for a generic one, which has no single identity.
    pub agent: Option<fn() -> TypeId>,
    /// The trait, as `dyn Trait`, that the block implements.
    pub base: Option<fn() -> TypeId>,
    pub module: &'static str,
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
    #[cfg(feature = "json")]
    json: Option<JsonPoint>,
}

/// How a hook point takes hooks over JSON.
#[cfg(feature = "json")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonPoint {
    /// The type whose hooks these are: the trait, as `dyn Trait`, for the methods of one.
    pub(crate) agent: fn() -> TypeId,
    pub(crate) class: fn() -> &'static ClassHooks,
    pub(crate) register: RegisterJson,
}

impl HookedMethod {
    /// A method that takes no hooks over JSON.
    #[must_use]
    pub const fn new(name: &'static str, around: bool, error: bool) -> Self {
        Self {
            name,
            around,
            error,
            #[cfg(feature = "json")]
            json: None,
        }
    }

    /// A method of `A` that takes hooks over JSON.
    #[cfg(feature = "json")]
    #[must_use]
    pub const fn json<A, Args>(self) -> Self
    where
        A: ?Sized + HookPoint<Args>,
        Args: Serialize + DeserializeOwned + Clone + 'static,
        Output<A, Args>: Serialize + DeserializeOwned,
    {
        let register = json::register::<A, Args>;
        Self { json: Some(JsonPoint { agent: TypeId::of::<A>, class: A::class, register }), ..self }
    }

    /// Its hook types, in the order of a call.
    pub(crate) fn types(self) -> impl Iterator<Item = HookType> {
        let has = move |phase: &Phase| match phase {
            Phase::Around => self.around,
            Phase::Error => self.error,
            Phase::Pre | Phase::Post | Phase::Settled => true,
        };
        Phase::ALL.into_iter().filter(has).map(move |phase| HookType::new(phase, self.name))
    }
}

inventory::collect!(HookedMethods);

/// The hooked methods of a type, in the order of the source.
pub(crate) fn methods_of(agent: TypeId, type_name: &str) -> Vec<HookedMethod> {
    blocks_of(agent, type_name).flat_map(|block| block.methods).copied().collect()
}

/// The hookable traits that a type implements, as `dyn Trait`.
pub(crate) fn bases_of(agent: TypeId, type_name: &str) -> Vec<TypeId> {
    blocks_of(agent, type_name).filter_map(|block| block.base).map(|base| base()).collect()
}

/// How a hook point takes hooks over JSON, if it does.
#[cfg(feature = "json")]
pub(crate) fn json_of(agent: TypeId, type_name: &str, method: &str) -> Option<JsonPoint> {
    let blocks = blocks_of(agent, type_name).filter(|block| block.agent.is_some());
    blocks.flat_map(|block| block.methods).find(|known| known.name == method)?.json
}

fn blocks_of(agent: TypeId, type_name: &str) -> impl Iterator<Item = &'static HookedMethods> {
    let (path, ident) = split_type_name(type_name);
    let blocks = inventory::iter::<HookedMethods>.into_iter();
    blocks.filter(move |block| match block.agent {
        Some(known) => known() == agent,
        None => block.ident == ident && crate_of(block.module) == crate_of(path),
    })
}
