//! [AGENT-HOOKS-0.1](https://github.com/responsibleai/agent-hooks) for agents of hooks-agent, in both directions:
//! [`Interceptors`] runs the interceptors of others, such as policy engines, in these agents; [`Guarded`] makes hooks
//! of these agents an interceptor of others.
//!
//! This crate is the module `interceptors` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there. [The guide] shows
//! both directions.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/interceptors/index.html

mod closure;
mod context;
mod guarded;
mod host;
mod records;

/// The crate `agent-hooks-sdk`, whose types are part of this interface: of exactly this version.
pub use agent_hooks;
/// For interceptors that wait.
pub use async_trait::async_trait;
pub use closure::{Context, intercept, transform};
pub use guarded::Guarded;
pub use host::{
    AskPeople, Blocked, CustomIdentity, Identity, Interceptors, Output, Profile, Segment,
    declaration, surface,
};
pub use records::{JsonLines, RecordSink};
