//! The agents, a table each.

mod claude;
mod cline;
mod codex;
mod contract;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod qwen;
mod windsurf;

use crate::dialect::table::Table;

/// All of them. The contract is last: its names are those of others.
pub(super) const ALL: [&Table; 10] = [
    &claude::TABLE,
    &codex::TABLE,
    &gemini::TABLE,
    &copilot::TABLE,
    &cline::TABLE,
    &opencode::TABLE,
    &qwen::TABLE,
    &cursor::TABLE,
    &windsurf::TABLE,
    &contract::TABLE,
];

/// Whose events have no sign of another agent.
pub(super) const CLAUDE: &Table = &claude::TABLE;

/// Those that take the contract of commands whole.
pub(super) const CONTRACT: &Table = &contract::TABLE;
