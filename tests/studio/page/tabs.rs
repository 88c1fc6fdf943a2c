//! Several tabs of a browser: one stream for all.

use fantoccini::wd::WindowHandle;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use crate::support::{Lines, Page, open, said, says};

const LIVE: &str = "document.querySelector('#connection').dataset.state === 'live'";

/// How many streams a studio has open at most.
const MOST: usize = 32;

/// Counts the streams of the page at the server: those that this test cannot open beside them.
async fn streams(page: &Page) -> usize {
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let answer = client.get(page.server.url()).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let address = format!("http://{}/api/events", page.server.address());
    let mut ours = Vec::new();
    loop {
        let answer = client.get(&address).header("cookie", &cookie).send().await.unwrap();
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            return MOST - ours.len();
        }
        assert_eq!(answer.status(), StatusCode::OK);
        ours.push(answer);
    }
}

/// Opens another tab at a place of the studio, and goes there.
async fn open_tab(page: &Page, place: &str) -> WindowHandle {
    let tab = page.client.new_window(true).await.unwrap().handle;
    page.client.switch_to_window(tab.clone()).await.unwrap();
    page.client.goto(&format!("http://{}/{place}", page.server.address())).await.unwrap();
    page.until(LIVE).await;
    tab
}

fn greeter(studio: &Studio) -> ReActAgent {
    ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tabs_share_one_stream() {
    let studio = Studio::new();
    let agent = greeter(&studio);
    open(studio, async |page| {
        let first = page.client.window().await.unwrap();
        let second = open_tab(page, "").await;
        let third = open_tab(page, "#/approvals").await;
        agent.call("Good morning").await.unwrap();
        for tab in [third, second, first] {
            page.client.switch_to_window(tab).await.unwrap();
            page.until_text("a.run", "Good morning").await;
            page.until("document.querySelector('a.run .dot.finished')").await;
        }
        assert_eq!(streams(page).await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_joins_late_misses_nothing_and_sees_nothing_twice() {
    let studio = Studio::new();
    let (lines, model) = Lines::new();
    let agent = ReActAgent::builder("writer").model(model).hook(studio.hook()).build().unwrap();
    open(studio, async |page| {
        let call = tokio::spawn(async move { agent.call("Count").await });
        page.open_run("Count").await;
        lines.send(said("one ")).unwrap();
        page.until("document.querySelector('.k-text .prose').textContent === 'one '").await;
        let first = page.client.window().await.unwrap();
        let place = page.eval("location.hash").await;
        let second = open_tab(page, place.as_str().unwrap()).await;
        page.until("document.querySelector('.k-text .prose').textContent === 'one '").await;
        lines.send(said("two ")).unwrap();
        for tab in [second, first] {
            page.client.switch_to_window(tab).await.unwrap();
            page.until("document.querySelector('.k-text .prose').textContent === 'one two '").await;
        }
        drop(lines);
        page.until_text(".k-settled", "Finished").await;
        call.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_stays_when_the_tab_that_opened_it_is_closed() {
    let studio = Studio::new();
    let agent = greeter(&studio);
    open(studio, async |page| {
        let first = page.client.window().await.unwrap();
        let second = open_tab(page, "").await;
        page.client.switch_to_window(first).await.unwrap();
        page.client.close_window().await.unwrap();
        page.client.switch_to_window(second).await.unwrap();
        agent.call("Still there").await.unwrap();
        page.until_text("a.run", "Still there").await;
        page.until(LIVE).await;
        assert_eq!(streams(page).await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_worker_for_all_tabs_each_has_a_stream_of_its_own() {
    // The worker is not there, cannot be made, or its file cannot be loaded.
    let lost = "const Shared = window.SharedWorker;
        window.SharedWorker = class extends Shared {
            constructor(address, options) { super('/api/agents', options); }
        };";
    let scripts = ["delete window.SharedWorker;", "window.SharedWorker = null + 1;", lost];
    for script in scripts {
        let studio = Studio::new();
        let agent = greeter(&studio);
        open(studio, async |page| {
            // A worker that cannot be loaded is told to the console.
            page.may_log();
            page.before_the_page(script).await;
            page.client.refresh().await.unwrap();
            page.until(LIVE).await;
            agent.call("Alone").await.unwrap();
            page.until_text("a.run", "Alone").await;
        })
        .await;
    }
}
