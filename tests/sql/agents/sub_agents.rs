//! The threads of sub-agents, which belong to their caller's thread and user.

use std::sync::Arc;

use futures::future::join;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{self, Filter, Store, StoreError, ThreadKey};
use serde_json::json;

use crate::agents::attack::{ADA, echo, echoing, in_time, on_ada, rows};
use crate::agents::gate::Gate;
use crate::agents::stores::{Place, payer, places, sqlite};

/// An agent that gives each task to `poet`, who gives it to `muse`; these are in a store of their own.
fn boss_with(store: Arc<dyn Store>, below: &Arc<dyn Store>) -> ReActAgent {
    let muse = ReActAgent::builder("muse").model(echo()).store(below.clone()).build().unwrap();
    let poet = caller("poet", &muse, below.clone());
    caller("boss", &poet, store)
}

fn boss(store: &Arc<dyn Store>) -> ReActAgent {
    boss_with(store.clone(), store)
}

/// An agent that passes its task to another, and answers with the result.
fn caller(name: &'static str, below: &ReActAgent, store: Arc<dyn Store>) -> ReActAgent {
    let tool = below.name().to_owned();
    let model = ScriptedModel::new(name, move |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => {
                let id = format!("{}", request.messages.len());
                ToolUse::new(id, &tool, json!({ "task": request.last_text() })).into()
            }
        }
    });
    let tool = below.to_tool("Writes");
    ReActAgent::builder(name).model(model).tool(tool).store(store).build().unwrap()
}

