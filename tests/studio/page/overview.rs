//! The overview, the hooks, and what a person chooses in the address.

use std::sync::Arc;

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Key, clerk, open, says, tool_then};

/// A studio with a call that waits, one that failed, and two that finished.
pub(crate) async fn busy() -> Studio {
    let studio = Studio::new();
    let (clerk, _) = clerk(&studio);
    let down =
        ScriptedModel::new("down", |_| hooks_agent_core::model::ModelError::status("down", 503));
    let research = ReActAgent::builder("research").model(down).hook(studio.hook()).build().unwrap();
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "sent on Monday");
    let support = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": 17 }), "The parcel is on a lorry."))
        .tool(look)
        .hook(PiiDetection::all().everywhere())
        .hook(studio.hook())
        .build()
        .unwrap();
    clerk.call("Pay the baker").await.unwrap();
    research.call("Find papers").await.unwrap_err();
    support.call("Where is order 17?").await.unwrap();
    support.call("Where is order 18?").await.unwrap();
    studio.agent(clerk)
}

const RUNS: &str = "document.querySelectorAll('a.run').length";

#[tokio::test(flavor = "multi_thread")]
async fn the_first_view_counts_runs_agents_tools_and_hooks() {
    open(busy().await, async |page| {
        page.until_text(".tile.finished .value", "2").await;
        page.until_text(".tile.waiting .value", "1").await;
        page.until_text(".tile.failed .value", "1").await;
        page.until_text("[aria-label=Agents] tbody tr", "support2").await;
        page.until_text("[aria-label=Tools] tbody tr", "look2").await;
        page.until_text("[aria-label=\"Slowest hooks\"] tbody tr", "PiiDetection").await;
        page.until("document.querySelector('.chart svg').ariaLabel.startsWith('4 runs, 1 failed')")
            .await;
        page.picture("overview").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_view_counts_again_when_a_run_ends() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    let agent = agent.unwrap();
    open(studio, async |page| {
        page.until_text(".overview pre", ".hook(studio.hook())").await;
        agent.call("first").await.unwrap();
        page.until_text(".tile.finished .value", "1").await;
        page.eval("document.querySelector('.tile.finished').focus()").await;
        agent.call("second").await.unwrap();
        page.until_text(".tile.finished .value", "2").await;
        page.until("document.activeElement.matches('.tile.finished')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_filters_the_list_and_the_address_keeps_it() {
    open(busy().await, async |page| {
        page.until(&format!("{RUNS} === 4")).await;
        page.click("a.tile", "Failed").await;
        page.until(&format!("{RUNS} === 1")).await;
        page.until("location.hash.includes('state=failed')").await;
        page.client.refresh().await.unwrap();
        page.until_text("a.run", "Find papers").await;
        assert_eq!(page.eval(RUNS).await, json!(1));
        page.open_run("Find papers").await;
        page.until("location.hash.includes('state=failed')").await;
        page.client.back().await.unwrap();
        page.client.back().await.unwrap();
        page.until(&format!("{RUNS} === 4")).await;
        page.click("button", "Waiting 1").await;
        page.until(&format!("{RUNS} === 1")).await;
        page.until("location.hash.includes('state=waiting')").await;
        page.click("button", "Waiting 1").await;
        page.until("location.hash === '#/'").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_is_in_the_address() {
    open(busy().await, async |page| {
        page.click(".ranges a", "Hour").await;
        page.until("location.hash === '#/?since=hour'").await;
        page.until_text(".ranges a[aria-current]", "Hour").await;
        page.client.refresh().await.unwrap();
        page.until_text(".ranges a[aria-current]", "Hour").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_finds_what_runs_say() {
    open(busy().await, async |page| {
        page.until(&format!("{RUNS} === 4")).await;
        page.press(['/']).await;
        page.press("lorry".chars()).await;
        page.until(&format!("{RUNS} === 0")).await;
        page.until_text(".hit mark", "lorry").await;
        page.until_text(".hit .who", "Where is order 17?").await;
        page.until("location.hash === '#/?q=lorry'").await;
        page.click("a.hit", "lorry").await;
        page.until("document.querySelector('.facts') && document.querySelector('.row')").await;
        page.until("/^#.run.[^?]+.at=[0-9]+/.test(location.hash)").await;
        page.client.back().await.unwrap();
        page.until("document.querySelector('.search').value === 'lorry'").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_sorted_and_filtered() {
    open(busy().await, async |page| {
        page.click("nav a", "Hooks").await;
        page.until_text(".main td, .main tbody th", "PiiDetection").await;
        page.until_text("[aria-sort=descending]", "Total").await;
        page.click("button.sort", "Runs").await;
        page.until_text("[aria-sort=descending]", "Runs").await;
        page.until("location.hash === '#/hooks?sort=-runs'").await;
        page.press(['/']).await;
        page.press("pii".chars()).await;
        page.until("document.querySelectorAll('.main tbody tr').length === 1").await;
        page.until("location.hash.includes('name=pii')").await;
        page.client.refresh().await.unwrap();
        page.until("document.querySelectorAll('.main tbody tr').length === 1").await;
        page.picture("hooks").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warnings_of_plans_are_counted_in_the_bar() {
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
        page.until("!document.querySelector('#warning-count').hidden").await;
        page.until_text("#announce", "of plans of agents").await;
        page.click("nav a", "Hooks").await;
        page.until_text(".main .warning", "Logging").await;
        page.click(".warning a", "support").await;
        page.until_text(".plan td", "PiiDetection").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chosen_row_and_what_is_closed_are_in_the_address() {
    open(busy().await, async |page| {
        page.open_run("order 17").await;
        page.until_text(".k-settled", "Finished").await;
        page.press(['j', 'j']).await;
        page.until("document.activeElement.matches('.k-round')").await;
        page.press([Key::Left.into()]).await;
        page.until("/row=.*shut=/.test(location.hash)").await;
        page.client.refresh().await.unwrap();
        page.until("document.activeElement.matches('.k-round[aria-expanded=false]')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_view_has_one_heading_at_every_width() {
    open(busy().await, async |page| {
        let one =
            "[...document.querySelectorAll('h1')].filter((it) => it.offsetParent).length === 1";
        page.until(&format!("{RUNS} === 4")).await;
        for (width, height) in [(1440, 900), (390, 844)] {
            page.resize(width, height).await;
            let places =
                ["", "overview", "approvals", "agents", "agents/clerk", "hooks", "threads"];
            for place in places.into_iter().chain(["threads/clerk/default"]) {
                page.go(&format!("#/{place}")).await;
                page.until(one).await;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_has_the_overview_as_a_view_of_its_own() {
    open(busy().await, async |page| {
        page.resize(360, 740).await;
        let fits = "document.documentElement.scrollWidth <= 360
            && [...document.querySelectorAll('main, .side')].every((it) => it.scrollWidth <= it.clientWidth)";
        page.until(&format!("{RUNS} === 4")).await;
        page.until("!document.querySelector('.overview').offsetParent").await;
        page.click("nav a", "Overview").await;
        page.until_text(".tile.failed .value", "1").await;
        page.until(fits).await;
        page.click("a.tile", "Failed").await;
        page.until("document.querySelector('.side').offsetParent").await;
        page.until(&format!("{RUNS} === 1")).await;
        page.click("nav a", "Hooks").await;
        page.until_text(".main tbody th", "PiiDetection").await;
        page.until(fits).await;
        page.picture("phone-hooks").await;
    })
    .await;
}
