//! Input, model calls and output.

use agent_hooks::{AgentContext, InterceptionPoint, Verdict};
use hooks_agent_builtin::recover::{ModelFallback, ModelRetry};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Blocked, Interceptors, Profile, intercept};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::{all_of, at, at_once, deciding, deny, memory_of, saying, transform, with};

#[tokio::test]
async fn a_changed_input_is_what_the_agent_gets() {
    let (interceptors, _) = deciding(at("input", |_| transform("$target.content", "hello")));
    let model = ScriptedModel::new("echo", hooks_agent_core::model::ChatRequest::last_text);
    let agent = ReActAgent::builder("echo").model(model).hook(interceptors).build().unwrap();
    assert_eq!(agent.call("my secret").await.unwrap().text(), "hello");
    assert!(!memory_of(&agent).contains("secret"));
}

#[tokio::test]
async fn a_changed_request_is_what_the_model_gets_and_memory_stays() {
    let (interceptors, _) =
        deciding(at("pre_model_call", |_| transform("$target[0].content", "***")));
    let model = ScriptedModel::new("echo", hooks_agent_core::model::ChatRequest::last_text);
    let agent = ReActAgent::builder("echo").model(model).hook(interceptors).build().unwrap();
    assert_eq!(agent.call("my secret").await.unwrap().text(), "***");
    assert!(memory_of(&agent).contains("secret"), "the thread has what was said");
}

#[tokio::test]
async fn messages_may_be_removed_and_added_for_the_model() {
    let removed = at("pre_model_call", |context| {
        let messages = context["messages"].as_array().unwrap();
        let mut messages = messages.clone();
        messages.remove(0);
        messages.push(json!({ "role": "user", "content": "Say it in French." }));
        transform("$target", messages)
    });
    let (interceptors, _) = deciding(removed);
    let model = ScriptedModel::new("echo", |request| {
        request.messages.iter().map(Msg::text).collect::<Vec<_>>().join("|")
    });
    let agent = ReActAgent::builder("echo").model(model).system_prompt("Be brief.");
    let agent = agent.hook(interceptors).build().unwrap();
    assert_eq!(agent.call("Hello").await.unwrap().text(), "Hello|Say it in French.");
}

#[tokio::test]
async fn a_changed_answer_is_nowhere_as_it_was() {
    let changed = at("post_model_call", |_| transform("$target.content", "I may not say it."));
    let (interceptors, _) = deciding(changed);
    let agent = saying("The secret is XLII.", interceptors);
    let seen = all_of(&agent, "Go").await;
    assert!(seen.contains("I may not say it.") && !seen.contains("XLII"), "{seen}");
}

#[tokio::test]
async fn a_denied_answer_is_nowhere_and_not_asked_for_again() {
    let (interceptors, records) = deciding(at("post_model_call", |_| deny("secrets")));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let model = ScriptedModel::new("scripted", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        "The secret is XLII."
    });
    let other = ScriptedModel::new("other", |_| "I am asked in vain.");
    let agent = ReActAgent::builder("sayer").model(model).hook(interceptors);
    let agent = agent.hook(ModelRetry::new().retry_on(|_| true)).hook(ModelFallback::new(other));
    let agent = agent.build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("XLII") && !seen.contains("in vain"), "{seen}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(records.denied(), ["secrets"]);
}

#[tokio::test]
async fn each_attempt_has_its_pair_of_points() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
    let other = ScriptedModel::new("other", |_| "Here I am.");
    let agent = ReActAgent::builder("sayer").model(model).hook(interceptors);
    let retry = ModelRetry::with(at_once()).unwrap();
    // Inside of the fallback: the model is asked three times before the other one is.
    let agent = agent
        .hook(retry.with_priority(ModelFallback::PRIORITY + 1))
        .hook(ModelFallback::new(other));
    assert_eq!(agent.build().unwrap().call("Go").await.unwrap().text(), "Here I am.");
    let pre = "pre_model_call";
    let points = [
        "agent_startup",
        "input",
        pre,
        pre,
        pre,
        pre,
        "post_model_call",
        "output",
        "agent_shutdown",
    ];
    assert_eq!(records.points(), points);
}

