//! The plan of an instance: its hooks, in order.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use crate::group::HookGroup;
use crate::hook_order::HookOrder;
use crate::hook_type::{HookType, Level};
use crate::printable::printable;
use crate::registry::class::class_tables;
use crate::registry::hooks::Hooks;
use crate::registry::methods::{bases_of, methods_of};
use crate::registry::registration::Registration;
use crate::registry::type_name::short_name;
use crate::role::HookRole;

/// Every hook that a call of an instance would run, in the order in which it would.
///
/// It is a picture of the moment. `Display` prints it as a table:
///
/// ```
/// use hooks_core::{Hookable, Hooks, hookable};
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
/// let trim = |_: &Greeter, args: &mut GreeterReplyArgs| args.name = args.name.trim().to_owned();
/// greeter.register_instance_hook(Greeter::PRE_REPLY, "trim", trim);
/// let plan = greeter.hook_plan();
/// assert_eq!(plan.hooks()[0].name(), "trim");
/// // hooks of Greeter
/// //   type       level     name  priority  registered at
/// //   pre_reply  instance  trim       100  src/main.rs:19
/// println!("{plan}");
/// ```
#[derive(Clone, Debug)]
pub struct HookPlan {
    agent: String,
    hooks: Vec<PlannedHook>,
}

/// One hook of a [`HookPlan`].
#[derive(Clone, Debug)]
pub struct PlannedHook {
    level: Level,
    /// The place of the type that it is registered for: the agent's own, then its traits.
    rank: usize,
    registration: Arc<Registration>,
    warnings: Arc<[String]>,
}

impl HookPlan {
    /// The plan of an instance of the given type.
    pub(crate) fn of(hooks: &Hooks, class: TypeId, type_name: &str) -> Self {
        let mut planned = Vec::new();
        for (rank, agent) in std::iter::once(class).chain(bases_of(class, type_name)).enumerate() {
            let hook = |level| {
                move |registration: Arc<Registration>| {
                    let warnings = registration.warnings.clone();
                    PlannedHook { level, rank, registration, warnings }
                }
            };
            let instance =
                hooks.get().map(|hooks| hooks.registrations_of(agent)).unwrap_or_default();
            planned.extend(instance.into_iter().map(hook(Level::Instance)));
            let tables = class_tables().into_iter();
            let registered = tables.flat_map(|table| table.registry().registrations_of(agent));
            planned.extend(registered.map(hook(Level::Class)));
        }

        let methods = methods_of(class, type_name);
        // Stable: within a type and a level they are in order already.
        planned.sort_by_cached_key(|hook| {
            let method = hook.registration.hook_type.method();
            let place = methods.iter().position(|known| known.name == method);
            (place, method.to_owned(), hook.registration.hook_type.phase(), hook.level, hook.rank)
        });
        Self { agent: short_name(type_name).to_owned(), hooks: planned }
    }

    /// The name of the agent's type, without its path.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The hooks: by method, phase, level, and order in the level. The methods of traits come first, then
    /// those of the type, each in the order of the source; blocks in several modules by the name of the
    /// module.
    #[must_use]
    pub fn hooks(&self) -> &[PlannedHook] {
        &self.hooks
    }

    /// Returns the plan with more [warnings](Self::warnings) of single hooks, beside those that their
    /// [registrations](crate::HookOptions::warnings) have: for a library that knows what is wrong with a
    /// class hook on one instance. The texts are whole sentences that say what to change.
    ///
    /// ```
    /// use hooks_core::{Hookable, Hooks, hookable};
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
    /// let look = |_: &Greeter, _: &GreeterReplyArgs| {};
    /// Greeter::register_class_hook(Greeter::PRE_REPLY, "look", look);
    /// let plan = Greeter::default().hook_plan();
    /// let plan = plan.with_warnings(|_| vec!["nobody looks: name a viewer".to_owned()]);
    /// assert_eq!(plan.warnings()[0].to_string(), "`look`: nobody looks: name a viewer");
    /// ```
    #[must_use]
    pub fn with_warnings(mut self, warnings_of: impl Fn(&PlannedHook) -> Vec<String>) -> Self {
        for hook in &mut self.hooks {
            let more = warnings_of(hook);
            if !more.is_empty() {
                hook.warnings = hook.warnings.iter().cloned().chain(more).collect();
            }
        }
        self
    }
}

impl PlannedHook {
    /// Where in a call it runs.
    #[must_use]
    pub fn hook_type(&self) -> &HookType {
        &self.registration.hook_type
    }

    /// Where it is registered.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.registration.name
    }

    /// Its priority.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.registration.priority
    }

    /// What it does to a call, if its registration says so.
    #[must_use]
    pub fn role(&self) -> Option<HookRole> {
        self.registration.role
    }

    /// Whether it may answer in place of the call, or end it.
    #[must_use]
    pub fn may_answer(&self) -> bool {
        self.registration.may_answer
    }

    /// Where it stands by the names of others, if it asks for something.
    #[must_use]
    pub fn order(&self) -> Option<&HookOrder> {
        self.registration.order.as_deref()
    }

    /// What was [attached](crate::HookOptions::attach) to its registration.
    #[must_use]
    pub fn attachment(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.registration.attachment.as_ref()
    }

    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    pub(crate) fn own_warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The group that it belongs to.
    #[must_use]
    pub fn group(&self) -> Option<HookGroup> {
        self.registration.group
    }

    /// The source line that registered it, as `file:line`.
    #[must_use]
    pub fn registered_at(&self) -> String {
        format!("{}:{}", self.registration.source.file, self.registration.source.line)
    }
}

impl fmt::Display for HookPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hooks.is_empty() {
            return writeln!(f, "hooks of {}: none", self.agent);
        }
        let head = ["type", "level", "name", "priority", "order", "registered at"];
        let is_ordered = self.hooks.iter().any(|hook| hook.order().is_some());
        let rows = self.hooks.iter().map(|hook| {
            [
                hook.hook_type().to_string(),
                hook.level().to_string(),
                printable(hook.name()),
                hook.priority().to_string(),
                hook.order().map(|order| printable(&order.to_string())).unwrap_or_default(),
                hook.registered_at(),
            ]
        });
        let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths: [usize; 5] = std::array::from_fn(|column| width(column).unwrap_or(0));
        writeln!(f, "hooks of {}", self.agent)?;
        for [hook_type, level, name, priority, order, source] in &rows {
            let [w0, w1, w2, w3, w4] = widths;
            write!(f, "  {hook_type:w0$}  {level:w1$}  {name:w2$}  {priority:>w3$}  ")?;
            if is_ordered {
                write!(f, "{order:w4$}  ")?;
            }
            writeln!(f, "{source}")?;
        }
        Ok(())
    }
}
