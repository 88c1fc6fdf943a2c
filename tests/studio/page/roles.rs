//! A page for a person whose roles show a part of it.
//!
//! The page asks a program that answers in its place: what each role may see is promised elsewhere.

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::json;

use crate::support::{open, says};

/// Answers what a program does that shows this person approvals alone.
const APPROVALS_ALONE: &str = "
    const real = window.fetch;
    const viewer = { user: 'ada', acts: true, parts: ['approvals', 'acting'] };
    window.fetch = async (path, options) => {
        const { pathname } = new URL(path, location.href);
        const answer = (body, status) => new Response(JSON.stringify(body), { status });
        if (pathname === '/api/agents') {
            return answer({ ...await (await real(path, options)).json(), viewer }, 200);
        }
        const isSeen = pathname.startsWith('/api/approvals') || pathname === '/api/remembered';
        return isSeen ? real(path, options) : answer({ error: 'viewer', message: 'not for you' }, 403);
    };
";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_may_not_see_runs_has_the_rest_of_the_page() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    agent.unwrap().call("A secret").await.unwrap();
    open(studio, async |page| {
        page.before_the_page(APPROVALS_ALONE).await;
        page.client.refresh().await.unwrap();
        page.until("document.querySelector('#connection').dataset.state === 'live'").await;
        page.until_text(".empty", "Your roles do not let you see this.").await;
        let views = "[...document.querySelectorAll('[data-nav]:not([hidden])')]
            .map((it) => it.dataset.nav).join()";
        assert_eq!(page.eval(views).await, json!("approvals,agents"));
        page.click("nav a", "Approvals").await;
        page.until_text(".main .missing", "Nothing waits.").await;
    })
    .await;
}
