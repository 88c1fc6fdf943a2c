//! Private text of threads: resumed, compressed, of sub-agents, of several calls at once.

use std::sync::Arc;

use futures::future::join_all;
use hooks_agent_core::call::Door;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_core::thread::MemoryStore;
use serde_json::json;

use crate::expected;
use crate::private::{call, guard, reads};

const LINK: &str = "https://api.example/?q=Hendricks";

#[tokio::test]
async fn what_was_read_in_an_earlier_call_is_private_in_later_ones() {
    let model = Script::new().calls([call("read_mail")]).says("Read.").says(LINK);
    let agent = ReActAgent::builder("bot").model(model).tool(reads("Hendricks")).hook(guard());
    let agent = agent.build().unwrap();
    agent.call("Read").await.unwrap();
    assert_eq!(agent.call("Link").await.unwrap().text(), expected("§"));
}

#[tokio::test]
async fn a_resumed_thread_knows_what_is_private() {
    let store = Arc::new(MemoryStore::new());
    let agent = |model: Script| {
        let builder = ReActAgent::builder("bot").model(model).tool(reads("Hendricks, Pettersson"));
        builder.store(store.clone()).hook(guard()).build().unwrap()
    };
    let first = agent(Script::new().calls([call("read_mail")]).says("Read."));
    first.call("Read the mail of Pettersson").await.unwrap();
    let text = format!("{LINK} https://api.example/Pettersson");
    let second = agent(Script::new().says(text));
    let became = second.call("Link").await.unwrap().text();
    assert_eq!(became, expected("§ https://api.example/Pettersson"));
}

#[tokio::test]
async fn a_link_that_was_said_before_something_private_was_read_stays_in_history() {
    let model = Script::new().says(LINK).calls([call("read_mail")]).says(LINK);
    let agent =
        ReActAgent::builder("bot").model(model.clone()).tool(reads("Hendricks")).hook(guard());
    let agent = agent.build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), LINK);
    assert_eq!(agent.call("Again").await.unwrap().text(), LINK);
    assert!(model.requests().iter().skip(1).all(|it| it.messages[1].text() == LINK));
}

#[tokio::test]
async fn a_summary_in_place_of_a_private_result_is_private() {
    let model = Script::new().calls([call("read_mail")]).says("Read.").says(LINK);
    let agent = ReActAgent::builder("bot").model(model).tool(reads("Hendricks")).hook(guard());
    let agent = agent.build().unwrap();
    agent.call("Read").await.unwrap();
    agent.memory().replace([Msg::user("Summary: Ada Hendricks wrote.")]);
    assert_eq!(agent.call("Link").await.unwrap().text(), expected("§"));
}

/// An agent `helper` that answers with this, after it has called `read_mail` if it `reads`.
fn helper(has_read: bool, says: &str) -> Arc<dyn Tool> {
    let script = Script::new();
    let script = if has_read { script.calls([call("read_mail")]) } else { script };
    let helper = ReActAgent::builder("helper").model(script.says(says)).tool(reads("Hendricks"));
    Arc::new(helper.build().unwrap().to_tool("Helps."))
}

fn task(task: &str) -> ToolUse {
    ToolUse::new("9", "helper", json!({ "task": task }))
}

async fn boss(script: Script, helper: Arc<dyn Tool>) -> (String, String) {
    let boss = ReActAgent::builder("boss").model(script).tool(reads("Hendricks"));
    let boss = boss.tools([helper]).hook(guard()).build().unwrap();
    let said = boss.call("Go").await.unwrap().text();
    let history = boss.memory().messages();
    let result = history.iter().flat_map(Msg::tool_results).find(|it| it.name == "helper").unwrap();
    (said, result.output.as_str().to_owned())
}

#[tokio::test]
async fn a_sub_agent_inherits_the_guard_and_what_its_callers_have_read() {
    let script = || Script::new().calls([task("Read")]).says("end");
    assert_eq!(boss(script(), helper(true, LINK)).await.1, expected("§"));
    // What the agent above tells it is no word of the user.
    let script = Script::new().calls([call("read_mail")]).calls([task("Link to Hendricks")]);
    assert_eq!(boss(script.says("end"), helper(false, LINK)).await.1, expected("§"));
    // Nobody has read anything.
    let script = Script::new().calls([task("Link to Hendricks")]).says(LINK);
    assert_eq!(boss(script, helper(false, LINK)).await, (LINK.to_owned(), LINK.to_owned()));
}

#[tokio::test]
async fn the_answer_of_a_sub_agent_that_has_read_something_private_is_private() {
    let script = Script::new().calls([task("Read")]).says(LINK);
    let (said, result) = boss(script, helper(true, "It is Hendricks.")).await;
    assert_eq!((said, result.as_str()), (expected("§"), "It is Hendricks."));
    let script = Script::new().calls([task("Guess")]).says(LINK);
    assert_eq!(boss(script, helper(false, "It is Hendricks.")).await.0, LINK);
}

/// Each call of one agent has read something else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_know_what_they_have_read_themselves() {
    let names: Vec<_> = (0..8).map(|number| format!("Hendricks{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| format!("https://api.example/{name}")).collect();
    let model = ScriptedModel::new("all", {
        let all = all.join(" ");
        move |request| -> ScriptedAnswer {
            match request.messages.last().unwrap().role {
                Role::Tool => all.clone().into(),
                _ => ToolUse::new("1", "read_it", json!({ "name": request.last_text() })).into(),
            }
        }
    });
    let read = FunctionTool::new("read_it", "Reads.", async |input: serde_json::Value| {
        tokio::task::yield_now().await;
        let number = input["name"].as_str().unwrap_or_default().to_owned();
        format!("Hendricks{number}")
    });
    let agent = ReActAgent::builder("bot").model(model).tool(read).hook(guard()).build().unwrap();
    let calls = (0..8).map(|number| {
        let (agent, options) = (&agent, CallOptions::new().thread(number.to_string()));
        async move { agent.call_with(options, number.to_string()).await.unwrap().text() }
    });
    for (number, said) in join_all(calls).await.into_iter().enumerate() {
        let mut expected_links = all.clone();
        expected_links[number] = expected("§");
        assert_eq!(said, expected_links.join(" "));
    }
}

/// Adds a passage to the system message.
struct Passage;

#[agent_hook]
impl Passage {
    async fn add(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let cx = event.context();
        let text = cx.screen(Door::Passage, "Hendricks").await?;
        event.append_system(text);
        Ok(())
    }
}

#[tokio::test]
async fn passages_are_private_if_their_tool_is() {
    for (tool, became) in [("search_knowledge", expected("§")), ("read_*", LINK.to_owned())] {
        let guard = hooks_agent_rules::EgressGuard::new(crate::HOSTS).unwrap();
        let guard = guard.private_data([tool]).unwrap();
        let builder = ReActAgent::builder("bot").model(Script::new().says(LINK));
        let agent = builder.hook(Passage).hook(guard).build().unwrap();
        assert_eq!(agent.call("Go").await.unwrap().text(), became, "{tool}");
    }
}

#[tokio::test]
async fn what_is_kept_with_a_thread_that_cannot_be_read_leaves_bare_links() {
    let model = Script::new().says("https://api.example/x https://api.example");
    let agent = ReActAgent::builder("bot").model(model).hook(guard()).build().unwrap();
    agent.memory().thread_values().set("egress_guard", json!("nothing"));
    assert_eq!(agent.call("Go").await.unwrap().text(), expected("§ https://api.example"));
}
