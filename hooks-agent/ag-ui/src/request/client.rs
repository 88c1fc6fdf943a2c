//! The input of a client besides its messages.

use serde_json::Value;

use crate::protocol::ContextEntry;

/// What the client sent beside messages. Hooks and tools get it by
/// [`CallContext::get`](hooks_agent_core::call::CallContext::get); nothing of it is checked.
///
/// ```
/// use hooks_agent::builtin::connect::ag_ui::ClientInput;
/// use hooks_agent::prelude::*;
///
/// let page = on(|event: &mut PreCall<'_>| {
///     if let Some(client) = event.context().get::<ClientInput>() {
///         let page = client.state.as_ref().map(|state| state["page"].to_string());
///         event.append_system(format!("The user looks at page {page:?}."));
///     }
/// });
/// # let _ = page;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientInput {
    /// The id of the conversation, without the scope.
    pub thread_id: String,
    /// The id of the run.
    pub run_id: String,
    /// What the client knows about the moment.
    pub context: Vec<ContextEntry>,
    /// The state of the client.
    pub state: Option<Value>,
    /// Values of the application.
    pub forwarded_props: Option<Value>,
}