#[tokio::test]
async fn the_error_names_point_reason_and_interceptor() {
    for point in ["agent_startup", "input", "pre_model_call", "post_model_call", "output"] {
        let (interceptors, _) = deciding(at(point, |_| deny("policy:7")));
        let error = saying("Hello.", interceptors).call("Go").await.unwrap_err();
        let blocked = Blocked::find(&error).unwrap();
        assert_eq!(blocked.to_string(), format!("interceptor `test` blocked `{point}`: policy:7"));
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn a_denied_start_runs_nothing() {
    let (interceptors, records) = deciding(at("agent_startup", |_| deny("closed")));
    let hook = on(|_: &mut PreCall<'_>| -> Flow { panic!("it does not come to this") });
    let model = ScriptedModel::new("never", |_| -> &'static str { panic!("nor to this") });
    let agent = ReActAgent::builder("sayer").model(model).hook(hook).hook(interceptors);
    assert!(agent.build().unwrap().call("Go").await.is_err());
    assert_eq!(records.points(), ["agent_startup deny closed", "agent_shutdown"]);
}

#[tokio::test]
async fn the_output_is_what_all_hooks_made_of_it() {
    let seen = Arc::new(Mutex::new(String::new()));
    let said = seen.clone();
    let look = at("output", move |context| {
        *said.lock().unwrap() = context["output"]["content"].as_str().unwrap().to_owned();
        Verdict::allow()
    });
    let (interceptors, _) = deciding(look);
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let agent = ReActAgent::builder("sayer").model(model).hook(sign).hook(interceptors);
    assert_eq!(agent.build().unwrap().call("Go").await.unwrap().text(), "Done. - A.");
    assert_eq!(*seen.lock().unwrap(), "Done. - A.");
}

#[tokio::test]
async fn evaluate_only_records_and_changes_nothing() {
    let (interceptors, records) =
        deciding(|context| match context["interception_point"].as_str().unwrap() {
            "input" | "output" => transform("$target.content", "changed"),
            _ => deny("would"),
        });
    let agent = saying("Hello.", interceptors.evaluate_only(true));
    assert_eq!(agent.call("Go").await.unwrap().text(), "Hello.");
    let points = [
        "agent_startup deny would",
        "input transform -",
        "pre_model_call deny would",
        "post_model_call deny would",
        "output transform -",
        "agent_shutdown deny would",
    ];
    assert_eq!(records.points(), points);
    assert!(records.all().iter().all(|it| it.input_identity == it.enforced_identity));
}

#[tokio::test]
async fn an_interceptor_of_some_points_leaves_the_others_denied() {
    let records = crate::support::Records::default();
    let all_but_input = [InterceptionPoint::AgentStartup, InterceptionPoint::AgentShutdown];
    let interceptors = Interceptors::new(Profile::default())
        .add_at(all_but_input, "some", intercept(|_| Verdict::allow()))
        .records(records.0.clone());
    assert!(saying("Hello.", interceptors).call("Go").await.is_err());
    let points = ["agent_startup", "input deny host_error:no_interceptor", "agent_shutdown"];
    assert_eq!(records.points(), points);
}

#[tokio::test]
async fn labels_come_back_in_the_thread() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let said = seen.clone();
    let interceptor = intercept(move |context| {
        let labels = &context["extensions"]["pii_filter"]["source_labels"];
        said.lock().unwrap().push(labels.to_string());
        if context["interception_point"] == "input" {
            Verdict { result_labels: vec!["personal".to_owned()], ..Verdict::allow() }
        } else {
            Verdict::allow()
        }
    });
    let interceptors = Interceptors::new(Profile::default()).add("PII filter", interceptor);
    let agent = saying("Hello.", interceptors);
    agent.call("Go").await.unwrap();
    let first = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(first[..2], ["null", "null"], "before it was said");
    assert!(first[2..].iter().all(|it| it == r#"["personal"]"#), "{first:?}");
    agent.call("Go on").await.unwrap();
    let second = seen.lock().unwrap().clone();
    assert!(second.iter().all(|it| it == r#"["personal"]"#), "{second:?}");
}

#[tokio::test]
async fn the_context_has_what_the_agent_knows() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let said = seen.clone();
    let (interceptors, _) = with(intercept(move |context| {
        said.lock().unwrap().push(AgentContext::clone(&context));
        Verdict::allow()
    }));
    let agent = crate::support::looker(interceptors);
    let options = CallOptions::new().thread("t1").user("ann");
    agent.call_with(options, "Go").await.unwrap();
    let seen = seen.lock().unwrap();
    let of = |point: &str| seen.iter().find(|it| it["interception_point"] == point).unwrap();
    let startup = of("agent_startup");
    assert_eq!(
        startup["agent"],
        json!({ "id": "looker", "framework": "hooks-agent", "name": "looker" })
    );
    assert_eq!(startup["agent_init"]["tools_registered"], json!(["look"]));
    assert_eq!(startup["session"]["turn"], 0);
    assert_eq!(startup["extensions"]["hooks"]["thread"], "t1");
    assert_eq!(startup["actor"], json!({ "id": "ann", "kind": "human" }));
    let before = of("pre_model_call");
    assert_eq!(before["messages"], json!([{ "role": "user", "content": "Go" }]));
    assert_eq!(before["tools"][0]["name"], "look");
    assert_eq!(before["model"]["id"], "scripted");
    let after = of("post_model_call");
    assert_eq!(after["request_id"], before["request_id"]);
    assert_eq!(after["response"]["tool_calls"][0]["args"], json!({ "at": "secret" }));
    assert_eq!(
        of("post_tool_call")["tool_result"],
        json!({ "value": r#"{"at":"secret"}"#, "is_error": false })
    );
}
