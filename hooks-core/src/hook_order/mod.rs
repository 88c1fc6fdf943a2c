//! Where a hook stands by the names of other hooks.

mod arrange;

use std::fmt;
use std::sync::Arc;

use crate::printable::printable;

/// Where a hook stands, by the names of other hooks: what [`HookOptions::order`](crate::HookOptions::order) takes.
///
/// | relation | the call runs if |
/// |---|---|
/// | [`before`](Self::before) | a hook of that name is there, and the hook runs before all of that name |
/// | [`after`](Self::after) | a hook of that name is there, and the hook runs after all of that name |
/// | [`requires`](Self::requires) | a hook of that name is there |
///
/// Names are those of hooks of the same hook type, on any level. Among the hooks of one level a relation is stronger
/// than a priority: the hook that has it moves, as little as it can. Hooks that ask for no place never move: what asks to
/// stand before an early one and after a late one cannot run. A relation does not move hooks from one level to another: hooks of an instance run before those of its class, and hooks of a type before those
/// of its traits.
///
/// Counted is what is registered: a hook that [runs once](crate::HookOptions::once) is gone when it has run, and one that
/// does not run in a nested call is there. Relations cost where hooks are registered, by the number of hooks of the hook type.
///
/// A call whose hooks cannot run in the order that they ask for fails with
/// [`HookError::Misordered`](crate::HookError::Misordered), and none of them runs; a method that cannot fail panics with
/// the same text. The [warnings](crate::HookPlan::warnings) of the plan say it before.
///
/// ```
/// use hooks_core::{HookOptions, Hookable, Hooks, hook, hookable};
///
/// #[derive(Hookable, Default)]
/// struct Greeter {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Greeter {
///     fn reply(&self, name: &str) -> String {
///         format!("Hello, {name}")
///     }
/// }
///
/// let greeter = Greeter::default();
/// greeter.register_instance_hook(
///     Greeter::PRE_REPLY,
///     "title",
///     hook!(Greeter::PRE_REPLY, |_, args| args.name.insert_str(0, "Dr. ")),
/// );
/// greeter.register_instance_hook(
///     Greeter::PRE_REPLY,
///     HookOptions::named("trim").before("title"),
///     hook!(Greeter::PRE_REPLY, |_, args| args.name = args.name.trim().to_owned()),
/// );
/// assert_eq!(greeter.reply(" Ann "), "Hello, Dr. Ann");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct HookOrder {
    relations: Vec<Asked>,
    /// Whether what cannot be is passed over.
    is_wish: bool,
    /// What somebody else found.
    fault: Option<Arc<OrderFault>>,
}

/// What is asked for of the hooks of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    relation: Relation,
    name: Arc<str>,
    /// Whether nothing is asked for if there is none.
    where_present: bool,
}

/// How a hook stands to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It runs earlier, or further out.
    Before,
    /// It runs later, or further in.
    After,
    /// It runs only where the other one is.
    Requires,
}

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
}

impl HookOrder {
    /// No relation to any hook.
    pub const fn new() -> Self {
        Self { relations: Vec::new(), is_wish: false, fault: None }
    }

    /// The hook runs before those of this name, or further out.
    pub fn before(self, name: impl Into<Arc<str>>) -> Self {
        self.with(Relation::Before, name)
    }

    /// The hook runs after those of this name, or further in.
    pub fn after(self, name: impl Into<Arc<str>>) -> Self {
        self.with(Relation::After, name)
    }

    /// The hook runs only where a hook of this name is, in whatever order.
    pub fn requires(self, name: impl Into<Arc<str>>) -> Self {
        self.with(Relation::Requires, name)
    }

    /// The same and a relation to the hooks of a name.
    pub fn with(mut self, relation: Relation, name: impl Into<Arc<str>>) -> Self {
        self.relations.push(Asked { relation, name: name.into(), where_present: false });
        self
    }

    /// Of what was asked for before this, names that no hook has are passed over: for a hook of a library that does not
    /// know which others are there.
    pub fn where_present(mut self) -> Self {
        self.relations.iter_mut().for_each(|asked| asked.where_present = true);
        self
    }

    /// What cannot be is passed over, and the hooks run by priority then: for a method that cannot fail, where somebody
    /// else refuses. Plans warn all the same.
    pub const fn as_wish(mut self) -> Self {
        self.is_wish = true;
        self
    }

    /// Calls that have the hook fail with this, for a library that looks at the order of its hooks itself.
    pub fn with_fault(self, fault: OrderFault) -> Self {
        Self { fault: Some(Arc::new(fault)), ..self }
    }

    /// The same and the relations of another order.
    pub fn and(mut self, other: &Self) -> Self {
        self.relations.extend_from_slice(&other.relations);
        self
    }

    /// Returns the order in which hooks run, as indices. They come in the order in which they would run if they asked for
    /// nothing, each with its name. Names that none of them has are passed over.
    ///
    /// # Errors
    /// [`OrderFault::Circle`].
    ///
    /// ```
    /// use hooks_core::HookOrder;
    ///
    /// let early = HookOrder::new().before("redact");
    /// let order = HookOrder::arrange(&[("log", None), ("redact", None), ("trim", Some(&early))])?;
    /// assert_eq!(order, [0, 2, 1]);
    /// # Ok::<(), hooks_core::OrderFault>(())
    /// ```
    pub fn arrange(hooks: &[(&str, Option<&Self>)]) -> Result<Vec<usize>, OrderFault> {
        arrange::arrange(hooks)
    }

    /// Whether it says nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.fault.is_none()
    }

    pub(crate) fn known_fault(&self) -> Option<&OrderFault> {
        self.fault.as_deref()
    }

    /// Whether what cannot be is passed over.
    #[must_use]
    pub const fn is_wish(&self) -> bool {
        self.is_wish
    }

    /// The relations, in the order in which they were named.
    pub fn relations(&self) -> impl Iterator<Item = (Relation, &str)> {
        self.relations.iter().map(|asked| (asked.relation, &*asked.name))
    }

    /// The first relation to a name that nobody has, of those that were not said to be
    /// [where present](Self::where_present).
    pub fn missing(&self, has: impl Fn(&str) -> bool) -> Option<(Relation, &str)> {
        let strict = self.relations.iter().filter(|asked| !asked.where_present);
        let mut strict = strict.map(|asked| (asked.relation, &*asked.name));
        strict.find(|(_, name)| !has(name))
    }
}

impl Relation {
    /// The name of the method that asks for it: `before`, `after` or `requires`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Requires => "requires",
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// As plans show it: `before pii, requires audit`.
impl fmt::Display for HookOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (relation, name)) in self.relations().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{relation} {name}")?;
        }
        Ok(())
    }
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
        }
    }
}
