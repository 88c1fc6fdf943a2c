//! Decisions at the page.

use std::sync::atomic::Ordering;

use hooks_agent::builtin::connect::Studio;
use hooks_agent::prelude::*;
use serde_json::json;

use crate::support::{clerk, open, open_as};

#[tokio::test(flavor = "multi_thread")]
async fn approve_runs_the_tool_exactly_once() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.until("document.title === '(1) Studio'").await;
        page.until("document.querySelector('#icon').href.endsWith('icon-waiting.svg')").await;
        page.until_text(".waiting .card", "\"euros\": 12").await;
        // A double click sends one decision.
        page.until("document.querySelector('.card .primary')").await;
        page.eval("(() => { const it = document.querySelector('.card .primary'); it.click(); it.click(); })()")
            .await;
        page.until("document.title === 'Studio' && !document.querySelector('.card')").await;
        page.until("document.querySelectorAll('a.run .dot.finished').length === 2").await;
        assert_eq!(paid.load(Ordering::SeqCst), 1);
        page.go("#/approvals").await;
        page.until_text(".decided", "approved").await;
        page.until_text(".missing", "Nothing waits.").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_gives_the_model_the_reason() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Deny").await;
        page.until("document.activeElement.ariaLabel === 'Reason'").await;
        page.press("Not today".chars()).await;
        page.click(".card button", "Deny the call").await;
        page.until_text(".decided", "denied").await;
        page.until_text(".decided", "Not today").await;
        page.until("document.querySelectorAll('a.run .dot.finished').length === 2").await;
        page.until_text("a.run", "Resumed: Pay the baker").await;
        page.eval("document.querySelectorAll('a.run')[1].click()").await;
        page.until_text(".k-asked .chip", "denied").await;
        page.until_text(".k-asked", "Not today").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_arguments_are_checked_before_they_run() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        // The program refuses arguments that do not fit: the browser logs the answer.
        page.may_log();
        agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Edit").await;
        let write = async |text: &str| {
            page.eval(&format!(
                "(() => {{ const it = document.querySelector('.card textarea'); it.value = {};
                it.dispatchEvent(new Event('input')); }})()",
                json!(text)
            ))
            .await;
        };
        write("{\"to\": ").await;
        page.until_text(".card .problem", "This is not JSON").await;
        page.until("document.querySelector('.card .primary').disabled").await;
        write("[1]").await;
        page.until_text(".card .problem", "Arguments are a JSON object").await;
        write("{\"to\": \"baker\", \"euros\": \"many\"}").await;
        page.click(".card button", "Approve these").await;
        page.until("document.querySelector('.card .problem').textContent.includes('euros')").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
        write("{\"to\": \"miller\", \"euros\": 7}").await;
        page.click(".card button", "Approve these").await;
        page.until_text(".decided", "approved with other arguments").await;
        page.until("document.querySelectorAll('a.run .dot.finished').length === 2").await;
        page.eval("document.querySelector('a.run').click()").await;
        page.until_text(".k-result", "7 euros to miller").await;
        assert_eq!(paid.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_elsewhere_is_not_decided_again() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        // The second decision is refused: the browser logs the answer.
        page.may_log();
        agent.call("Pay the baker").await.unwrap();
        page.until("document.querySelector('.card .primary')").await;
        // Somebody else decides, and the page does not know it yet.
        let first = page
            .run(
                "window.requestAnimationFrame = (frame) => { window.held = frame; return 0; };
                const { waiting: [it] } = await (await fetch('/api/approvals')).json();
                const body = JSON.stringify({ decision: 'deny', reason: 'no', digest: it.digest });
                const headers = { 'Content-Type': 'application/json' };
                return (await fetch('/api/approvals/' + it.id, { method: 'POST', headers, body })).status;",
            )
            .await;
        assert_eq!(first, json!(200));
        page.eval("document.querySelector('.card .primary').click()").await;
        page.until_text(".card .status", "It was decided before. Nothing was done here.").await;
        page.eval("void (window.requestAnimationFrame = setTimeout, window.held())").await;
        page.click(".card button", "Dismiss").await;
        page.until("!document.querySelector('.card') && document.querySelector('#waiting').hidden").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_wrote_stays_when_somebody_else_decides() {
    let studio = Studio::new();
    let (agent, _) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        let reply = agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Deny").await;
        page.press("Because".chars()).await;
        page.until("document.querySelector('.card textarea').value === 'Because'").await;
        agent.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
        page.until_text(".card .status", "What you wrote was not sent.").await;
        page.until_text(".card .code", "Because").await;
        page.click(".card button", "Dismiss").await;
        page.until("!document.querySelector('.card')").await;
    })
    .await;
}
