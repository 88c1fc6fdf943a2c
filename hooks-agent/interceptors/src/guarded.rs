//! These hooks as an interceptor of other hosts.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_hooks::{AgentContext, Decision, InterceptionPoint, Interceptor, Transform, Verdict};
use async_trait::async_trait;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::{Guard, GuestThread, Screened};
use hooks_agent_policy::command::{HookDecision, Input, Output, PermissionDecision};
use serde_json::Value;

/// How many sessions may be open at once.
const MOST_SESSIONS: usize = 100_000;

/// The reasons of verdicts.
const DENIED: &str = "hooks_agent.denied";
const ASKS: &str = "hooks_agent.asks";
const WITHHELD: &str = "hooks_agent.withheld";
const CHANGED: &str = "hooks_agent.changed";
const UNREADABLE: &str = "hooks_agent.unreadable";

/// Hooks of these agents, such as a policy, as an interceptor for every host of AGENT-HOOKS-0.1: what they redact is a
/// transform, what they refuse a deny, and what they ask people about a deny that an approval lifts.
///
/// | point | hooks | verdict |
/// |---|---|---|
/// | `input` | `PreCall`, `PreReasoning`, `model_call` of those that redact | what they make of the text |
/// | `pre_model_call` | `model_call` of those that limit | a deny at the limit |
/// | `pre_tool_call` | `PostReasoning`, `PreActing`, permission, around the tool | deny, a deny that may be lifted, other arguments |
/// | `post_tool_call` | `PostActing`, around the tool of those that redact | the result as they leave it, or a deny |
/// | `post_model_call`, `output` | `PostReasoning`, `PostCall`, `model_call` of those that redact | what they make of the text |
///
/// What hooks keep of a session, such as counts, is kept until its `agent_shutdown`. The agent is known to hooks by
/// `agent.id`, the thread by `session.id`. Points of one session run one after the other.
///
/// A hook that fails or panics denies. So does a context that cannot be read.
///
/// ```
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::interceptors::Guarded;
/// use hooks_agent::interceptors::agent_hooks::{
///     AgentContextBuilder, EnforcementMode, InterceptionEmitter,
/// };
/// use hooks_agent::react::HookSet;
/// use serde_json::json;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// // A host that is written elsewhere.
/// let mut host = InterceptionEmitter::new(EnforcementMode::Enforce, None);
/// host.register(Box::new(Guarded::of(HookSet::of(PiiDetection::all()))));
/// let mut contexts = AgentContextBuilder::new("bot", "my-framework", "session-1");
/// let mut input = contexts.input(json!("Write to ann@example.com"), "user");
/// let permitted = host.emit(&mut input).await.unwrap();
/// assert_eq!(permitted.target["content"], "Write to [REDACTED_EMAIL]");
/// # });
/// ```
#[derive(Clone)]
pub struct Guarded {
    guard: Guard,
    sessions: Arc<Mutex<Sessions>>,
}

/// What hooks keep of each session.
type Sessions = HashMap<String, Arc<tokio::sync::Mutex<GuestThread>>>;

/// The same hooks for everybody.
struct Always(HookSet);

impl HookSource for Always {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

impl Guarded {
    /// Creates the interceptor of what a source chooses, such as a policy.
    #[must_use]
    pub fn new(source: impl HookSource) -> Self {
        Self { guard: Guard::new(source), sessions: Arc::default() }
    }

    /// Creates the interceptor of these hooks.
    #[must_use]
    pub fn of(hooks: HookSet) -> Self {
        Self::new(Always(hooks))
    }

    fn session(&self, id: &str) -> Option<Arc<tokio::sync::Mutex<GuestThread>>> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(id) {
            return Some(session.clone());
        }
        if sessions.len() >= MOST_SESSIONS {
            return None;
        }
        Some(sessions.entry(id.to_owned()).or_default().clone())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn decide(&self, context: &AgentContext) -> Option<Verdict> {
        let point: InterceptionPoint = context.get("interception_point")?.as_str()?.parse().ok()?;
        let session = context.get("session")?["id"].as_str()?;
        match point {
            InterceptionPoint::AgentStartup => return Some(Verdict::allow()),
            InterceptionPoint::AgentShutdown => {
                self.sessions().remove(session);
                return Some(Verdict::allow());
            }
            _ => {}
        }
        let Some(kept) = self.session(session) else {
            return Some(deny(DENIED, "too many sessions are open: end them by `agent_shutdown`"));
        };
        let thread = &mut *kept.lock().await;
        let guard = self.guard.clone().agent(context.get("agent")?["id"].as_str()?);
        let event = |name: &str| {
            let mut event = Input::new(name);
            session.clone_into(&mut event.session_id);
            event
        };
        match point {
            InterceptionPoint::Input => {
                let said = Text::of(&context.get("input")?["content"]);
                let event = event("UserPromptSubmit");
                Some(said.verdict(guard.screen_prompt(&event, thread, &*said.text).await))
            }
            InterceptionPoint::PreModelCall => {
                Some(counted(guard.count_model_call(&event("Stop"), thread).await))
            }
            InterceptionPoint::PostModelCall | InterceptionPoint::Output => {
                let of_point = context.get("response").or_else(|| context.get("output"));
                let said = &of_point?["content"];
                if said.is_null() {
                    return Some(Verdict::allow());
                }
                let said = Text::of(said);
                Some(said.verdict(guard.screen_reply(&event("Stop"), thread, &*said.text).await))
            }
            InterceptionPoint::PreToolCall => {
                let event = with_call(event("PreToolUse"), context)?;
                Some(of_call(guard.decide(&event, thread).await))
            }
            InterceptionPoint::PostToolCall => {
                let mut event = with_call(event("PostToolUse"), context)?;
                event.tool_response = Some(context.get("tool_result")?["value"].clone());
                Some(of_result(guard.decide(&event, thread).await))
            }
            InterceptionPoint::AgentStartup | InterceptionPoint::AgentShutdown => None,
        }
    }
}

#[async_trait]
impl Interceptor for Guarded {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        let decided = self.decide(context).await;
        decided.unwrap_or_else(|| deny(UNREADABLE, "the context cannot be read"))
    }

