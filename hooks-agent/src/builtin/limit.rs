//! Hooks that limit: calls, tokens, money, rates.

pub use hooks_agent_builtin::limit::*;
#[cfg(feature = "rules")]
#[doc(inline)]
pub use hooks_agent_rules::{Per, Quota, QuotaExit, Quotas, QuotasBuilder, Within};
