//! The hook that asks interceptors.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent_hooks::{
    AgentContext, ApprovalResolver, DeclarationError, EnforcementMode, HostDeclaration,
    HostRegistry, InterceptionPoint, Interceptor, ResolvedDeclaration,
};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{
    AgentCall, HookPart, ModelAttempt, NextAttempt, NextCall, NextTool, PlanCheck, ToolCall,
};
use hooks_agent_core::message::{Msg, ToolResult};
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::ToolError;
use hooks_core::HookRole;

use crate::host::identity::Identity;
use crate::host::order;
use crate::host::people::AskPeople;
use crate::host::profile::Profile;
use crate::host::session::{Session, SessionOfCall};
use crate::host::source::{InCode, Registered, Source};
use crate::records::RecordSink;

/// How many bytes a target may have, unless told otherwise: what the specification recommends.
const MOST_BYTES: usize = 5 * 1024 * 1024;

/// Asks the interceptors of AGENT-HOOKS-0.1 at each point of a call, and does what their verdicts say: policy engines,
/// filters and approval gateways of others decide what an agent does, without a change to either.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new): how verdicts become one; [`add`](Self::add), [`add_at`](Self::add_at): the interceptors | without any, everything is denied |
/// | [`from_declaration`](Self::from_declaration): all of it by a declaration | |
/// | [`evaluate_only`](Self::evaluate_only): verdicts are recorded, and nothing follows | `false` |
/// | [`output`](Self::output): when text reaches the caller | [`Output::Buffered`] |
/// | [`ask_people`](Self::ask_people), or [`resolver`](Self::resolver) with [`redact`](Self::redact): who approves, and what they see | a deny stands |
/// | [`identity`](Self::identity): what tells contexts apart | [`Identity::JcsSha256`] |
/// | [`records`](Self::records): where records go | nowhere |
/// | [`time_limit`](Self::time_limit): of each interceptor | 5 seconds |
/// | [`most_bytes`](Self::most_bytes): of a target | 5 MiB |
///
/// A session is one call, with the id of the call in `extensions.hooks.run`. Sub-agents have the hook too: each of their
/// calls is a session of its own, with the call that it is part of in `extensions.hooks.parent`. The hook needs a runtime of tokio: a call without one fails.
///
/// # Errors
/// A block at the start, the input, a model call or the output fails the call, with [`Blocked`](crate::Blocked) as its
/// cause. The model reads what was blocked at a tool, and goes on. An interceptor that fails denies. A method of the
/// agent that is called by itself, outside of a call, has no session: it is denied, as `host_error:adapter_unsupported`.
///
/// ```
/// use hooks_agent::interceptors::agent_hooks::Verdict;
/// use hooks_agent::interceptors::{Blocked, Interceptors, Profile, intercept};
/// use hooks_agent::prelude::*;
///
/// let secrets = intercept(|context| match context["target"].to_string().contains("secret") {
///     true => Verdict::deny(Some("secrets".to_owned()), None),
///     false => Verdict::allow(),
/// });
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let interceptors = Interceptors::new(Profile::default()).add("secrets", secrets);
/// let model = ScriptedModel::new("fixed", |_| "The secret is 42.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(interceptors).build()?;
/// let error = agent.call("Tell me").await.unwrap_err();
/// let blocked = Blocked::find(&error).unwrap();
/// assert_eq!(blocked.to_string(), "interceptor `secrets` blocked `post_model_call`: secrets");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct Interceptors {
    host: Arc<Host>,
}

/// What a session needs of the hook.
pub(super) struct Host {
    pub(super) source: Source,
    pub(super) sinks: Vec<Arc<dyn RecordSink>>,
    pub(super) most_bytes: usize,
    pub(super) output: Output,
    pub(super) people: Option<AskPeople>,
    /// The host itself, for those who watch hooks.
    pub(super) part: HookPart,
}

/// When text of an agent reaches the caller: its stream, and the partial message of a call that is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// The reply, after the verdict at `output`. Text beside tool calls is not in the stream.
    #[default]
    Buffered,
    /// Text as the model writes it, each segment after a verdict at `post_model_call` over all text up to its end. A
    /// deny at `output` takes nothing back that was sent.
    Incremental {
        /// Where a segment ends.
        segment: Segment,
    },
}

/// Where a segment of a streamed answer ends. Each one is asked about with all text before it, so that short segments
/// of a long answer cost much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// At the end of each chunk.
    Chunk,
    /// At the end of a chunk in which a line ends, or where the segment has this many bytes.
    Line {
        /// The bytes.
        most: usize,
    },
}

impl Default for Segment {
    fn default() -> Self {
        Self::Line { most: 1024 }
    }
}

