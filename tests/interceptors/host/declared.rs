//! Hosts of declaration documents.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_hooks::{DeclarationErrorClass, HostDeclaration, HostRegistry, Verdict};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{AskPeople, Interceptors, Output, declaration, intercept, surface};
use serde_json::{Value, json};

use crate::support::{Records, look, looking};

/// A registry with a kind that denies tools by their names.
fn registry(output: Output) -> HostRegistry {
    let kind = HostRegistry::new(surface(output)).kind(
        "acme.deny",
        Box::new(|config, _| {
            let denied = config["tools"].as_array().cloned().ok_or("`tools` is a list")?;
            Ok(Box::new(intercept(move |context| {
                if denied.contains(&context["tool_call"]["name"]) {
                    Verdict::deny(Some("acme.denied".to_owned()), None)
                } else {
                    Verdict::allow()
                }
            })))
        }),
    );
    kind.unwrap()
}

/// Writes a declaration to a file, with these bindings.
fn file(output: Output, bindings: Value) -> tempfile::NamedTempFile {
    let mut document = declaration(output);
    document["bindings"] = bindings;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), document.to_string()).unwrap();
    file
}

fn deny_look() -> Value {
    json!([{ "id": "no_look", "kind": "acme.deny", "config": { "tools": ["look"] } }])
}

#[tokio::test]
async fn a_declaration_in_a_file_decides_and_its_records_say_so() {
    for output in [Output::Buffered, Output::incremental()] {
        let file = file(output, deny_look());
        let interceptors = Interceptors::from_declaration(file.path(), registry(output)).unwrap();
        let records = Records::default();
        let interceptors = interceptors.records(records.0.clone());
        let agent = ReActAgent::builder("bot").model(looking(json!({}))).tool(look());
        let agent = agent.hook(interceptors).build().unwrap();
        let reply = agent.call("Go").await.unwrap().text();
        assert!(reply.contains("not permitted: acme.denied"), "{reply}");
        let all = records.all();
        assert!(
            all.iter().all(|it| it.declaration.as_deref() == Some("agent-hooks-declaration/1.0"))
        );
        assert_eq!(all[0].verdicts[0].name.as_deref(), Some("no_look"));
    }
}

#[test]
fn a_declaration_that_is_wrong_is_refused_with_its_place() {
    let wrong = [
        (json!([{ "id": "x", "kind": "acme.nothing" }]), DeclarationErrorClass::KindUnknown),
        (
            json!([{ "id": "x", "kind": "acme.deny", "config": {} }]),
            DeclarationErrorClass::BindingRejected,
        ),
        (json!([{ "kind": "acme.deny" }]), DeclarationErrorClass::InvalidField),
    ];
    for (bindings, class) in wrong {
        let file = file(Output::Buffered, bindings);
        let refused = Interceptors::from_declaration(file.path(), registry(Output::Buffered));
        assert_eq!(refused.unwrap_err().code(), class.code());
    }
    // It asks for more than the host has.
    let file = file(Output::incremental(), deny_look());
    assert!(Interceptors::from_declaration(file.path(), registry(Output::Buffered)).is_err());
    assert!(Interceptors::from_declaration("/no/such/file", registry(Output::Buffered)).is_err());
}

#[test]
fn the_declaration_of_the_guide_is_valid() {
    let guide = include_str!("../../../hooks-agent/docs/interceptors.md");
    let document = guide.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let document = HostDeclaration::from_value(serde_json::from_str(document).unwrap()).unwrap();
    let allow = || Box::new(intercept(|_| Verdict::allow()));
    let registry = HostRegistry::new(surface(Output::Buffered))
        .kind("acme.deny_tools", Box::new(move |_, _| Ok(allow())))
        .and_then(|it| it.kind("acme.log", Box::new(move |_, _| Ok(allow()))))
        .and_then(|it| it.approval_resolver("people", Box::new(AskPeople::new())))
        .unwrap();
    let declared = Interceptors::declared(document, registry).unwrap();
    assert_eq!(declared.declaration().unwrap().bindings.len(), 2);
}

#[test]
fn what_a_declaration_says_cannot_be_set_otherwise() {
    let declared = || {
        let file = file(Output::Buffered, deny_look());
        Interceptors::from_declaration(file.path(), registry(Output::Buffered)).unwrap()
    };
    let settings: [fn(Interceptors) -> Interceptors; 4] = [
        |it| it.add("more", intercept(|_| Verdict::allow())),
        |it| it.evaluate_only(true),
        |it| it.output(Output::incremental()),
        |it| it.time_limit(None),
    ];
    for set in settings {
        let set = catch_unwind(AssertUnwindSafe(|| set(declared())));
        let panicked = set.unwrap_err();
        let text = panicked.downcast_ref::<String>().unwrap();
        assert!(text.contains("is part of the declaration"), "{text}");
    }
    let asked = catch_unwind(AssertUnwindSafe(|| declared().ask_people(AskPeople::new())));
    let panicked = asked.unwrap_err();
    let text = panicked.downcast_ref::<&str>().unwrap();
    assert!(text.contains("configuration.approval.resolver"), "{text}");
    // What is not in it can be set.
    let _ = declared().most_bytes(10).records(Records::default().0);
}

#[tokio::test]
async fn a_kind_is_asked_for_each_point_that_is_reached_at_once_and_no_more() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let registry = HostRegistry::new(surface(Output::Buffered)).kind(
        "acme.allow",
        Box::new(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(intercept(|_| Verdict::allow())))
        }),
    );
    let file = file(Output::Buffered, json!([{ "id": "a", "kind": "acme.allow" }]));
    let interceptors = Interceptors::from_declaration(file.path(), registry.unwrap()).unwrap();
    let agent = ReActAgent::builder("bot").model(looking(json!({}))).tool(look());
    let agent = agent.hook(interceptors).build().unwrap();
    for _ in 0..3 {
        agent.call("Go").await.unwrap();
    }
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn people_are_the_resolver_that_a_declaration_names() {
    let people = AskPeople::new();
    let registry = registry(Output::Buffered)
        .kind(
            "acme.ask",
            Box::new(|_, _| {
                Ok(Box::new(intercept(|context| match context.point() {
                    "pre_tool_call" => Verdict::escalate(Some("acme.ask".to_owned()), None),
                    _ => Verdict::allow(),
                })))
            }),
        )
        .unwrap()
        .approval_resolver("people", Box::new(people.clone()))
        .unwrap();
    let mut document = declaration(Output::Buffered);
    document["configuration"]["approval"]["resolver"] = json!("people");
    document["bindings"] = json!([{ "id": "ask", "kind": "acme.ask" }]);
    let document = agent_hooks::HostDeclaration::from_value(document).unwrap();
    let interceptors = Interceptors::declared(document, registry).unwrap().ask_people(people);
    let agent = ReActAgent::builder("bot").model(looking(json!({}))).tool(look());
    let agent = agent.hook(interceptors).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.pending()[0].askers[0].reason, "acme.ask");
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), "I read: {}");
}
