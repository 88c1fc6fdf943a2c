//! The keyboard alone.

use std::sync::atomic::Ordering;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::json;

use crate::overview::busy;
use crate::support::{Key, clerk, open, says};

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_alone_approves() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.until("document.querySelector('.waiting .card')").await;
        page.press(['a']).await;
        page.until("document.activeElement.matches('.card')").await;
        page.press([Key::Tab.into()]).await;
        page.until("document.activeElement.textContent === 'Approve'").await;
        page.until("document.activeElement.matches(':focus-visible')").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
        page.press([Key::Enter.into()]).await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        assert_eq!(paid.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_alone_denies_with_a_reason() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.until("document.querySelector('.waiting .card')").await;
        page.press(['g', 'a']).await;
        page.until("document.querySelector('.main .card')").await;
        page.press(['a', 'd']).await;
        page.until("document.activeElement.ariaLabel === 'Reason'").await;
        page.press("later".chars()).await;
        page.press([Key::Tab.into()]).await;
        page.until("document.activeElement.textContent === 'Deny the call'").await;
        page.press([Key::Enter.into()]).await;
        page.until_text(".decided", "later").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_move_through_runs_and_entries() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    let agent = agent.unwrap();
    open(studio, async |page| {
        for text in ["first", "second"] {
            agent.call(text).await.unwrap();
        }
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        page.press(['j', 'j']).await;
        page.until("document.activeElement.matches('a.run')").await;
        page.until("document.activeElement.textContent.includes('first')").await;
        page.press([Key::Enter.into()]).await;
        page.until("document.querySelector('.run-title h1').textContent === 'first'").await;
        page.until("document.querySelector('.k-settled')").await;
        page.press(['j', 'j']).await;
        page.until("document.activeElement.matches('.k-round[aria-expanded=true]')").await;
        page.press([Key::Left.into()]).await;
        page.until("document.activeElement.ariaExpanded === 'false'").await;
        page.until("!document.querySelector('.k-text')").await;
        page.press([Key::Enter.into()]).await;
        page.until("document.querySelector('.k-text')").await;
        page.press([Key::Down.into()]).await;
        page.until("document.activeElement.matches('.k-text')").await;
        page.press([Key::Escape.into()]).await;
        page.until("document.activeElement.matches('a.run[aria-current]')").await;
        page.press(['/']).await;
        page.until("document.activeElement.type === 'search'").await;
        page.press("second".chars()).await;
        page.until("document.querySelectorAll('a.run').length === 1").await;
        page.press([Key::Escape.into(), '?']).await;
        page.until("document.querySelector('dialog[open] kbd')").await;
        page.press([Key::Escape.into()]).await;
        page.until("!document.querySelector('dialog')").await;
    })
    .await;
}

/// Elements that are seen and whose name is another one, as each is seen and named.
const MISNAMED: &str = "[...document.querySelectorAll('[aria-label]')]
    .filter((it) => it.matches('a, button, summary, th, td, tr, [role=treeitem]') && it.offsetParent)
    .map((it) => [it.innerText.trim().toLowerCase(), it.ariaLabel.toLowerCase()])
    .filter(([seen, name]) => seen && !name.includes(seen)).join('; ')";

#[tokio::test(flavor = "multi_thread")]
async fn names_say_what_is_seen_and_every_view_has_its_landmarks() {
    let one = |selector: &str| {
        format!(
            "[...document.querySelectorAll('{selector}')].filter((it) => it.offsetParent).length === 1"
        )
    };
    open(busy().await, async |page| {
        page.until("document.querySelectorAll('a.run').length === 4").await;
        for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
            page.resize(width, height).await;
            for place in
                ["", "overview", "approvals", "agents", "agents/clerk", "hooks", "?q=lorry"]
            {
                page.go(&format!("#/{place}")).await;
                page.until(&one("main, [role=main]")).await;
                page.until(&one("body > header")).await;
                page.until(&one("nav.views")).await;
                page.until(&one("h1")).await;
                if place == "?q=lorry" {
                    page.until_text(".hit mark", "lorry").await;
                }
                assert_eq!(page.eval(MISNAMED).await, "", "{place}");
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_screen_reader_finds_its_way() {
    let studio = Studio::new();
    let (agent, _) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.until_text("#announce", "pay: waits for a decision").await;
        page.open_run("Pay the baker").await;
        for landmark in ["header", "nav[aria-label]", "main", "aside[aria-label]"] {
            page.until(&format!("document.querySelector('{landmark}')")).await;
        }
        let levels = "[...document.querySelectorAll('.main h1')].length";
        assert_eq!(page.eval(levels).await, json!(1));
        let names = "[...document.querySelectorAll('button, input, select, textarea')]
            .every((it) => (it.ariaLabel || it.textContent).trim() !== '')";
        assert_eq!(page.eval(names).await, json!(true));
        let tree = "[...document.querySelectorAll('[role=treeitem]')].length > 3
            && [...document.querySelectorAll('[role=treeitem]')].every((it) => it.textContent.trim() && it.ariaLevel)";
        assert_eq!(page.eval(tree).await, json!(true));
    })
    .await;
}
