//! Live updates of the page.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Lines, clerk, open, open_as, said, says, tool_then};

fn streaming(
    studio: &Studio,
) -> (tokio::sync::mpsc::UnboundedSender<hooks_agent_core::model::ChatChunk>, Arc<ReActAgent>) {
    let (lines, model) = Lines::new();
    let agent = ReActAgent::builder("writer").model(model).hook(studio.hook()).build().unwrap();
    (lines, Arc::new(agent))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_appears_when_an_agent_is_called() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    let agent = agent.unwrap();
    open(studio, async |page| {
        page.until_text(".empty", "No runs yet.").await;
        page.until_text(".empty", ".hook(studio.hook())").await;
        agent.call_with(CallOptions::new().thread("ada"), "Good morning").await.unwrap();
        page.until_text("a.run", "Good morning").await;
        page.until_text("a.run", "greeter · ada").await;
        page.until("document.querySelector('a.run .dot.finished')").await;
        page.open_run("Good morning").await;
        page.until_text(".k-text", "Hello.").await;
        page.until_text(".k-settled", "Finished").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_grows_while_it_streams() {
    let studio = Studio::new();
    let (lines, agent) = streaming(&studio);
    open(studio, async |page| {
        let call = tokio::spawn(async move { agent.call("Count").await });
        page.open_run("Count").await;
        lines.send(said("one ")).unwrap();
        page.until("document.querySelector('.k-text .prose').textContent === 'one '").await;
        page.eval("void (window.kept = document.querySelector('.k-text .prose').firstChild)").await;
        lines.send(said("two ")).unwrap();
        page.until("document.querySelector('.k-text .prose').textContent === 'one two '").await;
        page.until("document.querySelector('.run-title .chip').textContent === 'Running'").await;
        drop(lines);
        page.until_text(".k-settled", "Finished").await;
        // The text was appended to; a selection in it stays.
        assert_eq!(
            page.eval("window.kept.isConnected && window.kept.data").await,
            json!("one two ")
        );
        call.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_call_is_interrupted_from_the_page() {
    let studio = Studio::new();
    let (lines, agent) = streaming(&studio);
    let studio = studio.agent(agent.clone());
    open(studio, async |page| {
        let call = tokio::spawn(async move { agent.call("Count").await });
        page.open_run("Count").await;
        lines.send(said("one ")).unwrap();
        page.click("button", "Interrupt").await;
        page.until_text(".run-title .chip", "Interrupted").await;
        page.until("document.querySelector('a.run .dot.interrupted')").await;
        drop(call);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_is_below_the_tool_call_that_it_serves() {
    let studio = Studio::new();
    let below = ReActAgent::builder("mechanic").model(says("The disk was full.")).build().unwrap();
    let model = tool_then("mechanic", json!({ "task": "Find out why" }), "Repaired.");
    let agent = ReActAgent::builder("chief")
        .model(model)
        .tool(below.to_tool("Repairs machines"))
        .hook(studio.hook())
        .build()
        .unwrap();
    open(studio, async |page| {
        agent.call("The site is down").await.unwrap();
        page.until_text("a.run", "1 sub-agent").await;
        page.open_run("The site is down").await;
        page.until_text(".k-text", "The disk was full.").await;
        let level = |kind: &str| format!("Number(document.querySelector('{kind}').ariaLevel)");
        let (tool, run) = (page.eval(&level(".k-tool")).await, page.eval(&level(".k-run")).await);
        assert_eq!(run.as_u64(), tool.as_u64().map(|tool| tool + 1));
        assert_eq!(page.eval("document.querySelectorAll('a.run').length").await, json!(1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_show_the_same() {
    let studio = Studio::new();
    let (agent, _) = clerk(&studio);
    let studio = studio.agent(agent.clone());
    open_as("#/approvals", studio, async |page| {
        let first = page.client.window().await.unwrap();
        let second = page.client.new_window(true).await.unwrap().handle;
        page.client.switch_to_window(second.clone()).await.unwrap();
        page.client.goto(&format!("http://{}/", page.server.address())).await.unwrap();
        page.until("document.querySelector('#connection').dataset.state === 'live'").await;
        agent.call("Pay the baker").await.unwrap();
        page.until_text("a.run", "Pay the baker").await;
        page.until_text(".card", "pay").await;
        page.client.switch_to_window(first).await.unwrap();
        page.click(".card button", "Approve").await;
        page.until_text(".decided", "approved").await;
        page.client.switch_to_window(second).await.unwrap();
        page.until("!document.querySelector('.card') && document.title === 'Studio'").await;
        page.until("document.querySelectorAll('a.run').length === 2").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_loads_again_when_the_program_comes_back() {
    let studio = Studio::new().token("a-token-of-this-test");
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    let agent = agent.unwrap();
    open(studio.clone(), async |page| {
        // The browser logs the requests that fail meanwhile.
        page.may_log();
        agent.call("Before").await.unwrap();
        page.until_text("a.run", "Before").await;
        page.server.shutdown().await;
        page.until_text("#connection", "Reconnecting").await;
        agent.call("Meanwhile").await.unwrap();
        let again = studio.bind(page.server.address().to_string()).await.unwrap();
        let serving = tokio::spawn(again.serve());
        page.until_text("#connection", "Live").await;
        page.until_text("a.run", "Meanwhile").await;
        assert_eq!(page.eval("document.querySelectorAll('a.run').length").await, json!(2));
        again.shutdown().await;
        serving.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_behind_loads_again() {
    let studio = Studio::new().token("a-token-of-this-test").capacity(3, 100, 1 << 20);
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    let agent = agent.unwrap();
    open(studio.clone(), async |page| {
        // The browser logs the requests that fail meanwhile.
        page.may_log();
        agent.call("first").await.unwrap();
        page.open_run("first").await;
        page.server.shutdown().await;
        page.until_text("#connection", "Reconnecting").await;
        for text in ["second", "third", "fourth", "fifth"] {
            agent.call(text).await.unwrap();
        }
        let again = studio.bind(page.server.address().to_string()).await.unwrap();
        let serving = tokio::spawn(again.serve());
        // The entries between are gone, so the page asks for what there is.
        page.until_text("a.run", "fifth").await;
        page.until_text("#connection", "Live").await;
        assert_eq!(page.eval("document.querySelectorAll('a.run').length").await, json!(3));
        page.until_text("h1", "This run is not here").await;
        again.shutdown().await;
        serving.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_to_an_agent() {
    let studio = Studio::new().allow_chat(true);
    let echo = ScriptedModel::new("echo", |request| format!("you said: {}", request.last_text()));
    let agent = ReActAgent::builder("echo").model(echo).hook(studio.hook()).build().unwrap();
    open_as("#/agents/echo", studio.agent(Arc::new(agent)), async |page| {
        page.until("document.querySelector('.composer textarea')").await;
        page.eval("document.querySelector('.composer textarea').focus()").await;
        page.press("hello".chars()).await;
        page.click(".composer button", "Send").await;
        page.until_text(".k-text", "you said: hello").await;
        assert_eq!(page.eval("location.hash.startsWith('#/run/')").await, Value::Bool(true));
    })
    .await;
}
