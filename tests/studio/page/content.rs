//! Content that comes from agents is shown as text.

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{open, says, tool_then};

const HOSTILE: [&str; 4] = [
    "<img src=x onerror=\"window.hurt = 1\">",
    "</script><script>window.hurt = 2</script>",
    "javascript:window.hurt=3",
    "<a href=\"https://evil.test/\">click</a>",
];

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_stay_texts() {
    let studio = Studio::new().show_removed(true).show_drafts(true).show_requests(true);
    let all = HOSTILE.join(" ");
    let input = json!({ "to": format!("baker\u{202e}gnp.exe {all}"), &*all: [all.clone()] });
    let said: &'static str = format!("{all} \u{202e}reversed").leak();
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| HOSTILE.join("\n"));
    let swap = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(HOSTILE[0]));
    let why = all.clone();
    let ask = on!(move |event: &mut PreActing<'_>| event.ask(why.clone()));
    let agent = ReActAgent::builder("<b>clerk</b>")
        .model(tool_then("pay", input, said))
        .tool(pay)
        .hook(swap.named("<i>swap</i>"))
        .hook(ask.named("ask"))
        .hook(studio.hook())
        .build()
        .unwrap();
    let agent = std::sync::Arc::new(agent);
    open(studio.agent(agent.clone()), async |page| {
        let scripts = page.eval("document.scripts.length").await;
        let thread = || CallOptions::new().thread(HOSTILE[0]);
        let reply = agent.call_with(thread(), &*all).await.unwrap();
        page.until_text(".card .code", "\\u{202e}").await;
        page.until_text(".card .why", HOSTILE[0]).await;
        page.open_run(HOSTILE[0]).await;
        page.until_text(".k-asked", HOSTILE[1]).await;
        agent.resume(thread().confirm(&reply.pending()[0].id)).await.unwrap();
        page.until("document.querySelectorAll('a.run').length === 2").await;
        page.eval("document.querySelector('a.run').click()").await;
        page.until_text(".k-result", HOSTILE[3]).await;
        page.until_text(".k-hook .values", HOSTILE[0]).await;
        page.until_text(".k-text", "\\u{202e}reversed").await;
        page.eval("document.querySelectorAll('.k-request summary').forEach((it) => it.click())")
            .await;
        page.until_text(".k-request .message", HOSTILE[0]).await;
        page.go("#/agents/%3Cb%3Eclerk%3C%2Fb%3E").await;
        page.until_text("td", "<i>swap</i>").await;

        assert_eq!(page.eval("window.hurt === undefined").await, json!(true));
        assert_eq!(page.eval("document.scripts.length").await, scripts);
        assert_eq!(page.eval("document.images.length").await, json!(1));
        let links = "[...document.links].every((it) => it.origin === location.origin)";
        assert_eq!(page.eval(links).await, json!(true));
        let seen = "document.documentElement.textContent.includes('\\u202e')";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_changed_is_shown_in_its_place() {
    let studio = Studio::new().show_removed(true).show_drafts(true).show_requests(true);
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "sent by post on Monday");
    let tidy = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output = "sent by courier on Monday".into();
    });
    let refuse = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "shell" => event.refuse("no shell"),
        _ => Flow::Continue,
    });
    let agent = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": 17 }), "It is on its way."))
        .tool(look)
        .hook(tidy.named("tidy"))
        .hook(refuse.named("guard"))
        .hook(studio.hook())
        .build()
        .unwrap();
    open(studio, async |page| {
        agent.call("Where is it?").await.unwrap();
        page.open_run("Where is it?").await;
        page.until_text(".k-hook .hook-name", "tidy").await;
        page.until_text(".k-hook .event", "POST_ACTING").await;
        page.until_text(".k-hook .time", "s").await;
        assert_eq!(page.eval("document.querySelector('.k-hook del').textContent").await, "post");
        assert_eq!(page.eval("document.querySelector('.k-hook ins').textContent").await, "courier");
        // Hooks that changed nothing are shown on demand.
        assert_eq!(page.eval("document.querySelectorAll('.k-hooks').length").await, json!(0));
        page.click("button", "Quiet hooks").await;
        page.until_text(".k-hooks", "guard").await;
        // Its tool call is one level above it.
        let parent = "(() => { let it = document.querySelector('.k-hook'); const level = it.ariaLevel;
            do it = it.previousElementSibling; while (it.ariaLevel >= level); return it.textContent; })()";
        let name = page.eval(parent).await;
        assert!(name.as_str().unwrap().starts_with("Tool lookorder: 17, done"), "{name}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_redacting_hook_removed_is_not_on_the_page() {
    let studio = Studio::new().show_removed(true).show_drafts(true).show_requests(true);
    let agent = ReActAgent::builder("support")
        .model(says("I wrote to you."))
        .hook(PiiDetection::all().everywhere())
        .hook(studio.hook())
        .build()
        .unwrap();
    open(studio, async |page| {
        agent.call("Write to ada@example.com").await.unwrap();
        page.open_run("Write to").await;
        page.until_text(".hidden-value", "before hidden, 24 characters").await;
        page.until("document.querySelector('.hidden-value').title.includes('redacts')").await;
        let seen = "document.documentElement.outerHTML.includes('ada@example')";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_content_there_are_sizes() {
    let studio = Studio::new().show_content(false);
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "a secret result");
    let agent = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": "a secret order" }), "A secret answer."))
        .tool(look)
        .hook(studio.hook())
        .build()
        .unwrap();
    open(studio, async |page| {
        agent.call("A secret question").await.unwrap();
        page.until("document.querySelector('a.run .dot.finished')").await;
        page.eval("document.querySelector('a.run').click()").await;
        page.until_text(".k-result", "result hidden, 15 characters").await;
        page.until_text(".k-text", "hidden, 16 characters").await;
        page.until_text(".k-tool", "look").await;
        page.until_text(".k-input", "hidden, 17 characters").await;
        let seen = "/secret/i.test(document.documentElement.outerHTML)";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_says_so() {
    let studio = Studio::new();
    let model =
        ScriptedModel::new("down", |_| hooks_agent_core::model::ModelError::status("down", 503));
    let agent = ReActAgent::builder("research").model(model).hook(studio.hook()).build().unwrap();
    open(studio, async |page| {
        agent.call("Search").await.unwrap_err();
        page.until_text("a.run .more", "model error").await;
        page.open_run("Search").await;
        page.until_text(".k-settled", "Failed").await;
        page.until_text(".k-settled .problem", "model error").await;
        page.until_text(".cause .problem", "model error").await;
        page.until_text(".cause .problem", "status 503").await;
    })
    .await;
}
