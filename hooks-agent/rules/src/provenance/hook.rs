//! The hook that traces where the arguments of tool calls came from.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, Door, Foreign, ForeignGuard};
use hooks_agent_core::error::TextBlocked;
use hooks_agent_core::event::{Flow, PostReasoning, PreActing, PreCall};
use hooks_agent_core::hook::{NextTool, ToolCall, priority};
use hooks_agent_core::message::{Role, ToolResult, ToolUse};
use hooks_agent_core::options::Globs;
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookResult, HookRole};

use crate::provenance::doubt::Doubt;
use crate::provenance::kept::{call_digest, note_gone, note_said, texts};
use crate::provenance::labels::{Labels, Sink};
use crate::provenance::settings::{Handles, Settings};
use crate::provenance::sources::{Cleared, OfCall, Sources, lock};
use crate::provenance::trace::Trace;
use crate::rule::check_globs;

#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Provenance {
    inner: Arc<Inner>,
}

/// What clones share.
#[derive(Clone, Default)]
struct Inner {
    labels: Labels,
    settings: Settings,
    refuses: bool,
}

/// Why a guard cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct ProvenanceError {
    /// The place of the glob among those that it stands with.
    pub index: usize,
    /// What is wrong with it.
    pub why: String,
}

/// What was found of a tool call.
enum Traced {
    /// It may run; these are the addresses to which it goes.
    Fine(Vec<String>),
    Doubtful(String),
}

impl Default for Provenance {
    fn default() -> Self {
        Self::new()
    }
}

impl Provenance {
    /// Creates a guard that knows no tools.
    pub fn new() -> Self {
        Self { inner: Arc::default() }
    }

    /// Names the tools whose results others write, by globs of their names.
    ///
    /// # Errors
    /// [`ProvenanceError`] for a text that is no glob.
    pub fn untrusted(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, ProvenanceError> {
        self.inner_mut().labels.untrusted = globs(tools)?;
        Ok(self)
    }

    /// Names the tools whose results nobody else writes, and which change nothing, by globs of their names.
    ///
    /// # Errors
    /// [`ProvenanceError`] for a text that is no glob.
    pub fn trusted(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, ProvenanceError> {
        self.inner_mut().labels.trusted = globs(tools)?;
        Ok(self)
    }

    /// Adds a tool that changes something, or tools by a glob; of several that match, the first one counts. What such
    /// a tool returns is trusted, unless it is [untrusted](Self::untrusted) too.
    ///
    /// # Errors
    /// [`ProvenanceError`] for a text that is no glob.
    pub fn sink(mut self, tool: impl Into<String>, sink: Sink) -> Result<Self, ProvenanceError> {
        if let Some(globs) = globs([tool])? {
            self.inner_mut().labels.sinks.push((globs, sink));
        }
        Ok(self)
    }

    /// Sets which values of records may be destinations.
    pub fn handles(mut self, handles: Handles) -> Self {
        self.inner_mut().settings.handles = handles;
        self
    }

    /// Sets whether what the user named may bring destinations. The default is yes.
    pub fn named_sources(mut self, may_bring: bool) -> Self {
        self.inner_mut().settings.named_sources = may_bring;
        self
    }

    /// Sets whether links in what the user named may be opened. The default is yes.
    pub fn named_links(mut self, may_open: bool) -> Self {
        self.inner_mut().settings.named_links = may_open;
        self
    }

    /// Sets whether addresses in contents are traced. The default is yes.
    pub fn links(mut self, are_traced: bool) -> Self {
        self.inner_mut().settings.links = are_traced;
        self
    }

    /// Sets whether calls are asked about of which the user did not speak, and texts of others do. The default is yes.
    pub fn unasked(mut self, are_asked: bool) -> Self {
        self.inner_mut().settings.unasked = are_asked;
        self
    }

    /// Sets the most text that is looked through, in bytes; over it, every destination is asked about that the user
    /// did not write. The default is 16 MiB.
    pub fn max_read(mut self, bytes: usize) -> Self {
        self.inner_mut().settings.max_read = bytes;
        self
    }

    /// Refuses a tool call instead of asking. A confirmation does not let it run.
    pub fn refuse(mut self) -> Self {
        self.inner_mut().refuses = true;
        self
    }

    fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    fn state(&self, cx: &CallContext) -> Arc<OfCall> {
        cx.hook_state(Arc::as_ptr(&self.inner).addr())
    }

    fn sink_of(&self, agent: &dyn Agent, call: &ToolUse) -> Option<&Sink> {
        let effect = agent.find_tool(&call.name).map(|tool| tool.effect());
        self.inner.labels.sink(&call.name, effect).filter(|_| call.invalid_input.is_none())
    }

    /// Returns what entered a call. If tool calls run already, what they return is left out.
    fn sources(&self, agent: &dyn Agent, cx: &CallContext, runs: bool) -> Result<Sources, String> {
        Sources::of(agent, cx, runs, &self.inner.labels, |cx| self.state(cx))
            .map_err(|error| format!("where its arguments came from is not known: {error}"))
    }

    /// Traces the tool call that starts, if it is another one than the one that may run.
    fn check(&self, cx: &CallContext, running: &ToolUse) -> Result<(), String> {
        let state = self.state(cx);
        let cleared = lock(&state.cleared).get(&running.id).cloned();
        if cleared.as_ref().is_some_and(|cleared| cleared.call == call_digest(running)) {
            return Ok(());
        }
        let Some(sink) = self.inner.labels.sink(&running.name, None) else { return Ok(()) };
        let Some(sources) = cleared.and_then(|cleared| cleared.sources) else {
            return Err(format!(
                "`{}` changes something, and its arguments were not traced",
                running.name
            ));
        };
        match self.traced(&sources, sink, running) {
            Traced::Fine(_) => Ok(()),
            Traced::Doubtful(why) => Err(format!("nobody was asked about this call: {why}")),
        }
    }

    fn traced(&self, sources: &Sources, sink: &Sink, call: &ToolUse) -> Traced {
        let trace = Trace::new(sources, &self.inner.settings, sink, call);
        let doubts = trace.doubts();
        if doubts.is_empty() {
            Traced::Fine(trace.addresses())
        } else {
            Traced::Doubtful(reason(call, &doubts))
        }
    }
}

fn reason(call: &ToolUse, doubts: &[Doubt]) -> String {
    let doubts: Vec<_> = doubts.iter().map(ToString::to_string).collect();
    format!("`{}` changes something: {}", call.name, doubts.join("; "))
}

fn globs(
    tools: impl IntoIterator<Item = impl Into<String>>,
) -> Result<Option<Globs>, ProvenanceError> {
    let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
    if tools.is_empty() {
        return Ok(None);
    }
    let with_server = tools.iter().position(|it| it.contains("::"));
    if let Some(index) = with_server {
        let why = "expected a glob of names: a result does not tell its server".to_owned();
        return Err(ProvenanceError { index, why });
    }
    check_globs(&tools).map(Some).map_err(|(index, why)| ProvenanceError { index, why })
}

#[agent_hook(
    priority = priority::AUTH + 12,
    role = HookRole::Guards,
    inherit,
    always,
    foreign_guard = |hook: &Self| Some(Arc::new(hook.clone()))
)]
impl Provenance {
    /// Notes what the user says.
    fn pre_call(&self, event: &PreCall<'_>) -> HookResult {
        let cx = event.context();
        if cx.parent().is_none() {
            let of_user = event.messages().iter().filter(|msg| msg.role == Role::User);
            note_said(cx, of_user.flat_map(texts))?;
        }
        Ok(())
    }

