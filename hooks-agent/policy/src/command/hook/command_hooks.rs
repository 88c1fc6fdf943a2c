//! The hook.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{
    AgentHook, AroundMask, Compression, NextCompression, NextPermission, NextTool, PermissionCheck,
    ToolCall, priority,
};
use hooks_agent_core::message::{Messages, ToolResult};
use hooks_agent_core::tool::{Permission, ToolError};
use hooks_core::{HookResult, HookRole};

use crate::command::contract::{CommandEvent, Input};
use crate::command::decide::{Combined, Stop};
use crate::command::hook::commands::{Commands, Occasion};
use crate::command::hook::sessions::Sessions;
use crate::command::hook::state::CallState;

/// Runs programs at the events of calls: they read JSON and refuse, rewrite or add by an exit code
/// and JSON. Programs and settings that were written for coding agents keep their meaning. A server, a tool or
/// a model may be asked in place of a program.
///
/// [The guide] has the events, the exit codes, the JSON, and what this
/// protects from. Matching commands of an event run at once, and their answers are combined in
/// configured order. A command that fails blocks its event, unless its entry says
/// [`OnFailure::Continue`].
///
/// Its priority is [`priority::AUTH`]: after hooks that redact, before limits and hooks that add
/// arguments. It is inherited by sub-agents and runs in nested calls. Clones are the same hook.
///
/// It requires a Tokio runtime with IO and time; without a runtime, every command fails. Dropping a
/// call ends its commands: TERM to their process groups at once, KILL after two seconds; requests are cancelled.
///
/// [`OnFailure::Continue`]: crate::command::OnFailure::Continue
///
/// ```
/// use hooks_agent::command::{CommandEntry, CommandEvent, CommandHooks};
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let guard = "grep -q '\"path\":\"/home/' || { echo 'only files of /home' >&2; exit 2; }";
/// let hooks = CommandHooks::builder(std::env::temp_dir())
///     .entry(CommandEntry::shell(CommandEvent::PreToolUse, guard).matcher("read"))
///     .open()?;
/// let read = FunctionTool::new("read", "Reads a file.", async |_: Value| "text");
/// // `model` calls the tool with another path and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({ "path": "/etc/hosts" })).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(hooks).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "only files of /home");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/command/index.html
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct CommandHooks {
    host: Arc<Host>,
}

/// What the clones share.
pub(super) struct Host {
    commands: Arc<Commands>,
    dir: PathBuf,
    sessions: Sessions,
    has_ended: AtomicBool,
}

impl CommandHooks {
    /// Returns whether a command can block something.
    fn can_block(&self) -> bool {
        self.host.commands.events().any(CommandEvent::can_block)
    }

    pub(super) fn new(commands: Commands, dir: PathBuf) -> Self {
        let (sessions, has_ended) = (Sessions::default(), AtomicBool::new(false));
        Self { host: Arc::new(Host { commands: Arc::new(commands), dir, sessions, has_ended }) }
    }

    /// Returns what runs: the event and the name of each command, in configured order.
    ///
    /// ```
    /// use hooks_agent::command::{CommandEntry, CommandEvent, CommandHooks};
    ///
    /// let check = CommandEntry::exec("PreToolUse", ["/bin/true"]).named("check");
    /// let hooks = CommandHooks::builder(std::env::temp_dir()).entry(check).open()?;
    /// assert_eq!(hooks.commands().collect::<Vec<_>>(), [(CommandEvent::PreToolUse, "check")]);
    /// # Ok::<(), hooks_agent::command::CommandHooksError>(())
    /// ```
    pub fn commands(&self) -> impl Iterator<Item = (CommandEvent, &str)> {
        self.host.commands.named()
    }

    /// Runs the commands of `SessionEnd` and waits for them. Dropping the last clone starts them,
    /// and they run only while the runtime does. They are run once.
    pub async fn close(&self) {
        self.host.run_session_end().await;
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn sessions(&self) -> &Sessions {
        &self.host.sessions
    }

    pub(super) fn listens(&self, event: CommandEvent) -> bool {
        self.host.commands.listen_to(event)
    }

    /// Runs the commands of the occasion. Their warnings are in the stream of the call.
    pub(super) async fn run(
        &self,
        cx: &CallContext,
        occasion: Occasion<'_>,
        input: Input,
    ) -> Combined {
        let combined = self.host.commands.run(cx, occasion, self.host.placed(input)).await;
        for warning in &combined.warnings {
            cx.warn(warning);
        }
        combined
    }

    /// Returns what the hook keeps of the call.
    pub(super) fn state(&self, cx: &CallContext) -> Arc<CallState> {
        cx.hook_state(Arc::as_ptr(&self.host).addr())
    }

    /// Notes that a command ends the call, and why, for the reply.
    pub(super) fn note_stop(&self, cx: &CallContext, stop: Stop) {
        let Stop { hook, reason } = &stop;
        let reason = reason.as_deref().unwrap_or_default();
        tracing::warn!(target: "hooks_agent::command", hook, reason, "a command ends the call");
        self.state(cx).lock().stop.get_or_insert(stop);
    }
}

impl Host {
    pub(super) fn commands(&self) -> &Arc<Commands> {
        &self.commands
    }

