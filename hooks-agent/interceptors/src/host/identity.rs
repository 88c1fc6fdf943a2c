//! Identities of contexts, for records and approvals.

use std::fmt;
use std::sync::Arc;

use agent_hooks::{AgentContext, HostError, IdentityProvider};

/// What tells contexts apart in records and approvals (section 10 of the specification).
#[derive(Clone, Default)]
pub enum Identity {
    /// The SHA-256 of what is required of the context, as canonical JSON. Anybody who has a context can tell whether
    /// a record is of it.
    #[default]
    JcsSha256,
    /// None: an approval is of a question, not of its content, and records say so.
    Unbound,
    /// A function of your own, such as a keyed hash. [`custom`](Self::custom) creates it.
    Custom(CustomIdentity),
}

/// An identity of your own.
#[derive(Clone)]
pub struct CustomIdentity {
    name: String,
    compute: Arc<dyn Fn(&AgentContext) -> String + Send + Sync>,
}

impl Identity {
    /// Creates an identity of your own: a pure function of the context. Where it panics, the point is denied.
    ///
    /// # Errors
    /// A text that says what a name may be, if it is none: small letters, digits, `_` and `-`, with a letter first,
    /// and not `jcs` first.
    pub fn custom(
        name: impl Into<String>,
        compute: impl Fn(&AgentContext) -> String + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let name = name.into();
        // It looks at the name.
        IdentityProvider::custom(&*name, |_| String::new()).map_err(|(_, reason)| reason)?;
        Ok(Self::Custom(CustomIdentity { name, compute: Arc::new(compute) }))
    }

    /// Returns the provider of an emitter.
    pub(super) fn provider(&self) -> Result<IdentityProvider, (HostError, String)> {
        match self {
            Self::JcsSha256 => Ok(IdentityProvider::JcsSha256),
            Self::Unbound => Ok(IdentityProvider::Null),
            Self::Custom(CustomIdentity { name, compute }) => {
                let compute = compute.clone();
                IdentityProvider::custom(&**name, move |context| compute(context))
            }
        }
    }

    /// Returns the name in records.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::JcsSha256 => Some(agent_hooks::JCS_SHA256),
            Self::Unbound => None,
            Self::Custom(custom) => Some(&custom.name),
        }
    }
}

impl From<IdentityProvider> for Identity {
    fn from(provider: IdentityProvider) -> Self {
        match provider {
            IdentityProvider::JcsSha256 => Self::JcsSha256,
            IdentityProvider::Null => Self::Unbound,
            IdentityProvider::Custom { name, f } => {
                Self::Custom(CustomIdentity { name, compute: Arc::from(f) })
            }
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("unbound"))
    }
}

impl fmt::Debug for CustomIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomIdentity").field(&self.name).finish()
    }
}
