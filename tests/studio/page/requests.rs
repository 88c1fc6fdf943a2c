//! What a model was asked, whole; and a run as a file.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Key, open};

/// Keeps what is saved, in place of a file.
const KEEP: &str = "
    window.saved = [];
    const [{ createObjectURL }, { click }] = [URL, HTMLAnchorElement.prototype];
    let last;
    URL.createObjectURL = (file) => createObjectURL.call(URL, last = file);
    HTMLAnchorElement.prototype.click = function () {
        if (!this.download) return click.call(this);
        last.text().then((text) => saved.push([this.download, text]));
    };
";

fn reader(studio: &Studio) -> ReActAgent {
    let read = ToolUse::new("1", "read", json!({ "path": "plan.txt" }));
    let script = Script::new().calls([read]).says("The plan is old.");
    let read = Calls::new("read").answers("the old plan");
    let agent = ReActAgent::builder("reader").system_prompt("You read files.").model(script);
    agent.tool(read).hook(studio.hook()).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_shows_its_messages_tools_and_options() {
    let studio = Studio::new().show_requests(true);
    reader(&studio).call("What does the plan say?").await.unwrap();
    open(studio, async |page| {
        page.open_run("What does").await;
        let parts =
            "[...document.querySelectorAll('.k-request summary')].map((it) => it.textContent)";
        let shown = json!([
            "2 messages",
            "1 tool",
            "Options",
            "4 messages, 2 new ones",
            "1 tool",
            "Options"
        ]);
        page.until(&format!("JSON.stringify({parts}) === {:?}", shown.to_string())).await;
        page.eval("document.querySelectorAll('.k-request summary')[3].focus()").await;
        page.press([Key::Enter.into()]).await;
        for text in ["You read files.", "What does the plan say?", "plan.txt", "the old plan"] {
            page.until_text(".k-request details[open] .message", text).await;
        }
        page.eval("document.querySelectorAll('.k-request summary')[1].click()").await;
        page.click(".k-request details[open] summary", "read").await;
        page.until_text(".k-request details details[open] .code", "object").await;
        page.eval("document.querySelectorAll('.k-request summary')[3].click()").await;
        page.until_text(".k-request details[open] .code", "tool_choice").await;
        page.picture("requests").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_saved_as_json_as_a_tape_and_as_a_test() {
    let studio = Studio::new().show_requests(true);
    reader(&studio).call("What does the plan say?").await.unwrap();
    open(studio, async |page| {
        page.run(KEEP).await;
        page.open_run("What does").await;
        for (name, ending, text) in [
            ("JSON", ".json", "\"entries\""),
            ("Tape", ".tape", "\"format\":"),
            ("Test in Rust", ".rs", "Script::new()"),
        ] {
            page.click("details.menu summary", "Export").await;
            page.click("details.menu[open] button", name).await;
            page.until("!document.querySelector('details.menu[open]')").await;
            page.until("saved.length === 1").await;
            let saved: Value = page.eval("saved.pop()").await;
            let file = saved[0].as_str().unwrap();
            assert!(file.starts_with("run") && file.ends_with(ending), "{file}");
            assert!(saved[1].as_str().unwrap().contains(text), "{saved}");
        }
        page.until("document.activeElement.matches('details.menu summary')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_run_is_no_tape_is_said() {
    let studio = Studio::new();
    reader(&studio).call("What does the plan say?").await.unwrap();
    open(studio, async |page| {
        // The browser logs the answer that is no success.
        page.may_log();
        page.open_run("What does").await;
        page.click("details.menu summary", "Export").await;
        let tape = "[...document.querySelectorAll('details.menu button')][1]";
        page.eval(&format!("{tape}.focus()")).await;
        page.press([Key::Enter.into()]).await;
        page.until_text("details.menu[open] .problem", "Studio::show_requests(true)").await;
        page.until(&format!("document.activeElement === {tape}")).await;
        page.picture("no-tape").await;
    })
    .await;
}
