//! All reserved reasons fail closed.

use std::sync::Arc;
use std::time::Duration;

use agent_hooks::{
    AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver, Decision,
    Interceptor, SynthesisPolicy, Verdict,
};
use async_trait::async_trait;
use futures::stream;
use hooks_agent_core::model::{ChatChunk, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Blocked, Identity, Interceptors, Output, Profile, intercept};
use serde_json::json;

use crate::support::{Records, at, decides, deciding, looker, saying, transform, with};

/// Runs an agent that would say something, and returns the one reason for which it did not.
async fn blocked_for(interceptors: Interceptors, records: &Records) -> String {
    let agent = saying("Hello.", interceptors);
    let error = agent.call("Go").await.unwrap_err();
    let blocked = Blocked::find(&error).unwrap_or_else(|| panic!("{error:?}"));
    let reason = blocked.reason.clone().unwrap();
    assert!(records.denied().contains(&reason), "{reason} is not in {:?}", records.points());
    reason
}

struct Panics;

#[async_trait]
impl Interceptor for Panics {
    async fn intercept(&self, _: &AgentContext) -> Verdict {
        panic!("on purpose")
    }
}

struct Sleeps;

#[async_trait]
impl Interceptor for Sleeps {
    async fn intercept(&self, _: &AgentContext) -> Verdict {
        std::future::pending().await
    }
}

fn escalates() -> impl Interceptor {
    decides(at("input", |_| Verdict::escalate(Some("ask".to_owned()), None)))
}

