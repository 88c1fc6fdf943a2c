//! The capabilities that an agent declares.

use serde::Serialize;
use serde_json::{Value, json};

/// What an agent behind the protocol can do, the answer to `GET`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Capabilities(Value);

impl Capabilities {
    pub(crate) fn new(agent: &str, takes_tools: bool) -> Self {
        Self(json!({
            "identity": { "name": agent, "type": "hooks-agent" },
            "transport": { "streaming": true, "resumable": false },
            "tools": { "supported": true, "clientProvided": takes_tools },
            "state": { "snapshots": true, "deltas": false, "persistentState": false },
            "multiAgent": { "supported": true, "delegation": true },
            "reasoning": { "supported": true, "streaming": true, "encrypted": true },
            "humanInTheLoop": {
                "supported": true,
                "approvals": true,
                "interrupts": true,
                "approveWithEdits": true,
            },
        }))
    }
}