    fn name(&self) -> Option<String> {
        Some("hooks-agent".to_owned())
    }
}

/// A content: a text, or JSON in which texts are.
struct Text {
    text: String,
    is_json: bool,
}

impl Text {
    fn of(content: &Value) -> Self {
        match content {
            Value::String(text) => Self { text: text.clone(), is_json: false },
            content => Self { text: content.to_string(), is_json: true },
        }
    }

    fn verdict(&self, screened: Screened) -> Verdict {
        const CONTENT: &str = "$target.content";
        match screened {
            Screened::Same => Verdict::allow(),
            Screened::Blocked(reason) => deny(DENIED, reason),
            Screened::Changed(text) if self.is_json => match serde_json::from_str(&text) {
                Ok(value) => changed(CONTENT, value),
                Err(_) => deny(DENIED, "content that is no text has something that a hook removes"),
            },
            Screened::Changed(text) => changed(CONTENT, text.into()),
        }
    }
}

fn with_call(mut input: Input, context: &AgentContext) -> Option<Input> {
    let call = context.get("tool_call")?;
    input.tool_name = Some(call["name"].as_str()?.to_owned());
    input.tool_use_id = Some(call["id"].as_str()?.to_owned());
    input.tool_input = Some(call["args"].clone());
    Some(input)
}

fn counted(screened: Screened) -> Verdict {
    match screened {
        Screened::Same => Verdict::allow(),
        Screened::Changed(reason) | Screened::Blocked(reason) => deny(DENIED, reason),
    }
}

/// Returns the verdict of an answer to `PreToolUse`.
fn of_call(output: Output) -> Verdict {
    if let Some(verdict) = ended(&output) {
        return verdict;
    }
    let Some(specific) = output.hook_specific_output else { return Verdict::allow() };
    let reason = specific.permission_decision_reason.unwrap_or_default();
    match (specific.permission_decision, specific.updated_input) {
        (Some(PermissionDecision::Ask), _) => {
            Verdict::escalate(Some(ASKS.to_owned()), Some(reason))
        }
        (Some(PermissionDecision::Allow) | None, None) => Verdict::allow(),
        (Some(PermissionDecision::Allow) | None, Some(input)) => {
            changed("$target", Value::Object(input))
        }
        (Some(_), _) => deny(DENIED, reason),
    }
}

/// Returns the verdict of an answer to `PostToolUse`.
fn of_result(output: Output) -> Verdict {
    if output.decision == Some(HookDecision::Block) {
        return deny(WITHHELD, output.reason.unwrap_or_default());
    }
    if let Some(verdict) = ended(&output) {
        return verdict;
    }
    match output.hook_specific_output.and_then(|specific| specific.updated_tool_output) {
        Some(value) => changed("$target", value),
        None => Verdict::allow(),
    }
}

/// Returns the deny of an answer that ends the run.
fn ended(output: &Output) -> Option<Verdict> {
    if let Some(HookDecision::Block) = output.decision {
        return Some(deny(DENIED, output.reason.clone().unwrap_or_default()));
    }
    (output.continues == Some(false))
        .then(|| deny(DENIED, output.stop_reason.clone().unwrap_or_default()))
}

fn deny(reason: &str, message: impl Into<String>) -> Verdict {
    Verdict::deny(Some(reason.to_owned()), Some(message.into()))
}

fn changed(path: &str, value: Value) -> Verdict {
    Verdict {
        decision: Decision::Transform,
        reason: Some(CHANGED.to_owned()),
        transform: Some(Transform { path: path.to_owned(), value }),
        ..Verdict::allow()
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("guard", &self.guard).finish_non_exhaustive()
    }
}
