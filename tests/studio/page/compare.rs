//! The comparison of two runs.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Page, open, says, tool_then};

/// Opens the comparison of the runs whose lines in the list have these texts.
async fn compare(page: &Page, one: &str, other: &str) {
    page.open_run(one).await;
    page.click(".head-actions a", "Compare with").await;
    page.until_text(".hint", one).await;
    page.click("a.run", other).await;
    page.until("/^#.compare.[^/]+.[^/]+/.test(location.hash)").await;
    page.until("document.querySelector('.verdict')").await;
}

/// An agent that looks an order up, with a result and an answer that depend on the question.
fn support(studio: &Studio) -> Arc<ReActAgent> {
    let look = FunctionTool::new("look", "Looks.", async |order: Value| {
        if order["order"] == 17 { "sent on Monday" } else { "lost on Monday" }
    });
    let track = FunctionTool::new("track", "Tracks.", async |_: Value| "on a lorry");
    let model = ScriptedModel::new("script", |request: &ChatRequest| -> ScriptedAnswer {
        let asked = request.messages.iter().next().map(Msg::text).unwrap_or_default();
        let is_first = asked.contains("17");
        let order = json!({ "order": if is_first { 17 } else { 18 } });
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) if is_first => "Dear customer,\nit is sent.\nYours".into(),
            Some(_) => "Dear customer,\nit is lost.\nYours".into(),
            None if is_first => ToolUse::new("call-1", "look", order).into(),
            None => ScriptedAnswer::from(vec![
                ContentBlock::ToolUse(ToolUse::new("call-1", "look", order)),
                ContentBlock::ToolUse(ToolUse::new("call-2", "track", json!({}))),
            ]),
        }
    });
    let refuse = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "track" => event.refuse("nobody tracks"),
        _ => Flow::Continue,
    });
    let agent = ReActAgent::builder("support")
        .model(model)
        .tool(look)
        .tool(track)
        .hook(refuse.named("guard"))
        .hook(studio.hook())
        .build();
    Arc::new(agent.unwrap())
}

