//! Hooks that are chosen when a call begins.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::plan::HooksVersion;
use hooks_core::{HookPlan, HookRole, Hookable};

use crate::agent::AgentExt;
use crate::call::{CallContext, CallOptions};
use crate::event::EventMask;
use crate::hook::{AgentHook, AroundMask, HookList, Scope, Site, warn_of_class};
use crate::react::agent::ReActAgent;

/// Chooses event hooks when a call begins, such as those of a file that may change.
///
/// Add it to the [builder](crate::react::ReActAgentBuilder::hook_source) of an agent. A call runs the
/// hooks that the source chose for it until it ends, whatever the source chooses for later calls. They
/// run in one order with the hooks of the agent, by their priority; of the same priority, after them.
/// They do not run where a method of the agent is called directly.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::sync::Arc;
///
/// use hooks_agent::prelude::*;
/// use hooks_agent::react::{HookSet, HookSource};
///
/// struct Switch {
///     is_on: AtomicBool,
///     hooks: HookSet,
/// }
///
/// impl HookSource for Switch {
///     fn hooks(&self, _: &CallContext) -> HookSet {
///         match self.is_on.load(Ordering::Relaxed) {
///             true => self.hooks.clone(),
///             false => HookSet::default(),
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
/// let hooks = HookSet::of(sign.named("sign"));
/// let switch = Arc::new(Switch { is_on: false.into(), hooks });
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook_source(switch.clone()).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done.");
/// switch.is_on.store(true, Ordering::Relaxed);
/// assert_eq!(agent.call("Go").await?.text(), "Done. - A.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait HookSource: Send + Sync + 'static {
    /// Returns the hooks of a call, when it begins: before its `PreCall`, and without its messages.
    ///
    /// It is called once for each call, so it should return a clone of a set that it keeps: the agent
    /// registers the hooks of a set once.
    fn hooks(&self, cx: &CallContext) -> HookSet;
}

impl<S: HookSource + ?Sized> HookSource for Arc<S> {
    fn hooks(&self, cx: &CallContext) -> HookSet {
        S::hooks(self, cx)
    }
}

/// Event hooks, in the order in which they were added. A clone shares them.
///
/// The [tools](AgentHook::tools) of its hooks are not added to agents: an agent has its tools when it
/// is built.
#[derive(Clone, Default)]
pub struct HookSet(Arc<HookList>);

impl HookSet {
    /// Creates a set of one hook.
    #[must_use]
    #[track_caller]
    pub fn of(hook: impl AgentHook) -> Self {
        let mut hooks = HookList::default();
        hooks.add(hook.__share());
        Self(Arc::new(hooks))
    }

    /// Creates a set of the hooks of several sets. A hook that is in several of them is in it once.
    #[must_use]
    pub fn join<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut hooks = HookList::default();
        for set in sets {
            hooks.join(&set.0);
        }
        Self(Arc::new(hooks))
    }

    /// Returns the hooks, registered at some of their events alone, and around some of their calls, by
    /// their [role](AgentHook::role): for a program in which not all of them happen.
    #[must_use]
    pub fn within(
        &self,
        events: impl Into<EventMask>,
        around: fn(Option<HookRole>) -> AroundMask,
    ) -> Self {
        Self(Arc::new(self.0.within(Scope { events: events.into(), around })))
    }

    /// Returns the same hooks, of which [plans](hooks_core::HookPlan) say that this line of a file
    /// registered them, counted from 1: for a source that reads files.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::react::HookSet;
    ///
    /// let hook = on(|event: &mut PreActing<'_>| event.refuse("no tools"));
    /// let set = HookSet::of(hook).registered_in("rules.toml", 7);
    /// # let _ = set;
    /// ```
    #[must_use]
    pub fn registered_in(&self, file: &str, line: u32) -> Self {
        Self(Arc::new(self.0.added_at(&Site::of_file(file, line))))
    }

    /// Returns the hooks that go on into agents that are tools, those that
    /// [inherit](crate::hook::AgentHook::inherit).
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::react::HookSet;
    ///
    /// let hook = on(|event: &mut PreActing<'_>| event.refuse("no tools"));
    /// assert!(HookSet::of(hook).inherited().is_empty());
    /// ```
    #[must_use]
    pub fn inherited(&self) -> Self {
        Self(Arc::new(self.0.heritable()))
    }

    /// Returns whether this holds for one of the hooks that do not run in shadow, by its role, its events and the calls
    /// that it runs around.
    ///
    /// ```
    /// use hooks_agent::event::EventMask;
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::react::HookSet;
    ///
    /// let hook = on(|event: &mut PreActing<'_>| event.refuse("no tools"));
    /// assert!(HookSet::of(hook).any(|_, events, _| events != EventMask::NONE));
    /// ```
    pub fn any(&self, is: impl FnMut(Option<HookRole>, EventMask, AroundMask) -> bool) -> bool {
        self.0.any(is)
    }

    /// Returns whether there are no hooks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The sources of an agent.
pub(super) type HookSources = Vec<Arc<dyn HookSource>>;

/// The agent with the hooks that its sources last chose.
#[derive(Default)]
pub(super) struct Chosen(Mutex<Option<Arc<Kept>>>);

struct Kept {
    /// The hooks of the agent itself.
    version: HooksVersion,
    chosen: HookList,
    agent: Arc<ReActAgent>,
}

impl ReActAgent {
    /// Returns this agent with the hooks that its sources choose for a call, if there are any.
    pub(super) fn with_chosen_hooks(&self, cx: &CallContext) -> Option<Arc<Self>> {
        let sources = &self.core.sources;
        if sources.is_empty() {
            return None;
        }
        let mut chosen = HookList::default();
        for source in sources {
            chosen.join(&source.hooks(cx).0);
        }
        if chosen.is_empty() {
            return None;
        }
        let version = self.hooks_version();
        let kept = self.chosen.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kept) = kept.filter(|it| it.version == version && it.chosen.is_same(&chosen)) {
            return Some(kept.agent.clone());
        }
        let agent = self.fork();
        agent.event_hooks.add(&agent, &chosen);
        let agent = Arc::new(agent);
        let kept = Arc::new(Kept { version, chosen, agent: agent.clone() });
        let before = {
            let mut last = self.chosen.0.lock().unwrap_or_else(PoisonError::into_inner);
            last.replace(kept)
        };
        // Without the lock: a hook may use this agent when it is dropped.
        drop(before);
        Some(agent)
    }

    /// Returns what runs at every hook type of a call that begins now, in order; it prints as a table.
    /// The hooks that a [`HookSource`] chooses are in it, and its warnings are those of this agent also for
    /// hooks of all agents of a type.
    #[must_use]
    pub fn hook_plan(&self) -> HookPlan {
        let chosen = self.with_chosen_hooks(&self.context(CallOptions::new()));
        let agent = chosen.as_deref().unwrap_or(self);
        agent.warn_of_missing(warn_of_class(Hookable::hook_plan(agent), self))
    }
}

impl fmt::Debug for HookSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookSet").field(&self.0).finish()
    }
}
