//! Who asks.

use hooks_agent_core::call::User;

use crate::refused::Refused;

/// Who asks, as the program knows it. Each scope has threads of its own.
///
/// ```
/// use hooks_agent::builtin::connect::ag_ui::Caller;
///
/// let ada = Caller::new("ada").user("ada@example.org");
/// assert_eq!(ada.thread("t-1"), "ada/t-1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    scope: String,
    pub(super) user: Option<User>,
}

impl Caller {
    /// Creates a caller with the threads of this scope: the id of a user or a tenant, from authentication and
    /// never from the input.
    #[must_use]
    pub fn new(scope: impl Into<String>) -> Self {
        Self { scope: scope.into(), user: None }
    }

    /// Sets the user: of the thread in the store, and who decides about interrupts. A thread that has a user
    /// is refused to every other caller of the scope, also to one without a user.
    ///
    /// The user comes from the login of the program: nothing that a client writes in `state`, `context` or
    /// `forwardedProps` is one.
    #[must_use]
    pub fn user(mut self, user: impl Into<User>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Returns the thread of the agent for a thread of the client. No thread of another scope is the same.
    #[must_use]
    pub fn thread(&self, thread_id: &str) -> String {
        // The first slash ends the scope.
        let scope = self.scope.replace('%', "%25").replace('/', "%2F");
        format!("{scope}/{thread_id}")
    }

    pub(super) fn checked_thread(&self, thread_id: &str) -> Result<String, Refused> {
        let thread = self.thread(thread_id);
        if thread_id.is_empty() || thread.len() > 512 || thread.contains('\0') {
            let text = "`threadId` is empty, too long or has a NUL".to_owned();
            return Err(Refused::Malformed(text));
        }
        Ok(thread)
    }
}

/// Why authentication refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// The request has no credentials that the program knows: 401.
    Unauthenticated,
    /// The caller is known, and may not use the agent: 403.
    Forbidden,
}

impl From<Denied> for Refused {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unauthenticated => Self::Unauthenticated,
            Denied::Forbidden => Self::Forbidden,
        }
    }
}