    /// Says now what it would ask about later, if people are asked now anyway.
    fn post_reasoning(&self, event: &PostReasoning<'_>) -> HookResult<Flow> {
        if self.inner.refuses {
            return Ok(Flow::Continue);
        }
        let (agent, cx) = (event.agent(), event.context());
        let calls = event.message().tool_uses();
        let sinks: Vec<_> =
            calls.filter_map(|call| Some((call, self.sink_of(agent, call)?))).collect();
        if sinks.is_empty() {
            return Ok(Flow::Continue);
        }
        // What is not known is refused before it runs.
        let Ok(sources) = self.sources(agent, cx, false) else { return Ok(Flow::Continue) };
        let doubtful =
            sinks.into_iter().filter_map(|(call, sink)| match self.traced(&sources, sink, call) {
                Traced::Doubtful(why) => Some((call.id.clone(), why)),
                _ => None,
            });
        Ok(event.join(doubtful)?)
    }

    fn pre_acting(&self, event: &PreActing<'_>) -> HookResult<Flow> {
        let (agent, cx, call) = (event.agent(), event.context(), event.tool_use());
        let sources = match self.sink_of(agent, call) {
            None => None,
            Some(sink) => {
                let sources = match self.sources(agent, cx, true) {
                    Ok(sources) => Arc::new(sources),
                    Err(why) => return Ok(event.refuse(why)),
                };
                match self.traced(&sources, sink, call) {
                    Traced::Fine(addresses) => note_gone(cx, addresses.into_iter())?,
                    Traced::Doubtful(why) if self.inner.refuses => return Ok(event.refuse(why)),
                    Traced::Doubtful(why) if event.is_answered(&why) => {}
                    Traced::Doubtful(why) => return Ok(event.ask(why)),
                }
                Some(sources)
            }
        };
        let cleared = Cleared { call: call_digest(call), sources };
        lock(&self.state(cx).cleared).insert(call.id.clone(), cleared);
        Ok(Flow::Continue)
    }

    /// Traces the tool call that runs, if a hook made another one of it.
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (hook, cx) = (self.clone(), call.context().clone());
        let check = move |running: &ToolUse| hook.check(&cx, running);
        next.run_checked(call.into_tool_use(), check).await
    }
}

impl ForeignGuard for Provenance {
    fn screen(&self, cx: &CallContext, foreign: &mut Foreign<'_>) -> Result<(), TextBlocked> {
        let text = foreign.content.as_str();
        match foreign.door {
            Door::Steering => note_said(cx, [text].into_iter())
                .map_err(|error| TextBlocked::new(error.to_string()))?,
            // They are of the operator or of a person, or become messages.
            Door::Rejection
            | Door::Edit
            | Door::Response
            | Door::ToolResult
            | Door::CallerResult => {}
            _ => self.state(cx).add_foreign(foreign.tool, text),
        }
        Ok(())
    }
}

impl fmt::Debug for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provenance")
            .field("labels", &self.inner.labels)
            .field("settings", &self.inner.settings)
            .field("refuses", &self.inner.refuses)
            .finish()
    }
}
