//! Why hooks cannot run in the order that they ask for.

use std::fmt;

use crate::hook_order::relation::Relation;
use crate::printable::printable;

/// Why hooks cannot run in the order that they ask for. `Display` says what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderFault {
    /// No hook has the name.
    #[non_exhaustive]
    Missing {
        /// The hook that asks for it.
        hook: String,
        /// What it asks for.
        relation: Relation,
        /// The name that no hook has.
        name: String,
    },
    /// Each hook runs before the next one, and the last one before the first: by what hooks ask for, or by the priorities
    /// of hooks that ask for nothing.
    #[non_exhaustive]
    Circle {
        /// The names of the hooks.
        hooks: Vec<String>,
    },
    /// The level, or the type that the hooks are registered for, decides otherwise.
    #[non_exhaustive]
    Level {
        /// The hook that asks for it.
        hook: String,
        /// What it asks for.
        relation: Relation,
        /// The name of the other hook.
        name: String,
    },
    /// A hook cannot do its work beside the others.
    #[non_exhaustive]
    Conflict {
        /// The hook.
        hook: String,
        /// Why, and what to do.
        why: String,
    },
}

impl OrderFault {
    /// The hook that asks for something that no hook is named.
    #[must_use]
    pub fn missing(hook: impl Into<String>, relation: Relation, name: impl Into<String>) -> Self {
        Self::Missing { hook: hook.into(), relation, name: name.into() }
    }

    /// Hooks of which each is to run before the next one, and the last one before the first.
    #[must_use]
    pub fn circle(hooks: Vec<String>) -> Self {
        Self::Circle { hooks }
    }

    /// A hook that cannot do its work beside the others, for this reason.
    #[must_use]
    pub fn conflict(hook: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Conflict { hook: hook.into(), why: why.into() }
    }
}

impl std::error::Error for OrderFault {}

impl fmt::Display for OrderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &String| printable(name);
        match self {
            Self::Missing { hook, relation: Relation::Requires, name } => write!(
                f,
                "`{hook}` requires `{name}`, and no hook has that name: add one, or remove `{hook}`",
                hook = shown(hook),
                name = shown(name),
            ),
            Self::Missing { hook, relation, name } => write!(
                f,
                "`{hook}` is to run {relation} `{name}`, and no hook has that name: add one, or remove the relation",
                hook = shown(hook),
                name = shown(name),
            ),
            Self::Circle { hooks } => {
                let names: Vec<_> = hooks.iter().chain(hooks.first()).collect();
                f.write_str("each of these runs before the next one, by what hooks ask for or by priority: ")?;
                for (index, name) in names.into_iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}`{}`", shown(name))?;
                }
                f.write_str("; remove one of the relations")
            }
            Self::Level { hook, relation, name } => write!(
                f,
                "`{hook}` is to run {relation} `{name}`, and cannot: hooks of an instance run before hooks of its \
                 class, and hooks of a type before hooks of its traits; register both in one place",
                hook = shown(hook),
                name = shown(name),
            ),
            Self::Conflict { hook, why } => {
                write!(f, "`{}` cannot run beside the others: {why}", shown(hook))
            }
        }
    }
}