/// Resolves in one way.
struct Resolver(fn(&ApprovalRequest<'_>) -> ApprovalResolution);

#[async_trait]
impl ApprovalResolver for Resolver {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        (self.0)(&request)
    }
}

#[tokio::test]
async fn no_interceptor_denies_everything() {
    let records = Records::default();
    let interceptors = Interceptors::new(Profile::default()).records(records.0.clone());
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:no_interceptor");
    let all = [
        "agent_startup deny host_error:no_interceptor",
        "agent_shutdown deny host_error:no_interceptor",
    ];
    assert_eq!(records.points(), all);
}

#[tokio::test]
async fn an_interceptor_that_panics_denies() {
    let (interceptors, records) = with(Panics);
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:interceptor_failed");
}

#[tokio::test]
async fn an_interceptor_that_takes_too_long_denies() {
    let (interceptors, records) = with(Sleeps);
    let interceptors = interceptors.time_limit(Duration::from_millis(1));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:interceptor_timeout");
}

#[tokio::test]
async fn an_invalid_verdict_denies() {
    let invalid = Verdict { decision: Decision::Transform, ..Verdict::allow() };
    let (interceptors, records) = deciding(at("output", move |_| invalid.clone()));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:verdict_invalid");
    let (interceptors, records) =
        deciding(at("output", |_| crate::support::deny("host_error:mine")));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:verdict_invalid");
}

#[tokio::test]
async fn a_transform_that_does_not_fit_denies() {
    let (interceptors, records) = deciding(at("output", |_| transform("$target.no.such", "x")));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:transform_invalid");
}

#[tokio::test]
async fn a_transform_of_something_else_denies() {
    let (interceptors, records) = deciding(at("output", |_| transform("$session.id", "x")));
    let reason = blocked_for(interceptors, &records).await;
    assert_eq!(reason, "host_error:transform_target_forbidden");
    let (interceptors, records) =
        deciding(at("agent_startup", |_| transform("$target", json!({}))));
    let reason = blocked_for(interceptors, &records).await;
    assert_eq!(reason, "host_error:transform_target_forbidden");
}

#[tokio::test]
async fn two_transforms_of_one_context_deny() {
    let records = Records::default();
    let profile = Profile::Strictest { on_transform_conflict: SynthesisPolicy::Deny };
    let interceptors = Interceptors::new(profile)
        .add("one", decides(at("output", |_| transform("$target.content", "1"))))
        .add("two", decides(at("output", |_| transform("$target.content", "2"))));
    let interceptors = interceptors.records(records.0.clone());
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:transform_conflict");
}

#[tokio::test]
async fn a_disagreement_denies() {
    let records = Records::default();
    let profile = Profile::Unanimous { on_disagreement: SynthesisPolicy::Deny };
    let interceptors = Interceptors::new(profile)
        .add("one", intercept(|_| Verdict::allow()))
        .add("two", decides(at("input", |_| crate::support::deny("no"))));
    let interceptors = interceptors.records(records.0.clone());
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:composition_disagreement");
}

#[tokio::test]
async fn a_resolver_that_panics_lifts_nothing() {
    let (interceptors, records) = with(escalates());
    let interceptors = interceptors.resolver(Resolver(|_| panic!("on purpose")));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:approval_resolver_failed");
}

#[tokio::test]
async fn a_resolver_that_cannot_decide_lifts_nothing() {
    let (interceptors, records) = with(escalates());
    let interceptors = interceptors.resolver(Resolver(|request| ApprovalResolution {
        outcome: ApprovalOutcome::Unresolved,
        context_identity: request.context_identity.clone(),
        verdict: None,
    }));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:approval_unresolved");
}

#[tokio::test]
async fn an_approval_of_something_else_lifts_nothing() {
    let (interceptors, records) = with(escalates());
    let interceptors = interceptors.resolver(Resolver(|_| ApprovalResolution {
        outcome: ApprovalOutcome::Approve,
        context_identity: Some("sha256:another".to_owned()),
        verdict: Some(Verdict::allow()),
    }));
    assert_eq!(blocked_for(interceptors, &records).await, "host_error:approval_identity_mismatch");
}

#[tokio::test]
async fn what_cannot_be_told_or_read_back_is_invalid() {
    // An identity that fails, a target that is too large, values that are none of an agent.
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let identity = Identity::custom("mine", |_| panic!("on purpose")).unwrap();
    let reason = blocked_for(interceptors.identity(identity), &records).await;
    assert_eq!(reason, "host_error:context_invalid");

    let (interceptors, records) = deciding(|_| Verdict::allow());
    let reason = blocked_for(interceptors.most_bytes(3), &records).await;
    assert_eq!(reason, "host_error:context_invalid");

    for (point, path, value) in [
        ("input", "$target.content", json!(7)),
        ("input", "$target.role", json!("system")),
        ("pre_model_call", "$target[0]", json!("no message")),
        ("pre_model_call", "$target[0].role", json!("tool")),
        ("post_model_call", "$target.content", json!([1])),
        ("post_model_call", "$target.finish_reason", json!("whatever")),
        ("post_model_call", "$target.tool_calls", json!([{ "id": "1" }])),
        ("output", "$target.content", json!(7)),
    ] {
        let changed = at(point, move |_| transform(path, value.clone()));
        let (interceptors, records) = deciding(changed);
        let reason = blocked_for(interceptors, &records).await;
        assert_eq!(reason, "host_error:context_invalid", "{point} {path}");
        let all = records.all();
        let failed = all.iter().find(|it| it.verdict.decision == Decision::Deny).unwrap();
        assert_eq!(failed.interception_point.as_str(), point);
        assert!(failed.verdict.message.is_some(), "{point} {path}: the path is said");
    }
}

/// A model whose stream has no end.
struct Broken;

impl ChatModel for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(stream::iter(
            ["The sec", "ret is"].map(|text| Ok(ChatChunk::Text(text.to_owned()))),
        ))
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_denied_in_both_ways() {
    for output in [Output::Buffered, Output::incremental()] {
        let (interceptors, records) = deciding(|_| Verdict::allow());
        let agent = ReActAgent::builder("broken").model(Broken).hook(interceptors.output(output));
        let agent = agent.build().unwrap();
        let seen = crate::support::all_of(&agent, "Go").await;
        assert_eq!(records.denied(), ["host_error:streaming_unsupported"], "{output:?}");
        let last = records.all().into_iter().find(|it| it.verdict.decision == Decision::Deny);
        assert!(last.unwrap().input_identity.is_some(), "its context is known");
        assert!(!seen.contains("ret is"), "{output:?}: {seen}");
    }
}

#[tokio::test]
async fn a_method_outside_of_a_call_is_unsupported() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let agent = looker(interceptors);
    let cx = agent.context(CallOptions::new());
    let request = ChatRequest::new(Msg::user("Go"));
    let error = agent.model_call(cx.clone(), request).await.unwrap_err();
    let blocked = Blocked::find(&error).unwrap();
    assert_eq!(blocked.reason.as_deref(), Some("host_error:adapter_unsupported"));
    let call = Arc::new(ToolUse::new("1", "look", json!({})));
    let error = agent.tool_call(cx, call).await.unwrap_err();
    assert!(Blocked::find(&error).is_some(), "{error:?}");
    let unsupported = ["pre_model_call", "pre_tool_call"]
        .map(|point| format!("{point} deny host_error:adapter_unsupported"));
    assert_eq!(records.points(), unsupported);
}

#[test]
fn without_a_runtime_a_call_fails() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let agent = saying("Hello.", interceptors);
    let error = futures::executor::block_on(agent.call("Go")).unwrap_err();
    assert!(format!("{error:?}").contains("runtime of tokio"), "{error:?}");
    let no_timers = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = no_timers.block_on(agent.call("Go")).unwrap_err();
    assert!(format!("{error:?}").contains("enable_time"), "{error:?}");
    assert_eq!(records.points(), [] as [String; 0]);
}
