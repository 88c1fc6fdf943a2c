//! The time of a run beside its tree, links to rows, and files.

use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Key, open, tool_then};

/// An agent whose tool takes a while.
fn slow(studio: &Studio) -> ReActAgent {
    let look = FunctionTool::new("look", "Looks.", async |_: Value| {
        tokio::time::sleep(Duration::from_millis(200)).await;
        "seen"
    });
    ReActAgent::builder("watcher")
        .model(tool_then("look", json!({ "order": 17 }), "It is there."))
        .tool(look)
        .hook(studio.hook())
        .build()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_has_its_time_beside_its_tree() {
    let studio = Studio::new();
    let agent = slow(&studio);
    open(studio, async |page| {
        agent.call("Look").await.unwrap();
        page.open_run("Look").await;
        page.until_text(".k-settled", "Finished").await;
        page.until("document.querySelector('.timeline[data-mode=beside] .scale span')").await;
        page.until("document.querySelector('.k-tool .b-tool').offsetWidth > 20").await;
        page.until("/^, done, \\d+ ms$/.test(document.querySelector('.k-tool > .head + .unseen').textContent)")
            .await;
        page.eval("document.querySelector('.k-tool').focus()").await;
        page.press(['+']).await;
        page.until_text(".range", " of ").await;
        page.press(['0']).await;
        page.until("document.querySelector('.range').textContent === ''").await;
        page.eval("document.querySelector('.splitter').focus()").await;
        page.press([Key::Left.into()]).await;
        page.until("document.querySelector('.splitter').ariaValueNow === '46'").await;
        page.picture("time").await;
        page.click(".modes button", "Time").await;
        page.until("document.querySelector('.timeline').dataset.mode === 'tree'").await;
        page.resize(390, 844).await;
        page.click(".modes button", "Time").await;
        page.until("document.querySelector('.timeline').dataset.mode === 'time'").await;
        page.until(
            "!document.querySelector('.k-text') && document.querySelector('.k-tool .b-tool')",
        )
        .await;
        page.picture("phone-time").await;
        page.click(".modes button", "Tree").await;
        page.until("document.querySelector('.k-text')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_leads_to_a_row() {
    let studio = Studio::new();
    let agent = slow(&studio);
    open(studio, async |page| {
        agent.call("Look").await.unwrap();
        page.open_run("Look").await;
        page.until_text(".k-settled", "Finished").await;
        page.eval("document.querySelector('.k-tool').focus()").await;
        page.until("document.querySelector('.k-tool .row-tools a').hash.includes('?at=')").await;
        page.press(['l']).await;
        page.until("location.hash.includes('?at=') && document.querySelector('.k-tool.is-marked')")
            .await;
        let place = page.eval("location.hash").await;
        page.click("button", "Collapse").await;
        page.until("!document.querySelector('.k-tool')").await;
        page.go("#/").await;
        page.until("!document.querySelector('.row')").await;
        page.go(place.as_str().unwrap()).await;
        page.until("document.querySelector('.k-tool.is-marked') === document.activeElement").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_saved_as_the_program_tells_it() {
    let studio = Studio::new();
    let agent = slow(&studio);
    open(studio, async |page| {
        agent.call("Look").await.unwrap();
        page.open_run("Look").await;
        page.until_text(".k-settled", "Finished").await;
        let is_same = page
            .run(
                "let [saved, name] = [null, ''];
                URL.createObjectURL = (blob) => { saved = blob; return 'blob:'; };
                HTMLAnchorElement.prototype.click = function () { name = this.download; };
                const menu = document.querySelector('.menu');
                menu.querySelector('summary').click();
                [...menu.querySelectorAll('button')].find((it) => it.textContent === 'JSON').click();
                while (!name) await new Promise((done) => setTimeout(done, 20));
                const run = location.hash.split('/')[2];
                const told = await (await fetch('/api/runs/' + run)).text();
                return name === 'run-' + run + '.json' && await saved.text() === told;",
            )
            .await;
        assert_eq!(is_same, json!(true));
    })
    .await;
}
