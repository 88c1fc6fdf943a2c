//! What is in memory of a reply that was changed or denied.

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::answer::Streaming;
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::prelude::*;
use hooks_agent_core::thread::MemoryStore;

use crate::support::{all_of, at, deciding, deny, memory_of, saying, transform};

#[tokio::test]
async fn a_denied_reply_is_nowhere() {
    let (interceptors, _) = deciding(at("output", |_| deny("secrets")));
    let agent = saying("The secret is XLII.", interceptors);
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("XLII"), "{seen}");
    assert!(memory_of(&agent).contains("[the reply was withheld]"));
}

#[tokio::test]
async fn a_changed_reply_is_nowhere_as_it_was() {
    let (interceptors, _) = deciding(at("output", |_| transform("$target.content", "Hello.")));
    let agent = saying("The secret is XLII.", interceptors);
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("XLII"), "{seen}");
    assert!(memory_of(&agent).contains("Hello."));
}

#[tokio::test]
async fn subscribers_get_the_reply_after_its_verdict() {
    for (verdict, expected) in
        [(deny("secrets"), "[]"), (transform("$target.content", "Hello."), "Hello.")]
    {
        let (interceptors, _) = deciding(at("output", move |_| verdict.clone()));
        let agent = saying("The secret is XLII.", interceptors);
        let model = ScriptedModel::new("listener", |_| "I listen.");
        let listener = Arc::new(ReActAgent::builder("listener").model(model).build().unwrap());
        let observer: Arc<dyn Agent> = listener.clone();
        agent.state().subscribe(&observer);
        let _ = agent.call("Go").await;
        let heard = memory_of(&listener);
        assert!(heard.contains(expected) && !heard.contains("XLII"), "{heard}");
    }
}

#[tokio::test]
async fn the_next_call_does_not_tell_the_model_what_was_withheld() {
    let (interceptors, _) = deciding(at("output", |context| {
        if context["output"]["content"].as_str().unwrap().contains("secret") {
            deny("secrets")
        } else {
            agent_hooks::Verdict::allow()
        }
    }));
    let model = ScriptedModel::new("scripted", |request| match request.messages.len() {
        1 => "The secret is XLII.".to_owned(),
        _ => request.messages.iter().map(Msg::text).collect::<Vec<_>>().join("|"),
    });
    let agent = ReActAgent::builder("sayer").model(model).hook(interceptors).build().unwrap();
    assert!(agent.call("Go").await.is_err());
    let reply = agent.call("Go on").await.unwrap().text();
    assert_eq!(reply, "Go|[the reply was withheld]|Go on");
}

/// A writer that others read.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn hooks_that_show_answers_elsewhere_leave_out_what_waits_for_its_verdict() {
    for is_denied in [true, false] {
        let (interceptors, _) = deciding(at("output", move |_| {
            if is_denied { deny("secrets") } else { agent_hooks::Verdict::allow() }
        }));
        let told = Arc::new(Mutex::new(String::new()));
        let heard = told.clone();
        let streaming = Streaming::to_callback(move |event| {
            heard.lock().unwrap().push_str(&serde_json::to_string(&event).unwrap());
        });
        let written = Written::default();
        let trace = JsonlTrace::to_writer(written.clone());
        let model = ScriptedModel::new("scripted", |_| "The secret is XLII.");
        let agent = ReActAgent::builder("sayer").model(model).hook(streaming);
        let agent = agent.hook(trace.open().unwrap()).hook(interceptors).build().unwrap();
        assert_eq!(agent.call("Go").await.is_err(), is_denied);
        let trace = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let told = told.lock().unwrap();
        assert!(!told.contains("XLII") && !trace.contains("XLII"), "{told}\n{trace}");
        assert!(trace.contains("final_message"), "{trace}");
    }
}

#[tokio::test]
async fn a_store_has_no_reply_that_was_withheld() {
    for (verdict, expected) in [
        (deny("secrets"), "[the reply was withheld]"),
        (transform("$target.content", "Hello."), "Hello."),
    ] {
        let store = MemoryStore::new();
        let (interceptors, _) = deciding(at("output", move |_| verdict.clone()));
        let model = ScriptedModel::new("scripted", |_| "The secret is XLII.");
        let agent = ReActAgent::builder("sayer").model(model).store(store.clone());
        let agent = agent.hook(interceptors).build().unwrap();
        drop(agent.call_with(CallOptions::new().thread("t"), "Go").await);
        drop(agent);
        // Another process goes on with the thread.
        let model = ScriptedModel::new("echo", |request| {
            request.messages.iter().map(Msg::text).collect::<Vec<_>>().join("|")
        });
        let agent = ReActAgent::builder("sayer").model(model).store(store).build().unwrap();
        let reply = agent.call_with(CallOptions::new().thread("t"), "Go on").await.unwrap();
        assert_eq!(reply.text(), format!("Go|{expected}|Go on"));
    }
}
