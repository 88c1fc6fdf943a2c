//! The log of a call: what it came to, in the order in which it came.
//!
//! Each entry is one side effect of the invocation, all of the same name. The entries are read in order
//! and say themselves which step they are of: so tools that run at once, sub-agents and a program with
//! one step more find their steps again.

use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::{CallEnd, StepRecord};
use hooks_agent_core::store::Waiting;
use serde::{Deserialize, Serialize};

use crate::verdict::SignedVerdict;

/// The version of the log that this program writes.
pub(crate) const VERSION: u64 = 1;

/// The name of all entries.
pub(crate) const NAME: &str = "log";

/// One entry of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A run of the call begins: what earlier runs kept ends here.
    Begin {
        /// The version of the log.
        v: u64,
        /// The name of the agent.
        agent: String,
        /// The build that runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<String>,
        /// The run id of the call, if this is its first run. A log of another version may have none.
        #[serde(default = "RunId::random")]
        run: RunId,
    },
    /// Steps were completed.
    Steps(Vec<(String, StepRecord)>),
    /// People are asked.
    Asked(Vec<Waiting>),
    /// A question is decided, or the call does not wait for it.
    Decided(Option<SignedVerdict>),
    /// The call is at work, for an engine that would end what seems idle.
    Beat,
    /// The call failed with an error that may pass, so that it runs again.
    Retry {
        /// The error.
        error: String,
    },
    /// A program that cannot run the call refused it.
    Refused {
        /// The status.
        code: u16,
        /// Why.
        reason: String,
    },
    /// The call is over.
    End(Box<CallEnd>),
}
