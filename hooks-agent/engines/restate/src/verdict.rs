//! Decisions as the engine keeps them: with who decided.

use std::collections::BTreeSet;
use std::sync::Arc;

use hooks_agent_core::call::User;
use hooks_agent_core::store::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A decision about a question, and who decides: an id, or a user with roles. The program says so that calls
/// the service, which must have authenticated them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedVerdict {
    pub(crate) id: Arc<str>,
    pub(crate) decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<By>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum By {
    Id(Arc<str>),
    /// Somebody whom the program has not authenticated.
    Unverified {
        unverified: Arc<str>,
    },
    User {
        id: Arc<str>,
        #[serde(default)]
        roles: BTreeSet<Arc<str>>,
        #[serde(default)]
        attributes: Map<String, Value>,
    },
}

impl From<By> for User {
    fn from(by: By) -> Self {
        match by {
            By::Id(id) => Self::new(id),
            By::Unverified { unverified } => Self::unverified(unverified),
            By::User { id, roles, attributes } => {
                let user = Self::new(id).with_roles(roles);
                attributes
                    .into_iter()
                    .fold(user, |user, (name, value)| user.with_attribute(name, value))
            }
        }
    }
}

impl From<User> for By {
    fn from(user: User) -> Self {
        if !user.is_known() {
            return Self::Unverified { unverified: user.id().into() };
        }
        if user == User::new(user.id()) {
            return Self::Id(user.id().into());
        }
        Self::User {
            id: user.id().into(),
            roles: user.roles().map(Into::into).collect(),
            attributes: user.attributes().clone(),
        }
    }
}

impl From<SignedVerdict> for Verdict {
    fn from(SignedVerdict { id, decision, by }: SignedVerdict) -> Self {
        let verdict = Self::new(id, decision);
        match by {
            Some(by) => verdict.by(by),
            None => verdict,
        }
    }
}

impl From<Verdict> for SignedVerdict {
    fn from(verdict: Verdict) -> Self {
        Self { id: verdict.id, decision: verdict.decision, by: verdict.by.map(By::from) }
    }
}
