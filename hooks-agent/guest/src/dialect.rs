//! Events that are not of the contract of commands.

use hooks_agent_policy::command::{CommandEvent, Input};

/// Returns why nothing is decided about an event: it is of an agent with another contract, in which an
/// answer of this one may count as none.
pub(crate) fn not_served(input: &Input) -> Option<String> {
    let name = input.hook_event_name.as_str();
    match name.parse::<CommandEvent>() {
        // Codex takes neither a question nor other arguments, and runs the tool then.
        Ok(event) if event.can_block() && input.other.contains_key("turn_id") => Some(format!(
            "`hooks-agent guard` does not serve this agent: `{name}` has a `turn_id`, and agents that \
             write it take other answers"
        )),
        Err(unknown) if !CommandEvent::OF_CODING_AGENTS.contains(&name) => {
            let near = unknown.near().map(|near| format!(", did you mean `{near}`?"));
            Some(format!(
                "`hooks-agent guard` does not serve the event `{}`{}",
                name.escape_debug(),
                near.unwrap_or_default()
            ))
        }
        _ => None,
    }
}
