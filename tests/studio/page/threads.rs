//! Conversations: the runs of a thread, what is stored of it, and forks.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Key, clerk, open, open_as, tool_then};

/// An agent that looks an order up and answers.
fn support(studio: &Studio) -> Arc<ReActAgent> {
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "sent on Monday");
    let agent = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": 17 }), "The parcel is on a lorry."))
        .tool(look)
        .hook(studio.hook())
        .build();
    Arc::new(agent.unwrap())
}

fn on_monday() -> CallOptions {
    CallOptions::new().thread("monday").user("ada")
}

const PIECES: &str = "document.querySelectorAll('.piece').length";

#[tokio::test(flavor = "multi_thread")]
async fn the_runs_of_a_thread_are_one_conversation() {
    let studio = Studio::new();
    let support = support(&studio);
    support.call_with(on_monday(), "Where is order 17?").await.unwrap();
    support.call_with(on_monday(), "And when does it come?").await.unwrap();
    support.call("Something else").await.unwrap();
    open(studio, async |page| {
        page.click("nav a", "Conversations").await;
        page.until("document.querySelectorAll('a.run').length === 2").await;
        page.until_text("a.run", "Where is order 17?").await;
        page.until_text("a.run .who", "support · monday · ada").await;
        page.until_text("a.run .more", "2 runs").await;
        page.click("a.run", "Where is order 17?").await;
        page.until("location.hash === '#/threads/support/monday'").await;
        page.until("document.querySelector('a.run[aria-current=true]')").await;
        page.until(&format!("{PIECES} === 2")).await;
        page.until_text(".piece:last-child .by-user", "And when does it come?").await;
        page.until_text(".piece:last-child .by-agent", "The parcel is on a lorry.").await;
        page.until_text("a.step", "look").await;
        page.until_text("a.step .out", "sent on Monday").await;
        page.picture("conversation").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_and_its_conversation_lead_to_each_other() {
    let studio = Studio::new();
    let support = support(&studio);
    support.call_with(on_monday(), "Where is order 17?").await.unwrap();
    support.call_with(on_monday(), "And when does it come?").await.unwrap();
    open(studio, async |page| {
        page.open_run("And when").await;
        page.click(".facts a", "monday").await;
        page.until(
            "/^#.threads.support.monday.at=/.test(location.hash) && document.activeElement.matches('.piece:last-child')",
        )
        .await;
        page.click(".piece:first-child h2 a", "").await;
        page.until("document.querySelector('.run-title h1').textContent === 'Where is order 17?'")
            .await;
        page.client.back().await.unwrap();
        page.click(".piece a.step", "look").await;
        page.until("document.activeElement.matches('.k-tool')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_went_on_is_below_the_one_that_asked() {
    let studio = Studio::new();
    let (clerk, _) = clerk(&studio);
    let reply = clerk.call("Pay the baker").await.unwrap();
    open_as("#/threads/clerk/default", studio.agent(clerk.clone()), async |page| {
        page.until_text(".piece .step", "Decide").await;
        clerk.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
        page.until_text(".piece.is-next", "went on with the run above").await;
        page.until_text(".piece.is-next .by-agent", "The baker is paid.").await;
        page.until_text(".piece:first-child h2", "resumed").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_tells_why_a_run_failed() {
    let studio = Studio::new();
    let down =
        ScriptedModel::new("down", |_| hooks_agent_core::model::ModelError::status("down", 503));
    let agent = ReActAgent::builder("research").model(down).hook(studio.hook()).build().unwrap();
    agent.call("Find papers").await.unwrap_err();
    open_as("#/threads/research/default", studio, async |page| {
        page.until_text(".piece .cause", "status 503").await;
        page.until_text(".piece h2", "failed").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_filtered_and_grow() {
    let studio = Studio::new();
    let (support, (clerk, _)) = (support(&studio), clerk(&studio));
    support.call_with(on_monday(), "Where is order 17?").await.unwrap();
    clerk.call("Pay the baker").await.unwrap();
    open_as("#/threads", studio, async |page| {
        const ITEMS: &str = "document.querySelectorAll('a.run').length";
        page.until(&format!("{ITEMS} === 2")).await;
        page.click("button", "Waiting 1").await;
        page.until(&format!("{ITEMS} === 1")).await;
        page.until("location.hash === '#/threads?state=waiting'").await;
        page.click("button", "Waiting 1").await;
        page.press(['/']).await;
        page.press("monday".chars()).await;
        page.until(&format!("{ITEMS} === 1")).await;
        page.until("location.hash === '#/threads?q=monday'").await;
        page.press([Key::Escape.into(), 'j', Key::Enter.into()]).await;
        page.until("location.hash.startsWith('#/threads/support/monday')").await;
        page.until(&format!("{PIECES} === 1")).await;
        support.call_with(on_monday(), "And when does it come?").await.unwrap();
        page.until(&format!("{PIECES} === 2")).await;
        page.until_text("a.run .more", "2 runs").await;
        page.until_text(".piece:last-child .by-agent", "The parcel is on a lorry.").await;
        page.press(['j', 'j']).await;
        page.until("document.activeElement.matches('.piece:last-child')").await;
        page.press([Key::Escape.into()]).await;
        page.until("document.activeElement.matches('a.run[aria-current=true]')").await;
    })
    .await;
}

/// What opens the form below the last message that a fork may end with.
const FORK: &str = "[...document.querySelectorAll('.fork summary')].at(-1)";

/// What opens the question below the first message.
const REWIND: &str = "[...document.querySelectorAll('.fork summary')]
    .find((it) => it.textContent === 'Rewind to here')";

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_taken_back_after_a_question() {
    let studio = Studio::new().allow_chat(true);
    let support = support(&studio);
    support.call_with(CallOptions::new().thread("monday"), "Where is order 17?").await.unwrap();
    let place = "#/threads/support/monday?show=messages";
    open_as(place, studio.agent(support.clone()), async |page| {
        let count = || support.threads().memory("monday").unwrap().messages().len();
        let before = count();
        page.until(&format!("{REWIND} && ({REWIND}.focus(), true)")).await;
        page.press([Key::Enter.into()]).await;
        page.until_text(".fork[open] p", "leave the conversation").await;
        assert_eq!(count(), before);
        page.click(".fork[open] button", "Rewind").await;
        page.until("document.querySelectorAll('.stored li').length === 1").await;
        page.until("document.activeElement.textContent === 'Fork from here'").await;
        assert_eq!(count(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_is_a_thread_of_its_own() {
    let studio = Studio::new().allow_chat(true);
    let support = support(&studio);
    support.call_with(CallOptions::new().thread("monday"), "Where is order 17?").await.unwrap();
    open_as("#/threads/support/monday", studio.agent(support.clone()), async |page| {
        page.click(".ranges a", "Stored messages").await;
        page.until_text(".stored li", "Where is order 17?").await;
        page.until_text(".stored li", "Calls look").await;
        page.until("document.querySelectorAll('.fork summary').length > 0").await;
        page.until(&format!("{FORK} && ({FORK}.focus(), true)")).await;
        page.press([Key::Enter.into()]).await;
        page.until("document.activeElement.value === 'monday-fork'").await;
        page.press([Key::Escape.into()]).await;
        page.until("document.activeElement.textContent === 'Fork from here'").await;
        page.press([Key::Enter.into()]).await;
        page.until("document.activeElement.value === 'monday-fork'").await;
        page.press([Key::Enter.into()]).await;
        page.until("location.hash === '#/threads/support/monday-fork'").await;
        page.until_text("a.run .who", "support · monday-fork").await;
        page.until_text(".stored li", "Where is order 17?").await;
        support.call_with(CallOptions::new().thread("monday-fork"), "And now?").await.unwrap();
        page.until_text(".piece .by-user", "And now?").await;
        let messages = |thread: &str| support.threads().memory(thread).unwrap().messages().len();
        assert!(messages("monday-fork") > messages("monday"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_is_refused_at_the_field() {
    let studio = Studio::new().allow_chat(true);
    let support = support(&studio);
    support.call_with(CallOptions::new().thread("monday"), "Where is order 17?").await.unwrap();
    let place = "#/threads/support/monday?show=messages";
    open_as(place, studio.agent(support), async |page| {
        // The browser logs the answer that is no success.
        page.may_log();
        page.until(&format!("{FORK} && ({FORK}.click(), true)")).await;
        page.until("document.activeElement.matches('.fork[open] input')").await;
        page.eval("void (document.activeElement.value = 'monday')").await;
        page.click(".fork[open] button", "Fork").await;
        page.until_text(".fork[open] .problem", "There is a thread of this name.").await;
        page.until("document.activeElement.matches('.fork[open] input[aria-invalid=true]')").await;
        let told = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent";
        page.until(&format!("{told}.includes('Choose another one.')")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_look_only_has_no_control_that_acts() {
    let studio = Studio::new().allow_chat(true);
    let (clerk, _) = clerk(&studio);
    let support = support(&studio);
    support.call_with(CallOptions::new().thread("monday"), "Where is order 17?").await.unwrap();
    open(studio.agent(clerk.clone()).agent(support), async |page| {
        page.run(
            "const { state, touch } = await import('/assets/state.js');
            state.viewer = { user: 'vera', acts: false };
            touch('agents');",
        )
        .await;
        page.until_text("#viewer", "vera may look only").await;
        clerk.call("Pay the baker").await.unwrap();
        page.until_text(".waiting .card", "baker").await;
        let acting = "[...document.querySelectorAll('button')].filter((it) =>
            /^(Approve|Edit|Deny|Revoke|Interrupt|Send|Fork|Rewind)/.test(it.textContent)).length
            + document.querySelectorAll('textarea, .fork').length";
        let places = [
            ("#/approvals", ".card"),
            ("#/agents/support", ".plan td"),
            ("#/threads/clerk/default", ".piece .step"),
            ("#/threads/support/monday?show=messages", ".stored li"),
        ];
        for (place, there) in places {
            page.go(place).await;
            page.until(&format!("document.querySelector('.main {there}')")).await;
            assert_eq!(page.eval(acting).await, json!(0), "{place}");
        }
        page.go("#/").await;
        page.open_run("Pay the baker").await;
        page.until("document.querySelector('.k-asked')").await;
        assert_eq!(page.eval(acting).await, json!(0));
        assert_eq!(page.eval("document.querySelectorAll('a.decide').length").await, json!(0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_content_a_conversation_has_sizes() {
    let studio = Studio::new().show_content(false);
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "a secret result");
    let agent = ReActAgent::builder("support")
        .model(tool_then("look", json!({ "order": "a secret order" }), "A secret answer."))
        .tool(look)
        .hook(studio.hook())
        .build()
        .unwrap();
    agent.call("A secret question").await.unwrap();
    open_as("#/threads/support/default", studio, async |page| {
        page.until_text(".piece .by-user", "hidden, 17 characters").await;
        page.until_text(".piece .by-agent", "hidden, 16 characters").await;
        page.until_text("a.step", "result hidden, 15 characters").await;
        let seen = "/secret/i.test(document.documentElement.outerHTML)";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_of_a_conversation_stay_texts() {
    const HOSTILE: &str = "<img src=x onerror=\"window.hurt = 1\">\u{202e}";
    let studio = Studio::new();
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| HOSTILE);
    let agent = ReActAgent::builder("<b>clerk</b>")
        .model(tool_then("look", json!({ HOSTILE: HOSTILE }), HOSTILE))
        .tool(tool)
        .hook(studio.hook())
        .build()
        .unwrap();
    let options = || CallOptions::new().thread(HOSTILE).user(HOSTILE);
    agent.call_with(options(), HOSTILE).await.unwrap();
    open_as("#/threads", studio, async |page| {
        page.click("a.run", "clerk").await;
        page.until_text(".piece .by-agent", "\\u{202e}").await;
        page.until_text("a.step .out", "\\u{202e}").await;
        page.until_text("h1", "<img").await;
        assert_eq!(page.eval("window.hurt === undefined").await, json!(true));
        assert_eq!(page.eval("document.images.length").await, json!(1));
        let seen = "document.documentElement.textContent.includes('\\u202e')";
        assert_eq!(page.eval(seen).await, json!(false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_fits_a_phone() {
    let studio = Studio::new();
    let support = support(&studio);
    support.call_with(on_monday(), "Where is order 17?").await.unwrap();
    open(studio, async |page| {
        page.resize(360, 740).await;
        let fits = "document.documentElement.scrollWidth <= 360
            && [...document.querySelectorAll('main, .side')].every((it) => it.scrollWidth <= it.clientWidth)
            && [...document.querySelectorAll('h1')].filter((it) => it.offsetParent).length === 1";
        page.press(['g', 'c']).await;
        page.until_text("a.run", "Where is order 17?").await;
        page.until(fits).await;
        page.click("a.run", "Where is order 17?").await;
        page.until_text("a.step", "look").await;
        page.until("!document.querySelector('.side').offsetParent").await;
        page.until(fits).await;
        page.click("a.back", "Conversations").await;
        page.until("document.querySelector('.side').offsetParent").await;
    })
    .await;
}