impl Output {
    /// Text as the model writes it, in segments that end with a chunk in which a line ends, or at a kilobyte.
    #[must_use]
    pub fn incremental() -> Self {
        Self::Incremental { segment: Segment::default() }
    }
}

impl Interceptors {
    /// Outside of all hooks around tool calls, so that a call has one pair of points however often it is tried.
    pub const PRIORITY: i32 = 0;

    /// Asks interceptors that are added, whose verdicts become one in this way.
    #[must_use]
    pub fn new(profile: impl Into<Profile>) -> Self {
        Self::of(Source::in_code(profile.into()), Output::Buffered)
    }

    /// Does what a declaration document says: profile, interceptors, approvals, identity, time limits. What it names
    /// is in the registry, whose [surface](crate::surface) says what the agent can do. A declaration whose surface is
    /// not buffered makes the output [incremental](Output::incremental).
    ///
    /// A kind is asked for each emitter, of which there are as many as points that are reached at once: what must be
    /// counted once belongs behind an [`Arc`] of the kind.
    ///
    /// # Errors
    /// What is wrong with the document, by its place.
    pub fn from_declaration(
        path: impl AsRef<Path>,
        registry: HostRegistry,
    ) -> Result<Self, DeclarationError> {
        Self::declared(HostDeclaration::from_path(path)?, registry)
    }

    /// The same of a declaration that has been read. What it says cannot be set otherwise afterwards: the setting
    /// panics.
    ///
    /// # Errors
    /// The same.
    pub fn declared(
        declaration: HostDeclaration,
        registry: HostRegistry,
    ) -> Result<Self, DeclarationError> {
        let source = Source::declared(declaration, Arc::new(registry))?;
        let is_buffered = source.resolved().is_none_or(|it| it.surface.buffered_output);
        let output = if is_buffered { Output::Buffered } else { Output::incremental() };
        Ok(Self::of(source, output))
    }

    fn of(source: Source, output: Output) -> Self {
        let host = Host {
            source,
            sinks: Vec::new(),
            most_bytes: MOST_BYTES,
            output,
            people: None,
            part: HookPart::of_role("interceptors", Some(HookRole::Redacts)),
        };
        Self { host: Arc::new(host) }
    }

    /// Adds an interceptor that is asked at each point, after those before it. The name is in records and errors.
    #[must_use]
    pub fn add(self, name: impl Into<Arc<str>>, interceptor: impl Interceptor + 'static) -> Self {
        self.registered(name.into(), Arc::new(interceptor), None)
    }

    /// Adds an interceptor that is asked at these points. A point at which nobody is asked is denied.
    #[must_use]
    pub fn add_at(
        self,
        points: impl IntoIterator<Item = InterceptionPoint>,
        name: impl Into<Arc<str>>,
        interceptor: impl Interceptor + 'static,
    ) -> Self {
        let points = points.into_iter().collect();
        self.registered(name.into(), Arc::new(interceptor), Some(points))
    }

    fn registered(
        self,
        name: Arc<str>,
        interceptor: Arc<dyn Interceptor>,
        at: Option<BTreeSet<InterceptionPoint>>,
    ) -> Self {
        self.in_code("add", |code| code.interceptors.push(Registered { name, interceptor, at }))
    }

    /// Sets whether verdicts are recorded and nothing follows: what would have been denied is in the records.
    #[must_use]
    pub fn evaluate_only(self, is_on: bool) -> Self {
        let mode = if is_on { EnforcementMode::EvaluateOnly } else { EnforcementMode::Enforce };
        self.in_code("evaluate_only", |code| code.mode = mode)
    }

    /// Sets when text reaches the caller.
    ///
    /// # Panics
    /// The declaration says otherwise. How long segments are is not in it.
    #[must_use]
    pub fn output(self, output: Output) -> Self {
        let declared = self.host.source.resolved().map(|it| it.surface.buffered_output);
        if declared.is_some_and(|is_buffered| is_buffered != (output == Output::Buffered)) {
            declared_instead("buffered_output");
        }
        self.with(|host| host.output = output)
    }

    /// Sets who is asked about a deny that may be lifted. While it decides, that tool call waits, and others go on.
    #[must_use]
    pub fn resolver(self, resolver: impl ApprovalResolver + 'static) -> Self {
        let resolver: Arc<dyn ApprovalResolver> = Arc::new(resolver);
        self.in_code("resolver", |code| code.resolver = Some(resolver))
    }

