//! Agents with interceptors.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_hooks::{AgentContext, Decision, InterceptionRecord, Interceptor, Verdict};
use futures::StreamExt;
use hooks_agent_builtin::recover::RetryPolicy;
use hooks_agent_core::prelude::*;
pub(crate) use hooks_agent_interceptors::transform;
use hooks_agent_interceptors::{Interceptors, Profile, intercept};
use serde_json::{Value, json};

/// The records of an agent.
#[derive(Clone, Default)]
pub(crate) struct Records(pub(crate) Arc<Mutex<Vec<InterceptionRecord>>>);

impl Records {
    /// Returns them by session and sequence.
    pub(crate) fn all(&self) -> Vec<InterceptionRecord> {
        let came = self.0.lock().unwrap().clone();
        let began = |it: &InterceptionRecord| {
            came.iter().position(|first| first.session_id == it.session_id)
        };
        let mut all = came.clone();
        all.sort_by_key(|it| (began(it), it.sequence));
        all
    }

    /// Returns the points of all records, with what was not allowed.
    pub(crate) fn points(&self) -> Vec<String> {
        let said = |it: &InterceptionRecord| match (it.verdict.decision, &it.verdict.reason) {
            (Decision::Allow, _) => it.interception_point.to_string(),
            (decision, reason) => {
                let reason = reason.as_deref().unwrap_or("-");
                format!("{} {} {reason}", it.interception_point, decision.as_str())
            }
        };
        self.all().iter().map(said).collect()
    }

    /// Returns the reasons of all denies.
    pub(crate) fn denied(&self) -> Vec<String> {
        let all = self.all();
        let denied = all.iter().filter(|it| it.verdict.decision == Decision::Deny);
        denied.filter_map(|it| it.verdict.reason.clone()).collect()
    }
}

/// Interceptors with one that decides, and the records.
pub(crate) fn deciding(
    decide: impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static,
) -> (Interceptors, Records) {
    with(intercept(move |context| decide(&context)))
}

pub(crate) fn with(interceptor: impl Interceptor + 'static) -> (Interceptors, Records) {
    let records = Records::default();
    let interceptors = Interceptors::new(Profile::default()).add("test", interceptor);
    (interceptors.records(records.0.clone()), records)
}

/// Decides at one point.
pub(crate) fn at(
    point: &'static str,
    decide: impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static,
) -> impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static {
    move |context| {
        if context["interception_point"] == point { decide(context) } else { Verdict::allow() }
    }
}

pub(crate) fn deny(reason: &str) -> Verdict {
    Verdict::deny(Some(reason.to_owned()), None)
}

/// A model that calls the tool `look` with these arguments, and then says what it read.
pub(crate) fn looking(args: Value) -> ScriptedModel {
    ScriptedModel::new("scripted", move |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        match last.tool_results().next() {
            None => ToolUse::new("1", "look", args.clone()).into(),
            Some(result) => format!("I read: {}", result.output.as_str()).into(),
        }
    })
}

/// A tool that returns its arguments.
pub(crate) fn look() -> FunctionTool {
    FunctionTool::new("look", "Looks.", async |input: Value| input.to_string())
}

/// Returns an agent that looks once.
pub(crate) fn looker(interceptors: Interceptors) -> ReActAgent {
    let model = looking(json!({ "at": "secret" }));
    ReActAgent::builder("looker").model(model).tool(look()).hook(interceptors).build().unwrap()
}

/// Returns an agent that says a text.
pub(crate) fn saying(text: &'static str, interceptors: Interceptors) -> ReActAgent {
    let model = ScriptedModel::new("scripted", move |_| text);
    ReActAgent::builder("sayer").model(model).hook(interceptors).build().unwrap()
}

/// Two retries without a delay.
pub(crate) fn at_once() -> RetryPolicy {
    RetryPolicy::new().max_retries(2).initial_delay(Duration::ZERO)
}

/// Returns all that somebody sees of an agent: the stream, the reply or the error, and memory.
pub(crate) async fn all_of(agent: &ReActAgent, message: &str) -> String {
    let mut seen = String::new();
    {
        let mut stream = agent.stream(message);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => seen.push_str(&serde_json::to_string(&event).unwrap()),
                Err(error) => write!(seen, "{error:?}").unwrap(),
            }
        }
    }
    seen + &memory_of(agent)
}

pub(crate) fn memory_of(agent: &ReActAgent) -> String {
    let memory = agent.memory_of(&agent.context(CallOptions::new())).unwrap();
    serde_json::to_string(&memory.messages()).unwrap()
}

/// An interceptor that decides by a context.
pub(crate) fn decides(
    decide: impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static,
) -> impl Interceptor + 'static {
    intercept(move |context| decide(&context))
}
