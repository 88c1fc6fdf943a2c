//! Limits of a policy that a guard of another agent cannot hold.

use hooks_agent_policy::policy::Merged;
use hooks_core::BoxError;

/// Hooks that a guard cannot hold: a policy that has them is refused, rather than let them seem to hold.
#[derive(Clone, Copy, Debug)]
pub struct NotHeld {
    /// The word for what cannot hold them.
    pub by: &'static str,
    /// The names by which files use them.
    pub hooks: &'static [&'static str],
    /// Why not.
    pub why: &'static str,
}

impl NotHeld {
    /// Those that a guard at the hooks of a coding agent cannot hold: they count in their process, or need what such an agent
    /// does not report.
    pub const BY_A_GUARD: Self = Self {
        by: "guard",
        hooks: &["budget", "mcp_pins", "model_call_limit", "provenance", "quotas", "rate_limit"],
        why: "it counts no model calls, no time and no quotas, keeps nothing of what the agent read, and cannot ask \
              servers what their tools are",
    };

    /// Refuses a policy that has one of them for this agent.
    ///
    /// # Errors
    /// A text that names them, and says what to write.
    pub fn check(&self, merged: &Merged, agent: &str) -> Result<(), BoxError> {
        let Self { by, hooks, why } = self;
        let is_one = |uses: &str| hooks.contains(&uses);
        let hooks = merged.hooks().iter();
        let mut not_held = hooks
            .filter(|hook| hook.is_enabled() && is_one(hook.uses()) && hook.applies_to(agent))
            .map(|hook| format!("`{}`", hook.name()));
        let Some(first) = not_held.next() else { return Ok(()) };
        let names = not_held.fold(first, |names, name| format!("{names}, {name}"));
        let reason =
            format!("a {by} cannot hold {names}: {why}; keep them from `{agent}` by `agents`");
        Err(reason.into())
    }
}
