//! Hooks that guard: what an agent may say, read and do.

pub use hooks_agent_builtin::guard::*;
#[cfg(feature = "rules")]
#[doc(inline)]
pub use hooks_agent_rules::{
    Condition, EgressError, EgressGuard, Requires, Rules, RulesBuilder, RulesError, Then, ToolRule,
};
#[cfg(feature = "provenance")]
#[doc(inline)]
pub use hooks_agent_rules::{Handles, Provenance, ProvenanceError, Sink};
