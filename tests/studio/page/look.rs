//! The look of the page: colours, sizes, pictures.

use std::sync::Arc;

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Page, clerk, open, says, tool_then};

const GROUND: &str = "getComputedStyle(document.querySelector('main')).backgroundColor";

/// An agent with a sub-agent and hooks.
fn support(studio: &Studio) -> Arc<ReActAgent> {
    let below = ReActAgent::builder("mechanic").model(says("The disk was full at 3 am.")).build();
    let exact = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input["task"] =
            "Find out why the page is empty, in one sentence".into();
    });
    let task = json!({ "task": "Find out why the page is empty" });
    let agent = ReActAgent::builder("support")
        .model(tool_then("mechanic", task, "A disk was full. The page fills within the hour."))
        .tool(below.unwrap().to_tool("Repairs"))
        .hook(PiiDetection::all().everywhere())
        .hook(exact.named("exact_tasks"))
        .hook(studio.hook())
        .build();
    Arc::new(agent.unwrap())
}

/// A studio with a run of each kind.
async fn busy() -> (Studio, Arc<ReActAgent>) {
    let studio = Studio::new().show_removed(true).show_drafts(true).allow_chat(true);
    let (support, (clerk, _)) = (support(&studio), clerk(&studio));
    support.call("The page of order 17 is empty. Write to ada@example.com").await.unwrap();
    clerk.call("Pay the baker").await.unwrap();
    (studio.agent(support.clone()).agent(clerk), support)
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_follow_the_system_until_a_person_chooses() {
    let (studio, _) = busy().await;
    open(studio, async |page| {
        page.prefer("light").await;
        let light = page.eval(GROUND).await;
        page.prefer("dark").await;
        page.until(&format!("{GROUND} !== {light}")).await;
        let dark = page.eval(GROUND).await;
        page.click("#theme", "Auto").await;
        page.until(&format!("{GROUND} === {light}")).await;
        page.client.refresh().await.unwrap();
        page.until_text("#theme", "Light").await;
        assert_eq!(page.eval(GROUND).await, light);
        page.click("#theme", "Light").await;
        page.prefer("light").await;
        page.until(&format!("{GROUND} === {dark}")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_shows_one_column_without_scrolling_sideways() {
    let (studio, _) = busy().await;
    open(studio, async |page| {
        page.resize(360, 740).await;
        let fits = "document.documentElement.scrollWidth <= 360
            && [...document.querySelectorAll('main, .side')].every((it) => it.scrollWidth <= it.clientWidth)";
        page.until_text("a.run", "order 17").await;
        page.until(fits).await;
        page.open_run("order 17").await;
        page.until_text(".k-settled", "Finished").await;
        page.until(fits).await;
        page.until("!document.querySelector('.side').offsetParent").await;
        page.until_text(".waiting a", "1 tool call waits for a decision").await;
        page.click("a.back", "Runs").await;
        page.until("document.querySelector('.side').offsetParent").await;
        page.click("nav a", "Approvals").await;
        page.until_text(".card", "baker").await;
        page.until(fits).await;
        page.go("#/agents/support").await;
        page.until_text("td", "exact_tasks").await;
        page.until(fits).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn less_motion_stops_all_animations() {
    let studio = Studio::new();
    let (_lines, model) = crate::support::Lines::new();
    let agent = ReActAgent::builder("writer").model(model).hook(studio.hook()).build().unwrap();
    open(studio, async |page| {
        let _call = tokio::spawn(async move { agent.call("Wait").await });
        page.until("document.querySelector('a.run .dot.running')").await;
        let name = "getComputedStyle(document.querySelector('a.run .dot')).animationName";
        assert_eq!(page.eval(name).await, "beat");
        page.prefer_less_motion().await;
        page.until(&format!("{name} === 'none'")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_lists_hooks_and_warnings() {
    let studio = Studio::new();
    let log = hooks_agent_builtin::observe::Logging::to_writer(std::io::sink()).content(true);
    let agent = ReActAgent::builder("support")
        .model(says("Done."))
        .hook(log.with_priority(1))
        .hook(PiiDetection::all())
        .hook(studio.hook())
        .build()
        .unwrap();
    open(studio.agent(Arc::new(agent)), async |page| {
        page.click("nav a", "Agents").await;
        page.click("a.agent", "support").await;
        page.until_text("td", "PiiDetection").await;
        page.until_text("tr", "redacts").await;
        page.until_text(".place", "look.rs").await;
        page.until_text(".warning", "Logging").await;
    })
    .await;
}

async fn pictures(page: &Page, scheme: &str) {
    page.prefer(scheme).await;
    page.resize(1440, 900).await;
    page.go("#/").await;
    page.open_run("order 17").await;
    page.until_text(".k-settled", "Finished").await;
    page.picture(&format!("run-{scheme}")).await;
    page.go("#/approvals").await;
    page.until_text(".card", "baker").await;
    page.picture(&format!("approvals-{scheme}")).await;
    page.go("#/agents/support").await;
    page.until_text("td", "exact_tasks").await;
    page.picture(&format!("plan-{scheme}")).await;
    page.resize(390, 844).await;
    page.go("#/").await;
    page.until("document.querySelector('.side').offsetParent").await;
    page.picture(&format!("phone-list-{scheme}")).await;
    page.open_run("order 17").await;
    page.picture(&format!("phone-run-{scheme}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_show_every_view_in_both_schemes() {
    let (studio, _) = busy().await;
    open(studio, async |page| {
        for scheme in ["light", "dark"] {
            pictures(page, scheme).await;
        }
        let ground: Value = page.eval(GROUND).await;
        assert_ne!(ground, json!("rgb(255, 255, 255)"));
    })
    .await;
}
