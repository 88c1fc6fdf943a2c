//! Rules about the tool calls of agents, for agents of hooks-agent: which calls run, and which ask, by conditions
//! over their arguments, the user, the agent, the time, and what ran before; and to which hosts answers may link.
//!
//! This crate is part of the module `builtin::guard` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there. [The guide] shows
//! the rules of policy files.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/rules/index.html

mod egress;
mod expression;
mod hook;
#[cfg(feature = "policy")]
mod options;
mod past;
#[cfg(feature = "provenance")]
mod provenance;
mod quotas;
mod rule;

pub use egress::{EgressError, EgressGuard};
pub use expression::Condition;
pub use hook::{Rules, RulesBuilder};
#[cfg(feature = "provenance")]
pub use provenance::{Handles, Provenance, ProvenanceError, Sink};
pub use quotas::{Per, Quota, QuotaExit, Quotas, QuotasBuilder, Within};
pub use rule::{Requires, RulesError, Then, ToolRule};