async fn threads(store: &dyn Store, filter: Filter) -> Vec<String> {
    let found = store.threads(filter).await.unwrap();
    let mut names: Vec<_> = found.iter().map(|info| info.key.agent().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_user_has_the_threads_of_sub_agents_and_is_forgotten_with_them() {
    for place in places().await {
        let store = place.open().await;
        let agent = boss(&store);
        agent.call_with(on_ada().user("ada"), "secret").await.unwrap();
        let of_ada = || Filter::all().user("ada");
        assert_eq!(threads(&*store, of_ada()).await, ["boss", "muse", "poet"]);
        store.forget(of_ada()).await.unwrap();
        assert_eq!(threads(&*store, Filter::all()).await, [""; 0]);
        if let Place::Sqlite(_) = place {
            assert!(!rows(&place).await.contains("secret"));
        }
        // Nor does the process remember it.
        assert_eq!(agent.call_with(on_ada(), "hello").await.unwrap().text(), "hello");
    }
}

#[tokio::test]
async fn a_thread_without_a_user_is_forgotten_with_those_of_its_sub_agents() {
    for place in places().await {
        let store = place.open().await;
        let agent = boss(&store);
        agent.call_with(on_ada(), "secret").await.unwrap();
        agent.call_with(CallOptions::new().thread("bob"), "other").await.unwrap();
        // One that no call of the thread began stays.
        echoing(store.clone()).call_with(on_ada(), "apart").await.unwrap();
        let of_ada = Filter::agent("boss").thread(ADA);
        assert_eq!(store.forget(of_ada).await.unwrap(), 3);
        assert_eq!(threads(&*store, Filter::all()).await, ["boss", "clerk", "muse", "poet"]);
    }
}

#[tokio::test]
async fn an_agent_forgets_the_threads_of_its_tools_in_their_stores() {
    for (place, other) in places().await.into_iter().zip(places().await) {
        let (store, below) = (place.open().await, other.open().await);
        let agent = boss_with(store.clone(), &below);
        agent.call_with(on_ada(), "secret").await.unwrap();
        assert_eq!(threads(&*below, Filter::all()).await, ["muse", "poet"]);
        assert!(agent.forget(ADA).await.unwrap());
        assert_eq!(threads(&*store, Filter::all()).await, [""; 0]);
        assert_eq!(threads(&*below, Filter::all()).await, [""; 0]);
        assert!(!agent.forget(ADA).await.unwrap());
        assert_eq!(agent.call_with(on_ada(), "hello").await.unwrap().text(), "hello");
    }
}

#[tokio::test]
async fn a_thread_stays_while_a_call_owns_one_of_its_sub_agents() {
    let place = sqlite();
    let store = place.open().await;
    boss(&store).call_with(on_ada(), "secret").await.unwrap();
    let owned = "UPDATE thread SET owner = 'x', lease_until = 9e15 WHERE agent = 'muse'";
    place.execute(owned).await;
    assert_eq!(store.forget(Filter::agent("boss")).await.unwrap(), 0);
    assert_eq!(threads(&*store, Filter::all()).await, ["boss", "muse", "poet"]);
    place.execute("UPDATE thread SET owner = NULL").await;
    assert_eq!(store.forget(Filter::agent("boss").limit(1)).await.unwrap(), 3);
}

#[tokio::test]
async fn an_export_has_the_threads_of_sub_agents() {
    for (place, other) in places().await.into_iter().zip(places().await) {
        let (here, there) = (place.open().await, other.open().await);
        boss(&here).call_with(on_ada().user("ada"), "secret").await.unwrap();
        let key = ThreadKey::new("boss", ADA).unwrap();
        let mut lines = Vec::new();
        store::export(&*here, &key, &mut lines).await.unwrap();
        assert_eq!(store::import(&*there, &*lines).await.unwrap(), key);
        let of_ada = || Filter::all().user("ada");
        assert_eq!(threads(&*there, of_ada()).await, ["boss", "muse", "poet"]);
        for agent in ["boss", "poet", "muse"] {
            let key = ThreadKey::new(agent, ADA).unwrap();
            let (one, two) =
                (here.history(&key).await.unwrap(), there.history(&key).await.unwrap());
            assert!(!one.is_empty());
            assert_eq!(one, two, "{agent}");
        }
        // It knows the threads that belong to it, and one that is there is not replaced.
        assert_eq!(there.forget(Filter::agent("boss").thread(ADA)).await.unwrap(), 3);
        boss(&there).call_with(CallOptions::new().thread("bob"), "other").await.unwrap();
        let muse = ReActAgent::builder("muse").model(echo()).store(there.clone()).build().unwrap();
        muse.call_with(on_ada(), "mine").await.unwrap();
        let error = store::import(&*there, &*lines).await.unwrap_err();
        let store::ImportError::Store(StoreError::Conflict { .. }) = error else {
            panic!("{error}")
        };
        assert_eq!(threads(&*there, of_ada()).await, [""; 0]);
    }
}

#[tokio::test]
async fn an_export_that_lacks_a_thread_is_not_imported() {
    let (place, other) = (sqlite(), sqlite());
    let (here, there) = (place.open().await, other.open().await);
    boss(&here).call_with(on_ada(), "secret").await.unwrap();
    let mut lines = Vec::new();
    store::export(&*here, &ThreadKey::new("boss", ADA).unwrap(), &mut lines).await.unwrap();
    let text = String::from_utf8(lines).unwrap();
    let all: Vec<_> = text.lines().collect();
    for count in 0..all.len() {
        let cut: String = all[..count].iter().flat_map(|line| [line, "\n"]).collect();
        assert!(store::import(&*there, cut.as_bytes()).await.is_err(), "{count} lines");
    }
    assert_eq!(threads(&*there, Filter::all()).await, [""; 0]);
    assert!(store::import(&*there, text.as_bytes()).await.is_ok());
}

#[tokio::test]
async fn a_thread_that_is_taken_over_takes_those_of_its_sub_agents_with_it() {
    for place in places().await {
        let store = place.open().await;
        let agent = boss(&store);
        agent.call_with(on_ada().user("bob"), "one").await.unwrap();
        agent.call_with(on_ada().user("eve").take_over(true), "two").await.unwrap();
        let of_eve = || Filter::all().user("eve");
        assert_eq!(threads(&*store, of_eve()).await, ["boss", "muse", "poet"]);
        assert_eq!(
            agent.call_with(on_ada().user("eve"), "three").await.unwrap().text(),
            "one|two|three"
        );
    }
}

#[tokio::test]
async fn a_sub_agent_does_not_tell_another_user_what_it_knows() {
    for place in places().await {
        let store = place.open().await;
        let muse = ReActAgent::builder("muse").model(echo()).store(store.clone()).build().unwrap();
        muse.call_with(on_ada().user("bob"), "secret").await.unwrap();
        let agent = boss(&store);
        for _ in 0..2 {
            let reply = agent.call_with(on_ada().user("eve"), "tell").await.unwrap();
            assert!(!reply.text().contains("secret"), "{}", reply.text());
            assert!(reply.text().contains("belongs to another user"), "{}", reply.text());
        }
        // The thread of bob is none that belongs to hers.
        assert!(agent.forget(ADA).await.unwrap());
        assert_eq!(threads(&*store, Filter::all().user("bob")).await, ["muse"]);
    }
}

#[tokio::test]
async fn an_import_does_not_decide_whose_the_threads_of_others_are() {
    for place in places().await {
        let store = place.open().await;
        let muse = ReActAgent::builder("muse").model(echo()).store(store.clone()).build().unwrap();
        muse.call_with(on_ada().user("bob"), "secret").await.unwrap();
        let line = format!(
            r#"{{"v":1,"agent":"boss","thread":"{ADA}","user":"eve","rows":0,"values":{{"mine":1,
            "hooks_agent/sub_threads":[{{"agent":"muse","thread":"{ADA}"}}]}}}}"#
        );
        let line = line.replace('\n', "") + "\n";
        let key = store::import(&*store, line.as_bytes()).await.unwrap();
        assert_eq!(store.values(&key).await.unwrap().keys().collect::<Vec<_>>(), ["mine"]);
        let agent = boss(&store);
        let told = agent.call_with(on_ada().user("eve"), "tell").await.unwrap();
        assert!(!told.text().contains("secret"), "{}", told.text());
        store.forget(Filter::all().user("eve")).await.unwrap();
        assert_eq!(threads(&*store, Filter::all().user("bob")).await, ["muse"]);
    }
}

#[tokio::test]
async fn threads_that_stay_do_not_count_for_the_limit_of_forget() {
    for place in places().await {
        let store = place.open().await;
        let agent = boss(&store);
        for thread in ["1", "2", "3"] {
            agent.call_with(CallOptions::new().thread(thread), "note").await.unwrap();
        }
        let gate = Gate::new();
        let model = payer([ToolUse::new("1", "wait", json!({}))]);
        let muse = ReActAgent::builder("muse").model(model).tool(gate.tool("wait"));
        let muse = muse.store(store.clone()).build().unwrap();
        let owned = muse.call_with(CallOptions::new().thread("1"), "Pay");
        let forget = async {
            gate.entered().await;
            let mut counts = Vec::new();
            for _ in 0..3 {
                counts.push(store.forget(Filter::agent("boss").limit(1)).await.unwrap());
            }
            gate.open();
            counts
        };
        let (reply, counts) = in_time(join(owned, forget)).await;
        reply.unwrap();
        assert_eq!(counts, [3, 3, 0]);
        assert_eq!(threads(&*store, Filter::all()).await, ["boss", "muse", "poet"]);
    }
}