    /// Has people decide about tool calls that are denied unless somebody approves: the call ends with a question. In
    /// a declaration, `configuration.approval.resolver` names a resolver of the registry, which is a clone of it.
    ///
    /// # Panics
    /// The declaration names no resolver.
    #[must_use]
    pub fn ask_people(self, people: AskPeople) -> Self {
        let declared = self.host.source.resolved();
        assert!(
            declared.is_none_or(|declared| declared.configuration.approval.resolver.is_some()),
            "the declaration names no approval resolver: write `configuration.approval.resolver`, and register a clone \
             of this `AskPeople` by that name with `HostRegistry::approval_resolver`"
        );
        let resolver: Arc<dyn ApprovalResolver> = Arc::new(people.clone());
        self.with(|host| {
            if let Some(code) = host.source.code_mut() {
                code.resolver = Some(resolver);
            }
            host.people = Some(people);
        })
    }

    /// Sets what the resolver sees of a context.
    #[must_use]
    pub fn redact(
        self,
        redact: impl Fn(&AgentContext) -> AgentContext + Send + Sync + 'static,
    ) -> Self {
        self.in_code("redact", |code| code.redact = Some(Arc::new(redact)))
    }

    /// Sets what tells contexts apart.
    #[must_use]
    pub fn identity(self, identity: Identity) -> Self {
        self.in_code("identity", |code| code.identity = identity)
    }

    /// Sets how long an interceptor may take; `None` is no limit. One that takes longer denies.
    #[must_use]
    pub fn time_limit(self, limit: impl Into<Option<Duration>>) -> Self {
        let limit = limit.into();
        self.in_code("time_limit", |code| code.limit = limit)
    }

    /// Sets how many bytes the target of a point may have. A larger one is denied, and so is a longer answer of a model.
    #[must_use]
    pub fn most_bytes(self, bytes: usize) -> Self {
        self.with(|host| host.most_bytes = bytes)
    }

    /// Adds what keeps the records. There may be several.
    #[must_use]
    pub fn records(self, sink: impl RecordSink + 'static) -> Self {
        let sink: Arc<dyn RecordSink> = Arc::new(sink);
        self.with(|host| host.sinks.push(sink))
    }

    /// Returns the declaration, with all that it leaves open; `None` if the program sets it.
    #[must_use]
    pub fn declaration(&self) -> Option<&ResolvedDeclaration> {
        self.host.source.resolved()
    }

    fn in_code(self, setting: &'static str, set: impl FnOnce(&mut InCode)) -> Self {
        self.with(|host| match host.source.code_mut() {
            Some(code) => set(code),
            None => declared_instead(setting),
        })
    }

    fn with(mut self, set: impl FnOnce(&mut Host)) -> Self {
        // Only an agent shares it, and has the hook by then.
        if let Some(host) = Arc::get_mut(&mut self.host) {
            set(host);
        }
        self
    }

    fn session(&self, cx: &CallContext) -> Arc<SessionOfCall> {
        cx.hook_state(Arc::as_ptr(&self.host).addr())
    }

    /// Returns the session of a call that has one.
    fn begun(&self, cx: &CallContext) -> Option<Arc<Session>> {
        self.session(cx).get()
    }

    fn plan_check(&self) -> Option<PlanCheck> {
        let host = self.host.clone();
        let check: PlanCheck = Arc::new(move |plan, own| {
            host.is_enforcing().then(|| order::fault(plan, own, host.output)).flatten()
        });
        Some(check)
    }
}

#[agent_hook(
    crate = hooks_agent_core, priority = Self::PRIORITY, role = HookRole::Redacts, inherit, always,
    plan_check = Self::plan_check,
    not_in_shadow = |_: &Self| Some("it has `.evaluate_only(true)` for that".to_owned())
)]
impl Interceptors {
    async fn around_call(
        &self,
        call: AgentCall<'_>,
        next: NextCall<'_>,
    ) -> Result<Msg, AgentError> {
        let cx = call.context();
        let mut callers = std::iter::successors(cx.parent(), |caller| caller.parent());
        let caller = callers.find_map(|caller| self.begun(caller));
        let session = self.session(cx).begin(cx, caller.as_deref());
        self.host.clone().run_call(session, call, next).await
    }

    async fn around_attempt(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match self.begun(attempt.context()) {
            Some(session) => self.host.clone().run_attempt(session, attempt, next).await,
            None if !self.host.is_enforcing() => next.run(attempt.into_request()).await,
            None => Err(next.fail(self.host.refuse_attempt(&attempt))),
        }
    }

    async fn around_tool(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        match self.begun(call.context()) {
            Some(session) => self.host.clone().run_tool(&session, call, next).await,
            None if !self.host.is_enforcing() => next.run(call.into_tool_use()).await,
            None => Err(next.fail(self.host.refuse_tool(&call))),
        }
    }
}

fn declared_instead(setting: &str) -> ! {
    panic!("`{setting}` is part of the declaration: write it there")
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = &self.host.source;
        f.debug_struct("Interceptors")
            .field("composition", &source.composition())
            .field("mode", &source.mode())
            .field("output", &self.host.output)
            .finish_non_exhaustive()
    }
}