    /// Adds the directory of the project.
    pub(super) fn placed(&self, mut input: Input) -> Input {
        input.cwd = self.dir.to_string_lossy().into_owned();
        input
    }

    /// Returns whether the commands of `SessionEnd` are still to run.
    pub(super) fn end(&self) -> bool {
        !self.has_ended.swap(true, Ordering::Relaxed)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.start_session_end();
    }
}

/// Returns the events of calls that the commands of an event need: its own, and those at which a
/// decision takes effect.
fn events_of(event: CommandEvent) -> EventMask {
    use CommandEvent as C;
    use EventKind::{
        PostActing, PostCall, PostReasoning, PreActing, PreCall, PreReasoning, Settled,
    };
    match event {
        C::SessionStart | C::UserPromptSubmit | C::SubagentStart => {
            EventMask::of(&[PreCall, PostCall])
        }
        C::PreToolUse
        | C::PermissionRequest
        | C::PostToolUse
        | C::PostToolUseFailure
        | C::Own(PreActing) => EventMask::of(&[PreActing, PostActing, PostCall]),
        C::Stop | C::SubagentStop => EventMask::of(&[PostReasoning, PostCall]),
        C::PreCompact => EventMask::of(&[PreReasoning, PostCall]),
        C::PostCompact => EventMask::NONE,
        // An agent keeps no hook that receives nothing, and the session would end at once.
        C::Notification | C::StopFailure | C::SessionEnd => Settled.into(),
        C::Own(kind) if event.can_block() => EventMask::of(&[kind, PostCall]),
        C::Own(kind) => kind.into(),
    }
}

/// Returns the calls that the commands of an event run around.
fn around_of(event: CommandEvent) -> AroundMask {
    use CommandEvent as C;
    match event {
        C::PreToolUse | C::Own(EventKind::PreActing) => AroundMask::PERMISSION_CHECK,
        C::PermissionRequest => AroundMask::PERMISSION_CHECK | AroundMask::TOOL_CALL,
        C::PostToolUse | C::PostToolUseFailure | C::Own(EventKind::PostActing) => {
            AroundMask::TOOL_CALL
        }
        C::PreCompact | C::PostCompact => AroundMask::COMPRESSION,
        _ => AroundMask::NONE,
    }
}

impl AgentHook for CommandHooks {
    fn priority(&self) -> i32 {
        priority::AUTH
    }

    fn events(&self) -> EventMask {
        let events = self.host.commands.events();
        events.fold(EventMask::NONE, |mask, event| mask | events_of(event))
    }

    fn sync_events(&self) -> EventMask {
        self.events() & EventKind::Settled.into()
    }

    fn around(&self) -> AroundMask {
        let events = self.host.commands.events();
        events.fold(AroundMask::NONE, |mask, event| mask | around_of(event))
    }

    fn answers(&self) -> EventMask {
        if self.can_block() { self.events() } else { EventMask::NONE }
    }

    fn answers_around(&self) -> AroundMask {
        if self.can_block() { self.around() } else { AroundMask::NONE }
    }

    fn inherit(&self) -> bool {
        true
    }

    fn always(&self) -> bool {
        true
    }

    fn tool_names(&self) -> Vec<String> {
        self.host.commands.tools()
    }

    fn role(&self) -> Option<HookRole> {
        Some(if self.can_block() { HookRole::Redacts } else { HookRole::Observes })
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let kind = event.kind();
        match event {
            HookEvent::PreCall(event) => return Ok(self.pre_call(event).await),
            HookEvent::PostCall(event) => return self.post_call(event).await,
            HookEvent::PreReasoning(event) => return Ok(self.pre_reasoning(event).await),
            HookEvent::PostReasoning(event) => return self.post_reasoning(event).await,
            HookEvent::PreActing(event) => return Ok(self.pre_acting(event).await),
            HookEvent::PostActing(event) => return self.post_acting(event).await,
            HookEvent::PreSummary(event) => return Ok(self.pre_summary(event).await),
            HookEvent::PostSummary(event) => return self.post_summary(event).await,
            HookEvent::ReasoningChunk(event) => {
                self.text_chunk(kind, event.context(), event.incremental()).await;
            }
            HookEvent::SummaryChunk(event) => {
                self.text_chunk(kind, event.context(), event.incremental()).await;
            }
            HookEvent::ActingChunk(event) => {
                self.tool_chunk(event.context(), event.tool_use(), event.chunk()).await;
            }
            HookEvent::Error(event) => self.error(event).await,
            HookEvent::Settled(event) => self.settled(event),
            _ => return Err(format!("command hooks do not know the event {kind}").into()),
        }
        Ok(Flow::Continue)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let HookEvent::Settled(event) = event {
            self.settled(event);
        }
        Ok(Flow::Continue)
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.around_tool(call, next).await
    }

    async fn around_permission_check(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        self.around_permission(check, next).await
    }

    async fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        self.around_compressing(compression, next).await
    }
}

impl fmt::Debug for CommandHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandHooks")
            .field("commands", &self.host.commands)
            .field("project_dir", &self.host.dir)
            .finish()
    }
}
