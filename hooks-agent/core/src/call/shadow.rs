//! The context of a call as a hook in shadow sees it: what it changes there reaches nobody.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::call::context::{Call, CallContext};
use crate::call::marks::Marks;
use crate::call::owner::HookOwner;
use crate::call::resumed::Resumed;
use crate::call::state::State;
use crate::call::tool::CheckedCall;
use crate::call::values::Values;
use crate::memory::Memory;
use crate::message::{Messages, Msg, ToolUse};
use crate::store::Ledger;
use crate::usage::Usage;

/// What a call has at an event, for a hook in shadow.
pub(crate) struct Snapshot {
    messages: Option<Messages>,
    user: Option<Arc<str>>,
    system: Option<Arc<Msg>>,
    usage: Usage,
    values: Values,
    resumed: Option<Resumed>,
    is_interrupted: bool,
}

/// The values of a call that a hook in shadow has stored, which are its own.
#[derive(Default)]
pub(crate) struct OwnValues {
    own: Values,
    /// Those of the call that it has removed.
    removed: Values,
    /// Those that the call had last, and all that the hook found then.
    of_call: Values,
    followed: Values,
}

impl OwnValues {
    /// Notes what the hook has changed, and returns what it finds next: `values` of the call, with its changes.
    fn follow(&mut self, now: &Values, values: &Values) -> Values {
        let changed = now.changes_since(&self.followed);
        let gone = self.followed.without_keys_of(now);
        self.own = std::mem::take(&mut self.own).without_keys_of(&gone).with(&changed);
        let kept = self.of_call.without_keys_of(&gone);
        self.removed = std::mem::take(&mut self.removed).with(&self.of_call.without_keys_of(&kept));
        // What the call has anew, the hook finds anew.
        self.of_call = values.clone();
        self.followed = values.changes_since(&self.removed).with(&self.own);
        self.followed.clone()
    }
}

impl CallContext {
    /// Returns what the call has now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let memory = self.begun_memory();
        let state = self.state();
        let is_resuming = self.call.marks.is_resuming.is_set();
        Snapshot {
            messages: memory.as_ref().map(|memory| memory.messages()),
            user: memory.and_then(|memory| memory.user()),
            system: state.system.clone(),
            usage: state.usage,
            values: state.values.clone(),
            resumed: is_resuming.then(|| state.resumed.clone()),
            is_interrupted: self.call.interrupt.is_set(),
        }
    }

    /// Creates the context of this call for a hook in shadow, with a memory, a ledger and a context of the
    /// caller of its own. It has no stream, no store, and nobody who watches but those of this call.
    pub(crate) fn in_shadow(
        &self,
        parent: Option<CallContext>,
        memory: Arc<Memory>,
        ledger: Arc<Ledger>,
    ) -> Self {
        let Call { run, agent_id, agent_name, thread, confirms, through, user, .. } = &*self.call;
        let watchers = OnceLock::new();
        if let Some(of_call) = self.call.watchers.get() {
            let _ = watchers.set(of_call.clone());
        }
        let call = Call {
            run: *run,
            agent_id: agent_id.clone(),
            agent_name: agent_name.clone(),
            thread: thread.clone(),
            parent,
            interrupt: self.call.interrupt.of_shadow(),
            confirms: confirms.clone(),
            queue_timeout: self.call.queue_timeout,
            through: through.clone(),
            threads: None,
            ledger: Some(ledger),
            verdicts: self.call.verdicts.clone(),
            user: user.clone(),
            identity: self.call.identity.clone(),
            takes_over: self.call.takes_over,
            mode: self.call.mode.clone(),
            shutdown: CancellationToken::new(),
            kept: OnceLock::new(),
            watchers,
            foreign_guards: OnceLock::new(),
            asked: AtomicU64::new(0),
            max_iters: AtomicUsize::new(self.call.max_iters.load(Ordering::Relaxed)),
            shadow_of: Some(Arc::downgrade(&self.call)),
            marks: Marks::default(),
            state: Mutex::new(State { memory: Some(memory), ..State::default() }),
        };
        Self { call: Arc::new(call), events: None, checked: None, owner: None }
    }

    /// Returns the context of the call itself, of the one of a hook in shadow, while there is one.
    pub(crate) fn out_of_shadow(&self) -> Option<Self> {
        let call = self.call.shadow_of.as_ref()?.upgrade()?;
        Some(Self { call, events: None, checked: None, owner: None })
    }

    /// Brings the context of a hook in shadow up to what the call had. Values that the hook has stored stay.
    pub(crate) fn follow(&self, snapshot: Snapshot, values_of_hook: &mut OwnValues) {
        let Snapshot { messages, user, system, usage, values, resumed, is_interrupted } = snapshot;
        if is_interrupted {
            self.interrupt();
        }
        self.set_system(system);
        self.set_resumed(resumed.unwrap_or_default());
        let memory = {
            let mut state = self.state();
            let values = values_of_hook.follow(&state.values, &values);
            (state.usage, state.values) = (usage, values);
            state.memory.clone()
        };
        if let (Some(memory), Some(messages)) = (memory, messages) {
            memory.replace(messages);
            memory.set_user(user);
        }
    }

    /// Returns the same context for a tool call of this number and key.
    pub(crate) fn shadow_of_tool(
        &self,
        call: &Arc<ToolUse>,
        number: u64,
        key: Option<Arc<str>>,
    ) -> Self {
        let checked = CheckedCall::new(call.id.as_str().into(), call.clone(), number, key);
        self.of_checked(&Arc::new(checked))
    }

    /// Returns the context for a hook of this owner, if another agent has the hook.
    pub(crate) fn owned(&self, owner: Option<&Arc<HookOwner>>) -> Self {
        owner.map_or_else(|| self.clone(), |owner| self.owned_by(owner))
    }
}