/// Calls an agent, each time on a thread of its own.
async fn ask(agent: &ReActAgent, texts: &[&str]) {
    for (at, text) in texts.iter().enumerate() {
        let thread = format!("thread-{at}");
        agent.call_with(CallOptions::new().thread(thread), *text).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_do_the_same_are_the_same() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    ask(&agent.unwrap(), &["Good morning", "Good morning"]).await;
    open(studio, async |page| {
        page.open_run("Good morning").await;
        let other = "[...document.querySelectorAll('a.run')].find((it) => !it.ariaCurrent).getAttribute('href')";
        let address = format!("'#/compare/' + location.hash.split('/')[2].split('?')[0] + '/' + {other}.split('/')[2]");
        page.eval(&format!("void (location.hash = {address})")).await;
        page.until_text(".verdict.same", "The runs are the same.").await;
        assert_eq!(page.eval("document.querySelectorAll('.difference').length").await, json!(0));
        page.until_text(".part-of h2", "Round 1").await;
        page.until_text("table tr", "Tokens").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_run_is_chosen_among_those_of_the_agent() {
    let studio = Studio::new();
    let support = support(&studio);
    let greeter = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    ask(&support, &["Where is order 17?", "Where is order 18?"]).await;
    greeter.unwrap().call("Good morning").await.unwrap();
    open(studio, async |page| {
        page.open_run("order 17").await;
        page.click(".head-actions a", "Compare with").await;
        page.until("document.querySelectorAll('#side a.run').length === 2").await;
        page.until("location.hash.endsWith('?agent=support')").await;
        page.until_text("h1", "Compare two runs").await;
        page.click("#side a.run", "order 18").await;
        page.until_text(".compared li:nth-child(1)", "order 17").await;
        page.until_text(".compared li:nth-child(2)", "order 18").await;
        page.client.refresh().await.unwrap();
        page.until_text(".verdict", "The runs differ in").await;
        page.click(".head-actions a", "Swap").await;
        page.until_text(".compared li:nth-child(1)", "order 18").await;
        page.click(".compared a", "order 17").await;
        page.until("document.querySelector('.run-title h1').textContent === 'Where is order 17?'")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn differences_are_told_in_their_order() {
    let studio = Studio::new();
    ask(&support(&studio), &["Where is order 17?", "Where is order 18?"]).await;
    open(studio, async |page| {
        compare(page, "order 17", "order 18").await;
        page.until_text(".verdict", "The runs differ in").await;
        let parts = page
            .eval("[...document.querySelectorAll('.part-of h2')].map((it) => it.textContent)")
            .await;
        let track = "Round 1, track in the second run alone";
        assert_eq!(
            parts,
            json!(["Input", "Round 1", "Round 1, look", track, "Round 2", "End", "Numbers"])
        );
        let changed = page
            .eval(
                "[...document.querySelectorAll('.part-of')].map((it) => [...it.querySelectorAll('.difference')]
                    .map((it) => it.querySelector('h3').textContent).join())",
            )
            .await;
        let alone = "Arguments,End,Result,Hooks";
        assert_eq!(
            changed,
            json!(["Input", "", "Arguments,Result", alone, "Number of messages,Answer", "", ""])
        );
        // Only the words that differ are marked in a line that both have.
        let marked = "[...document.querySelectorAll('.texts')].map((it) =>
            [...it.querySelectorAll('.both :is(del, ins)')].map((it) => it.textContent).join('>'))";
        let marked = page.eval(marked).await;
        assert!(marked.as_array().unwrap().contains(&json!("sent>lost")), "{marked}");
        page.until_text(".texts ins", "guard at PRE_ACTING: refuse").await;
        page.until_text(".texts div", "Dear customer,").await;
        page.picture("comparison").await;
        page.press(['x']).await;
        page.until("document.activeElement === document.querySelectorAll('.difference')[0]").await;
        page.press(['x', 'x', 'X']).await;
        page.until("document.activeElement === document.querySelectorAll('.difference')[1]").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_not_compared() {
    let studio = Studio::new().show_content(false);
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "a secret result");
    let agent = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": "a secret order" }), "A secret answer."))
        .tool(look)
        .hook(studio.hook())
        .build()
        .unwrap();
    ask(&agent, &["A secret question", "A secret question"]).await;
    open(studio, async |page| {
        page.until("document.querySelectorAll('a.run .dot.finished').length === 2").await;
        let address = "'#/compare/' + [...document.querySelectorAll('a.run')]
            .map((it) => it.getAttribute('href').split('/')[2]).join('/')";
        page.eval(&format!("void (location.hash = {address})")).await;
        page.until_text(".verdict", "What is shown of the runs is the same.").await;
        page.until_text(".verdict", "cannot be compared").await;
        for what in ["input (in both)", "arguments (in both)", "result (in both)"] {
            page.until_text(".part-of p", what).await;
        }
        page.until_text(".part-of p", "The same: model").await;
        let seen = "/secret/i.test(document.documentElement.outerHTML)";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_not_here_is_named() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    agent.unwrap().call("Good morning").await.unwrap();
    open(studio, async |page| {
        // The browser logs the answer that is no success.
        page.may_log();
        page.open_run("Good morning").await;
        let gone = "00000000-0000-4000-8000-000000000000";
        page.eval(&format!("void (location.hash = `#/compare/${{location.hash.split('/')[2].split('?')[0]}}/{gone}`)")).await;
        page.until_text(".comparison .problem", "The second run is not here").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_fits_a_phone() {
    let studio = Studio::new();
    ask(&support(&studio), &["Where is order 17?", "Where is order 18?"]).await;
    open(studio, async |page| {
        page.resize(360, 740).await;
        compare(page, "order 17", "order 18").await;
        page.until(
            "document.documentElement.scrollWidth <= 360
            && [...document.querySelectorAll('main')].every((it) => it.scrollWidth <= it.clientWidth)
            && [...document.querySelectorAll('h1')].filter((it) => it.offsetParent).length === 1",
        )
        .await;
        page.until_text(".difference", "Result").await;
    })
    .await;
}
