//! Long runs.

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support::open;

const CALLS: usize = 50;
const ROUNDS: usize = 70;

/// An agent that makes this many tool calls in this many rounds, once the page is there.
fn probing(studio: &Studio, opened: watch::Receiver<bool>) -> ReActAgent {
    let rounds = std::sync::atomic::AtomicUsize::new(0);
    let model = ScriptedModel::new("script", move |_| -> ScriptedAnswer {
        let round = rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if round == ROUNDS {
            return "All probed.".into();
        }
        let call = |step| {
            let (id, step) = (format!("{round}-{step}"), round * CALLS + step);
            ContentBlock::ToolUse(ToolUse::new(id, "probe", json!({ "step": step })))
        };
        (0..CALLS).map(call).collect::<Vec<_>>().into()
    });
    let probe = FunctionTool::new("probe", "Probes.", move |it: Value| {
        let mut opened = opened.clone();
        async move {
            opened.wait_for(|is_open| *is_open).await.expect("the test opens the page");
            format!("probed {it}")
        }
    });
    ReActAgent::builder("prober")
        .model(model)
        .tool(probe)
        .max_iters(ROUNDS + 1)
        .hook(studio.hook())
        .build()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_entries_stay_responsive() {
    let studio = Studio::new().capacity(10, 100_000, 256 << 20);
    let (page_is_open, opened) = watch::channel(false);
    let agent = probing(&studio, opened);
    open(studio, async |page| {
        // The page follows the run while it goes on.
        let call = tokio::spawn(async move { agent.call("Probe").await.map(|_| ()) });
        page.open_run("Probe").await;
        page_is_open.send(true).unwrap();
        call.await.unwrap().unwrap();
        page.until_text(".k-settled", "Finished").await;
        let entries = page.run("return (await (await fetch('/api/runs')).json()).runs[0].events;").await;
        assert!(entries.as_u64().unwrap() > 10_000, "{entries}");

        page.go("#/").await;
        page.until("document.querySelector('.overview')").await;
        let measured = page
            .run(
                "const frame = () => new Promise(requestAnimationFrame);
                const begin = performance.now();
                document.querySelector('a.run').click();
                while (!document.querySelector('.row')) await frame();
                const opened = performance.now() - begin;
                const main = document.querySelector('main');
                const rows = () => document.querySelectorAll('.row').length;
                let [longest, most, last] = [0, 0, performance.now()];
                for (let step = 0; step <= 100; step += 1) {
                    main.scrollTop = main.scrollHeight * step / 100;
                    await frame();
                    longest = Math.max(longest, performance.now() - last);
                    last = performance.now();
                    most = Math.max(most, rows());
                }
                const pressed = performance.now();
                document.querySelector('.row').focus();
                for (let step = 0; step < 50; step += 1) {
                    document.activeElement.dispatchEvent(
                        new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
                }
                const keys = (performance.now() - pressed) / 50;
                const collapsing = performance.now();
                [...document.querySelectorAll('button')].find((it) => it.textContent === 'Collapse').click();
                await frame();
                const collapsed = performance.now() - collapsing;
                return { opened, longest, keys, collapsed, most, nodes: document.querySelectorAll('*').length };",
            )
            .await;
        println!("{entries} entries: {measured}");
        let most = |name: &str| measured[name].as_f64().unwrap_or(f64::MAX);
        assert!(most("most") < 1_000.0, "{measured}");
        assert!(most("nodes") < 20_000.0, "{measured}");
        assert!(most("opened") < 5_000.0 && most("longest") < 2_000.0, "{measured}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scripts_of_the_page_are_less_than_120_kb_on_their_way() {
    open(Studio::new(), async |page| {
        let scripts =
            "performance.getEntriesByType('resource').filter((it) => /\\.js$/.test(it.name))";
        let count = page.eval(&format!("{scripts}.length")).await.as_u64().unwrap();
        let bytes = format!("{scripts}.reduce((sum, it) => sum + it.encodedBodySize, 0)");
        let bytes = page.eval(&bytes).await.as_u64().unwrap();
        assert!(count > 40, "{count}");
        assert!(bytes < 120_000, "{bytes}");
    })
    .await;
}
