//! Tests of the module `guest` and of the program `hooks-agent`.

mod agents;
mod approvals;
mod decisions;
mod dialects;
mod doctor;
mod documented;
mod failures;
mod installed;
mod loops;
mod pages;
mod program;
mod questions;
mod replays;
mod results;
mod score_runs;
mod served;
mod sources;
mod sub_agents;
mod threads;
mod unread;

// The hooks that policy files may use.
use hooks_agent_builtin as _;
