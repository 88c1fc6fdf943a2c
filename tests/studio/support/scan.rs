//! All that the server says of a run, searched for what must not be there.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_studio::Studio;
use serde_json::Value;

use crate::support::open;

/// What must be nowhere.
pub(crate) const SECRET: &str = "sk-9f2c77ab";
pub(crate) const MAIL: &str = "ada@example.com";

/// Runs an agent under the studio, and returns all that the server says of it.
pub(crate) async fn everything(
    studio: &Studio,
    message: &str,
    build: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> String {
    let builder = build(ReActAgent::builder("clerk")).hook(studio.hook());
    let agent = Arc::new(builder.build().unwrap());
    let browser = open(&studio.clone().agent(agent.clone())).await;
    let mut stream = browser.events(None).await;
    let _ = agent.call(message).await;
    stream.until_settled().await;
    let mut texts = vec![stream.text.clone()];
    let found = format!("/api/search?q={SECRET}");
    for path in
        ["/api/agents", "/api/runs", "/api/approvals", "/api/plan/clerk", "/api/overview", &found]
    {
        texts.push(browser.get(path).await.text().await.unwrap());
    }
    for run in browser.runs().await {
        let path = format!("/api/runs/{}", run["run"].as_str().unwrap());
        for what in ["", "/test", "/tape"] {
            texts.push(browser.get(&format!("{path}{what}")).await.text().await.unwrap());
        }
    }
    texts.join("\n")
}

/// Checks that a text is nowhere, and another one, which shows that something is there at all.
pub(crate) fn assert_gone(texts: &str, secret: &str, kept: &str) {
    assert!(texts.contains(kept), "{kept} is not there:\n{texts}");
    let place = texts.find(secret);
    let around = place.map(|at| &texts[at.saturating_sub(600)..(at + 100).min(texts.len())]);
    assert_eq!(around, None);
}

pub(crate) fn reads(text: &'static str) -> impl Tool {
    FunctionTool::new("read", "Reads.", move |_: Value| async move { text })
}

/// A closure that removes the secret from a text.
pub(crate) fn gone(text: &str) -> String {
    text.replace(SECRET, "***")
}
