//! The registration of a hook, whatever its type.

use std::any::Any;
use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::group::HookGroup;
use crate::hook_order::HookOrder;
use crate::hook_type::{HookType, Level};
use crate::registry::hooks::Hooks;
use crate::role::HookRole;

/// What a hook was registered with besides its code.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
pub(crate) struct Registration {
    pub(crate) hook_type: HookType,
    pub(crate) name: Arc<str>,
    pub(crate) group: Option<HookGroup>,
    pub(crate) priority: i32,
    /// Where it stands by the names of others; `None` if it asks for nothing.
    pub(crate) order: Option<Arc<HookOrder>>,
    pub(crate) role: Option<HookRole>,
    /// What the library that registered it keeps with it.
    pub(crate) attachment: Option<Attachment>,
    /// Whether it may answer in place of the body.
    pub(crate) may_answer: bool,
    /// What is wrong with it, whatever else runs.
    pub(crate) warnings: Arc<[String]>,
    pub(crate) source: Source,
    /// Of a hook that runs in nested calls too: how deep.
    pub(crate) max_depth: Option<usize>,
    /// Whether it changes nothing about the call, as who registered it says.
    pub(crate) looks_on: bool,
    /// Whether it has to be awaited.
    pub(crate) waits: bool,
    pub(crate) timeout: Option<Duration>,
    /// Of a hook that runs once.
    pub(crate) once: Option<Once>,
    /// Whether more has to be done than to call it.
    pub(crate) is_limited: bool,
}

/// What a library keeps with a hook.
pub(crate) type Attachment = Arc<dyn Any + Send + Sync>;

/// The one run of a hook.
#[derive(Debug)]
pub(crate) struct Once {
    is_spent: AtomicBool,
    /// Takes hooks that have run out of their registry.
    remove_spent: fn(Level, &Hooks),
}

/// Where a hook was registered.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file: Cow<'static, str>,
    pub(crate) line: u32,
}

impl From<&'static Location<'static>> for Source {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file().into(), line: location.line() }
    }
}

impl Registration {
    /// Takes the one run of a hook that runs once; says whether there was one.
    pub(crate) fn fire(&self) -> bool {
        self.once.as_ref().is_none_or(|once| !once.is_spent.swap(true, Ordering::AcqRel))
    }

    /// Its name, and where it stands by the names of others.
    pub(crate) fn named_order(&self) -> (&str, Option<&HookOrder>) {
        (&self.name, self.order.as_deref())
    }

    /// Whether the hook was to run once and has.
    pub(crate) fn is_spent(&self) -> bool {
        self.once.as_ref().is_some_and(|once| once.is_spent.load(Ordering::Acquire))
    }

    /// Takes a hook that was to run once, and has, out of its registry.
    pub(crate) fn remove_if_spent(&self, level: Level, hooks: &Hooks) {
        if let Some(once) = self.once.as_ref().filter(|_| self.is_spent()) {
            (once.remove_spent)(level, hooks);
        }
    }

    /// The same, counting for itself from here on.
    pub(crate) fn parted(&self) -> Self {
        let once = self.once.as_ref().map(|once| Once {
            is_spent: once.is_spent.load(Ordering::Acquire).into(),
            remove_spent: once.remove_spent,
        });
        Self {
            hook_type: self.hook_type.clone(),
            name: self.name.clone(),
            group: self.group,
            priority: self.priority,
            order: self.order.clone(),
            role: self.role,
            attachment: self.attachment.clone(),
            may_answer: self.may_answer,
            warnings: self.warnings.clone(),
            source: self.source.clone(),
            max_depth: self.max_depth,
            looks_on: self.looks_on,
            waits: self.waits,
            timeout: self.timeout,
            once,
            is_limited: self.is_limited,
        }
    }
}

impl Once {
    pub(crate) fn new(remove_spent: fn(Level, &Hooks)) -> Self {
        Self { is_spent: AtomicBool::new(false), remove_spent }
    }
}
