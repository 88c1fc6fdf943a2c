//! Whose a thread is to be.

use std::sync::Arc;

/// How a call claims a thread: as which user, if any. A store checks it in the transaction that grants the
/// lease of the thread, as [`allows`](Self::allows) says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The id of the user, if the call names one.
    pub user: Option<Arc<str>>,
    /// Whether the call may make the thread of another user, or of none, one of its own.
    pub takes_over: bool,
    /// Whether the call says something, and does not only go on.
    pub has_input: bool,
}

impl Claim {
    /// Creates the claim of a call with messages and without a user.
    #[must_use]
    pub fn new() -> Self {
        Self { has_input: true, ..Self::default() }
    }

    /// Creates a claim that every thread allows, for who checks whose it is by itself.
    #[must_use]
    pub fn anybody() -> Self {
        Self { takes_over: true, ..Self::default() }
    }

    /// Sets the id of the user.
    #[must_use]
    pub fn user(mut self, id: impl Into<Arc<str>>) -> Self {
        self.user = Some(id.into());
        self
    }

    /// Returns whether the call may use a thread of this user. `is_new` says that nothing was written to the
    /// thread yet.
    ///
    /// | the call | the thread has its user | another user | no user |
    /// |---|---|---|---|
    /// | names a user | yes | no | if it is new |
    /// | names none and says something | | no | yes |
    /// | names none and goes on | | yes | yes |
    /// | takes the thread over | yes | yes | yes |
    ///
    /// ```
    /// use hooks_agent::store::Claim;
    ///
    /// let ada = Claim::new().user("ada");
    /// assert!(ada.allows(Some("ada"), false) && !ada.allows(Some("bob"), false));
    /// assert!(ada.allows(None, true) && !ada.allows(None, false));
    /// ```
    #[must_use]
    pub fn allows(&self, owner: Option<&str>, is_new: bool) -> bool {
        self.takes_over
            || match (self.user.as_deref(), owner) {
                (Some(user), Some(owner)) => user == owner,
                (Some(_), None) => is_new,
                (None, Some(_)) => !self.has_input,
                (None, None) => true,
            }
    }
}
