//! Options that rules and quotas of policy files share.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::expression::{HostPattern, Parsed, zone_of};
use crate::rule::{check_glob, check_name, unknown_zone};

/// The users whose calls a rule is about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserOptions {
    /// The roles of which a user has one.
    roles: Option<Vec<Name>>,
    /// The roles of which a user has none; without a user, none is had.
    not_roles: Option<Vec<Name>>,
}

impl UserOptions {
    /// Returns the roles, and those that are left out.
    pub(crate) fn into_roles(self) -> (Option<Vec<String>>, Option<Vec<String>>) {
        let texts = |roles: Vec<Name>| roles.into_iter().map(Into::into).collect();
        match (self.roles.map(texts), self.not_roles.map(texts)) {
            // A table that says nothing was meant to say something.
            (None, None) => (Some(Vec::new()), None),
            roles => roles,
        }
    }
}

/// Texts that are checked where they stand.
macro_rules! checked_texts {
    ($($name:ident($text:ident) $check:expr;)*) => {$(
        #[derive(JsonSchema)]
        #[schemars(transparent)]
        pub(crate) struct $name(pub(crate) String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let $text = String::deserialize(deserializer)?;
                let checked: Result<(), String> = $check;
                checked.map_err(D::Error::custom)?;
                Ok(Self($text))
            }
        }
    )*};
}

checked_texts! {
    Name(text) check_name(&text);
    Glob(text) check_glob(&text);
    When(text) Parsed::new(&text).and_then(|parsed| parsed.check_without_vars());
    Host(text) HostPattern::new(&text).map(drop);
    Zone(text) zone_of(&text).map(drop).ok_or_else(|| unknown_zone(&text));
}

macro_rules! into_text {
    ($($name:ident)*) => {$(
        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }
    )*};
}

into_text!(Name Glob When Host);
