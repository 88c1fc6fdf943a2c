//! A run as a test that replays it. What is written is compiled: it is `exported.rs`.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_studio::Studio;
use serde_json::json;

use crate::support::{Browser, MAIL, open, says};

async fn exported(browser: &Browser) -> (u16, String) {
    let run = browser.runs().await[0]["run"].as_str().unwrap().to_owned();
    let answer = browser.get(&format!("/api/runs/{run}/test")).await;
    let status = answer.status().as_u16();
    (status, answer.text().await.unwrap().replace(&run[..8], "00000000"))
}

#[tokio::test]
async fn a_run_is_a_test_that_passes() {
    let script = Script::new()
        .turn(vec![
            ContentBlock::text("I look."),
            ContentBlock::ToolUse(ToolUse::new(
                "1",
                "read",
                json!({ "line": 3_000_000_000_u64, "path": "a \"quoted\" file" }),
            )),
        ])
        .calls([ToolUse::new("2", "read", json!({ "path": "gone" }))])
        .says("It says \"text\".");
    let read = Calls::new("read").answers("text").fails("no such file");
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(script).tool(read).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call("What does it say?").await.unwrap();
    let (status, code) = exported(&browser).await;
    assert_eq!(status, 200, "{code}");
    assert_eq!(code, include_str!("exported.rs"));
}

#[tokio::test]
async fn what_is_not_kept_cannot_be_replayed() {
    let studio = Studio::new().show_content(false);
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call(MAIL).await.unwrap();
    let (status, why) = exported(&browser).await;
    assert_eq!(status, 409);
    assert!(why.contains("not kept") && !why.contains(MAIL), "{why}");
    let path = "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5/test";
    assert_eq!(browser.get(path).await.status(), 404);
}
