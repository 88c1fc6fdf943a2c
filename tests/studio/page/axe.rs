//! What axe-core finds in the page: nothing that is serious or critical, in any view.
//!
//! `.ci/axe` fetches it. Without it the tests print that they are skipped.

use std::path::Path;

use hooks_fixtures::tell;
use serde_json::json;

use crate::overview::busy;
use crate::support::{Key, Page, open};

/// Findings that keep people out, each with its rule and the elements.
const FOUND: &str = "const { violations } = await axe.run(document, { preload: false,
        resultTypes: ['violations'] });
    return violations.filter((it) => ['serious', 'critical'].includes(it.impact))
        .map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(' ')}`);";

fn axe() -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe/axe.min.js");
    std::fs::read_to_string(file).ok()
}

async fn check(page: &Page, view: &str) {
    assert_eq!(page.run(FOUND).await, json!([]), "{view}");
}

async fn every_view(scheme: &str, width: u32, height: u32) {
    let Some(axe) = axe() else {
        tell("skipped: axe-core is not in target/axe");
        return;
    };
    open(busy().await, async |page| {
        page.prefer(scheme).await;
        page.resize(width, height).await;
        page.client.execute(&axe, Vec::new()).await.unwrap();
        page.go("#/overview").await;
        page.until_text(".tile.failed .value", "1").await;
        check(page, "overview").await;
        page.go("#/").await;
        page.until("document.querySelector('a.run').offsetParent").await;
        check(page, "runs").await;
        page.open_run("Find papers").await;
        page.until_text(".k-settled", "Failed").await;
        check(page, "a run that failed").await;
        page.go("#/").await;
        page.open_run("order 17").await;
        page.until_text(".k-settled", "Finished").await;
        page.eval("document.querySelector('.k-tool').focus()").await;
        check(page, "a run").await;
        page.click(".modes button", "Time").await;
        check(page, "the time of a run").await;
        page.go("#/approvals").await;
        page.until_text(".main .card", "baker").await;
        check(page, "approvals").await;
        page.click(".card button", "Edit").await;
        page.until("document.querySelector('.card textarea')").await;
        check(page, "other arguments").await;
        page.click(".card button", "Cancel").await;
        page.go("#/hooks").await;
        page.until_text(".main tbody th", "PiiDetection").await;
        check(page, "hooks").await;
        page.go("#/agents/clerk").await;
        page.until_text(".plan td", "Studio").await;
        check(page, "an agent").await;
        page.go("#/threads").await;
        page.until("document.querySelector('a.run').offsetParent").await;
        check(page, "conversations").await;
        page.go("#/threads/support/default").await;
        page.until_text("a.step .out", "sent on Monday").await;
        check(page, "a conversation").await;
        let two = "[...document.querySelectorAll('.piece')].map((it) => it.dataset.run).join('/')";
        page.eval(&format!("void (location.hash = '#/compare/' + {two})")).await;
        page.until_text(".difference", "Input").await;
        check(page, "a comparison").await;
        page.press(['?']).await;
        page.until("document.querySelector('dialog[open] kbd')").await;
        check(page, "help").await;
        page.press([Key::Escape.into()]).await;
        page.until("!document.querySelector('dialog')").await;
        page.go("#/?q=lorry").await;
        page.until_text(".hit mark", "lorry").await;
        check(page, "a search").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_window_keeps_nobody_out() {
    every_view("light", 1440, 900).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_dark_window_keeps_nobody_out() {
    every_view("dark", 1440, 900).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_window_keeps_nobody_out() {
    every_view("light", 1024, 768).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_dark_window_keeps_nobody_out() {
    every_view("dark", 1024, 768).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_keeps_nobody_out() {
    every_view("light", 390, 844).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dark_phone_keeps_nobody_out() {
    every_view("dark", 390, 844).await;
}
