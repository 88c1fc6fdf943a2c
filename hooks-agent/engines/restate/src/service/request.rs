//! The request of a caller.

use std::sync::Arc;

use hooks_agent_core::message::Msg;
use serde::{Deserialize, Serialize};

/// A call of an agent, as JSON.
///
/// ```
/// use hooks_restate::CallRequest;
///
/// let request: CallRequest = serde_json::from_str(r#"{ "text": "Pay the baker" }"#)?;
/// assert_eq!(request.text.as_deref(), Some("Pay the baker"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CallRequest {
    /// The text of a message of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Other messages, before the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Msg>,
    /// The [user](hooks_agent_core::call::CallOptions::user) of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Arc<str>>,
}

impl CallRequest {
    /// Creates a request with the text of a user.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub(crate) fn into_messages(self) -> Vec<Arc<Msg>> {
        let text = self.text.map(Msg::user);
        self.messages.into_iter().chain(text).map(Arc::new).collect()
    }
}
