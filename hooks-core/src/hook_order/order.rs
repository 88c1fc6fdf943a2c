//! Where a hook stands by the names of other hooks.

use std::fmt;
use std::sync::Arc;

use crate::hook_order::fault::OrderFault;
use crate::hook_order::relation::Relation;

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
        self.fault = self.fault.or_else(|| other.fault.clone());
        self
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
