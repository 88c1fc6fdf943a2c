//! The items that most programs need: `use hooks_agent::prelude::*;`.

#[cfg(feature = "structured-output")]
pub use crate::builtin::answer::TypedCalls;
#[cfg(feature = "genai")]
pub use crate::model::GenAiModel;
#[doc(inline)]
pub use hooks_agent_core::prelude::*;
