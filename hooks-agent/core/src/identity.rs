//! Who calls an agent, and who may answer its questions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use hooks_core::{BoxError, BoxFuture};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// A user whom the program has authenticated: an id, roles, and what else rules read of it.
///
/// It is not read from JSON: who a user is comes from the login of the program, and never from the body of a
/// request. A text is a user without roles.
///
/// ```
/// use hooks_agent::call::User;
///
/// let ada = User::new("ada").with_roles(["clerk", "manager"]).with_attribute("region", "eu");
/// assert!(ada.has_role("clerk"));
/// assert_eq!(ada.attributes()["region"], "eu");
/// assert!(!User::from("bob").has_role("clerk"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    id: Arc<str>,
    facts: Option<Arc<Facts>>,
    is_unknown: bool,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct Facts {
    roles: BTreeSet<Arc<str>>,
    attributes: Map<String, Value>,
}

impl User {
    /// Creates a user without roles.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), facts: None, is_unknown: false }
    }

    /// Creates a name under which somebody acts whom the program has not authenticated, or of whom nothing but
    /// the id is known. Nothing that a user is required for accepts it, whatever roles it is given.
    #[must_use]
    pub fn unverified(id: impl Into<Arc<str>>) -> Self {
        Self { is_unknown: true, ..Self::new(id) }
    }

    /// Adds a role.
    #[must_use]
    pub fn with_role(self, role: impl Into<Arc<str>>) -> Self {
        self.with_roles([role])
    }

    /// Adds roles.
    #[must_use]
    pub fn with_roles(mut self, roles: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        self.facts_mut().roles.extend(roles.into_iter().map(Into::into));
        self
    }

    /// Adds what rules read of the user, such as a department. A later value of a name replaces the earlier
    /// one.
    #[must_use]
    pub fn with_attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.facts_mut().attributes.insert(name.into(), value.into());
        self
    }

    fn facts_mut(&mut self) -> &mut Facts {
        Arc::make_mut(self.facts.get_or_insert_default())
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn shared_id(&self) -> Arc<str> {
        self.id.clone()
    }

    /// Returns the roles, in order.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.facts.iter().flat_map(|facts| &facts.roles).map(|role| &**role)
    }

    /// Returns whether the user has this role.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.roles.contains(role))
    }

    /// Returns what rules read of the user.
    #[must_use]
    pub fn attributes(&self) -> &Map<String, Value> {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        self.facts.as_ref().map_or(&NONE, |facts| &facts.attributes)
    }

    /// Returns whether the roles and attributes are known. They are not where a call goes on with the thread
    /// of a user whom it does not name, unless the agent [finds users](crate::agent::AgentState::with_users):
    /// what is decided by a role is refused then.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.is_unknown
    }
}

impl<T: Into<Arc<str>>> From<T> for User {
    fn from(id: T) -> Self {
        Self::new(id)
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles: Vec<_> = self.roles().collect();
        f.debug_struct("User").field("id", &self.id).field("roles", &roles).finish_non_exhaustive()
    }
}

/// Writes the id, the roles and the attributes.
impl Serialize for User {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("User", 3)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("roles", &self.roles().collect::<Vec<_>>())?;
        fields.serialize_field("attributes", self.attributes())?;
        fields.end()
    }
}

/// How an agent [finds](crate::agent::AgentState::with_users) its users.
pub(crate) type Users = dyn Fn(User) -> BoxFuture<'static, Result<User, BoxError>> + Send + Sync;

/// Boxes a function that finds users.
pub(crate) fn shared_users<F>(users: impl Fn(User) -> F + Send + Sync + 'static) -> Arc<Users>
where
    F: Future<Output = Result<User, BoxError>> + Send + 'static,
{
    Arc::new(move |user| Box::pin(users(user)))
}

/// Who may answer a question: users with one of these roles, if there are any, and perhaps not the user who
/// caused the question.
///
/// ```
/// use hooks_agent::call::User;
/// use hooks_agent::message::Approvers;
///
/// let approvers = Approvers::roles(["manager"]).not_self();
/// assert!(approvers.check(Some(&User::new("eve").with_role("manager")), Some("ada")).is_ok());
/// let refused = approvers.check(Some(&User::new("ada").with_role("manager")), Some("ada"));
/// assert_eq!(refused.unwrap_err().to_string(), "`ada` may not answer a question of `ada`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvers {
    /// The roles of which an approver has one; none lets everybody answer who is authenticated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    roles: BTreeSet<Arc<str>>,
    /// Whether the user who caused the question may not answer it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_self: bool,
}

impl Approvers {
    /// Lets everybody answer whom the program has authenticated.
    #[must_use]
    pub fn anybody() -> Self {
        Self::default()
    }

    /// Lets users answer who have one of these roles. Without a role, as [`anybody`](Self::anybody).
    #[must_use]
    pub fn roles(roles: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        Self { roles: roles.into_iter().map(Into::into).collect(), not_self: false }
    }

    /// Does not let the user answer who caused the question. A question of a call without a user has no
    /// answer then.
    #[must_use]
    pub fn not_self(mut self) -> Self {
        self.not_self = true;
        self
    }

    /// Returns whether a role is required.
    #[must_use]
    pub fn has_roles(&self) -> bool {
        !self.roles.is_empty()
    }

    /// Returns whether a user may not answer because the user asks, or because nobody knows who does.
    pub(crate) fn is_own(&self, by: &str, asks: Option<&str>) -> bool {
        self.not_self && asks.is_none_or(|asks| asks == by)
    }

    /// Checks that a user may answer a question of a call of the user `asks`.
    ///
    /// # Errors
    /// [`NotApprover`] says why the user may not.
    pub fn check(&self, user: Option<&User>, asks: Option<&str>) -> Result<(), NotApprover> {
        let Some(user) = user.filter(|user| user.is_known() && !user.id.is_empty()) else {
            return Err(NotApprover::Nobody);
        };
        let id = || user.shared_id();
        if !self.roles.is_empty() && !self.roles.iter().any(|role| user.has_role(role)) {
            return Err(NotApprover::Role {
                user: id(),
                roles: self.roles.iter().cloned().collect(),
            });
        }
        match asks {
            None if self.not_self => Err(NotApprover::NobodyAsks),
            Some(asks) if self.not_self && *asks == *user.id => {
                Err(NotApprover::Own { user: id() })
            }
            _ => Ok(()),
        }
    }
}

/// Why somebody may not answer a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotApprover {
    /// Nobody is authenticated.
    #[error(
        "it is answered by an authenticated user, and none is named: decide by `Verdict::by`, or on a call \
         with `CallOptions::user`"
    )]
    Nobody,
    /// The user has none of the roles.
    #[error("`{user}` has none of the roles that may answer: {}", roles.join(", "))]
    Role {
        /// The id of the user.
        user: Arc<str>,
        /// The roles.
        roles: Vec<Arc<str>>,
    },
    /// The user caused the question.
    #[error("`{user}` may not answer a question of `{user}`")]
    Own {
        /// The id of the user.
        user: Arc<str>,
    },
    /// It is not known who caused the question.
    #[error("it may not be answered by who caused it, and the call that asks has no user")]
    NobodyAsks,
}
