//! Rounds, calls, threads and agents: what a choice holds for, and what stays beside it.

use futures::executor::block_on;
use hooks_agent_builtin::context::ToolSelector;
use hooks_agent_core::message::Question;
use hooks_agent_core::model::{ToolChoice, ToolSpec};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store};
use hooks_agent_core::testing::Script;
use hooks_agent_sql::store::SqliteStore;
use serde_json::json;

use super::{agent, builder, calls, chooses, offered, tools};

#[test]
fn a_choice_holds_until_the_user_writes_something_else() {
    let small = Script::new().calls([chooses(&["calculate"])]).calls([chooses(&["sendEmail"])]);
    let script = Script::new().says("1").says("2").says("3");
    let agent = agent(&script, ToolSelector::by_model(small.clone(), 2));
    for text in ["Count", "Count", "Write"] {
        block_on(agent.call(text)).unwrap();
    }
    assert_eq!(offered(&script), [["calculate"], ["calculate"], ["sendEmail"]]);
    small.finish();
}

#[test]
fn tools_that_were_called_in_the_call_stay_when_the_question_changes() {
    let again = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
        Ok(match event.message().text().as_str() {
            "short" => event.jump_to_model("Write a mail instead")?,
            _ => Flow::Continue,
        })
    });
    let script = Script::new().calls(calls("calculate")).says("short").says("done").says("next");
    let agent = builder(&script, ToolSelector::by_search(1)).hook(again).build().unwrap();
    block_on(agent.call("evaluate arithmetic")).unwrap();
    block_on(agent.call("the weather")).unwrap();
    let both = ["calculate", "sendEmail"].map(str::to_owned).to_vec();
    let one = |name: &str| vec![name.to_owned()];
    // The next call has what it needs, and no more.
    let expected = [one("calculate"), one("calculate"), both, one("get_weather")];
    assert_eq!(offered(&script), expected);
}

#[test]
fn a_tool_that_was_not_offered_stays_once_the_model_calls_it() {
    let script = Script::new().calls(calls("sendEmail")).says("done");
    block_on(agent(&script, ToolSelector::by_search(1)).call("the weather")).unwrap();
    assert_eq!(offered(&script)[1], ["get_weather", "sendEmail"]);
}

/// A hook that adds a tool to each round, before the selector runs.
struct Adds(&'static str);

#[agent_hook(priority = 5)]
impl Adds {
    fn add(&self, event: &mut PreReasoning<'_>) {
        let mut tools = event.tools().to_vec();
        tools.push(ToolSpec::new(self.0, "The answer.", json!({ "type": "object" })));
        event.set_tools(tools);
    }
}

#[test]
fn tools_that_other_hooks_add_to_the_round_stay_and_do_not_count() {
    let script = Script::new().says("done");
    let agent = builder(&script, ToolSelector::by_search(1)).hook(Adds("answer")).build().unwrap();
    block_on(agent.call("the weather")).unwrap();
    assert_eq!(offered(&script)[0], ["get_weather", "answer"]);
    let script = Script::new().says("done");
    let agent = builder(&script, ToolSelector::by_search(5)).hook(Adds("answer")).build().unwrap();
    block_on(agent.call("the weather")).unwrap();
    assert_eq!(offered(&script)[0].len(), 6);
}

#[test]
fn tools_that_other_hooks_take_away_stay_away() {
    for priority in [5, 200] {
        let admin = on(|event: &mut PreReasoning<'_>| {
            let tools = event.tools().iter().filter(|tool| tool.name != "get_weather").cloned();
            event.set_tools(tools.collect::<Vec<_>>());
        });
        let script = Script::new().says("done");
        let hook = admin.with_priority(priority);
        let agent = builder(&script, ToolSelector::by_search(2)).hook(hook).build().unwrap();
        block_on(agent.call("the weather on the web")).unwrap();
        assert_eq!(offered(&script)[0], ["search_web"]);
    }
}

#[test]
fn the_tool_that_the_request_demands_stays() {
    let force = on(|event: &mut PreReasoning<'_>| {
        event.options_mut().tool_choice = ToolChoice::Tool("calculate".to_owned());
    });
    let script = Script::new().says("done");
    let agent = builder(&script, ToolSelector::by_search(1)).hook(force.with_priority(5));
    block_on(agent.build().unwrap().call("the weather")).unwrap();
    assert_eq!(offered(&script)[0], ["get_weather", "calculate"]);
}

#[test]
fn threads_and_agents_that_share_a_hook_have_choices_of_their_own() {
    let hook = ToolSelector::by_search(1);
    let script = Script::new().says("1").says("2").says("3").says("4");
    let (one, other) = (agent(&script, hook.clone()), agent(&script, hook));
    let on = |thread: &str| CallOptions::new().thread(thread);
    block_on(one.call_with(on("ada"), "the weather")).unwrap();
    block_on(one.call_with(on("berta"), "a mail")).unwrap();
    block_on(other.call_with(on("ada"), "OK")).unwrap();
    block_on(one.call_with(on("ada"), "OK")).unwrap();
    assert_eq!(
        offered(&script),
        [["get_weather"], ["sendEmail"], ["get_weather"], ["get_weather"]]
    );
    assert!(other.threads().memory("ada").unwrap().values().contains_key("ToolSelector"));
}

#[tokio::test]
async fn calls_at_once_on_many_threads_choose_for_themselves() {
    let script = (0..40).fold(Script::new(), |script, _| script.says("done"));
    let agent = std::sync::Arc::new(agent(&script, ToolSelector::by_search(1)));
    let calls = (0..40).map(|number| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let options = CallOptions::new().thread(number.to_string());
            let text = ["the weather", "a mail"][number % 2];
            agent.call_with(options, text).await.unwrap();
        })
    });
    futures::future::join_all(calls.collect::<Vec<_>>()).await;
    for request in script.requests() {
        let expected = if request.last_text() == "a mail" { "sendEmail" } else { "get_weather" };
        assert_eq!(request.tools[0].name, expected);
        assert_eq!(request.tools.len(), 1);
    }
}

#[test]
fn a_sub_agent_has_tools_for_its_task() {
    let of_helper = Script::new().says("helped");
    let helper = builder(&of_helper, ToolSelector::by_search(1)).build().unwrap();
    let call = ToolUse::new("1", "bot", json!({ "task": "Send a mail" }));
    let script = Script::new().calls([call]).says("done");
    let boss = ReActAgent::builder("boss").model(script).tool(helper.to_tool("Helps."));
    block_on(boss.build().unwrap().call("Ask about the weather")).unwrap();
    assert_eq!(offered(&of_helper)[0], ["sendEmail"]);
}

/// A hook that asks people before each tool call.
struct AskFirst;

#[agent_hook]
impl AskFirst {
    fn ask(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let calls = event.message().tool_uses();
        let asked: Vec<_> = calls.map(|call| (call.id.clone(), Question::new("May I?"))).collect();
        Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
    }
}

#[tokio::test]
async fn a_call_that_goes_on_in_another_process_has_the_choice_and_the_tools_it_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let small = Script::new().calls([chooses(&["get_weather"])]);
    let open = async |script: &Script| {
        let store = SqliteStore::open(&path).await.unwrap();
        let hook = ToolSelector::by_model(small.clone(), 1);
        builder(script, hook).hook(AskFirst).store(store).build().unwrap()
    };
    // The model calls a tool that was not offered.
    let script = Script::new().calls(calls("sendEmail"));
    open(&script).await.call("the weather").await.unwrap();
    assert_eq!(offered(&script)[0], ["get_weather"]);

    let waiting =
        SqliteStore::open(&path).await.unwrap().waiting(Filter::agent("bot")).await.unwrap();
    let options = CallOptions::new().decide(&*waiting[0].id, Decision::Approve);
    let script = Script::new().says("done");
    open(&script).await.resume(options).await.unwrap();
    assert_eq!(offered(&script)[0], ["get_weather", "sendEmail"]);
    small.finish();
}

#[test]
fn a_choice_of_other_tools_or_settings_is_not_used() {
    let script = Script::new().says("1").says("2").says("3");
    let one = agent(&script, ToolSelector::by_search(1));
    block_on(one.call("the weather of the web")).unwrap();
    let values = one.memory().values();
    let go_on = |hook: ToolSelector, more: bool| {
        let tools = more.then(|| super::tool("web_weather", "The weather of the web."));
        let other = builder(&script, hook).tools(tools).build().unwrap();
        other.memory().set_values(values.clone());
        block_on(other.call("the weather of the web")).unwrap();
    };
    go_on(ToolSelector::by_search(2), false);
    go_on(ToolSelector::by_search(1), true);
    let offered = offered(&script);
    assert_eq!(offered[0].len(), 1);
    assert_eq!(offered[1], ["get_weather", "search_web"]);
    assert_eq!(offered[2], ["web_weather"]);
}

#[test]
fn a_summary_in_mid_call_changes_nothing() {
    // A hook that replaces the thread in the second round, the question too.
    struct Forget;
    #[agent_hook(priority = 60)]
    impl Forget {
        async fn forget(&self, event: &mut PreReasoning<'_>) -> HookResult {
            let history = event.history();
            if history.len() == 3 {
                let mut shorter = vec![Msg::user("A summary about mail")];
                shorter.extend(history.iter().skip(1).cloned());
                event.replace_history(&history, shorter).await?;
            }
            Ok(())
        }
    }
    let script = Script::new().calls(calls("get_weather")).says("done");
    let agent = ReActAgent::builder("bot").model(script.clone()).tools(tools());
    let agent = agent.hook(ToolSelector::by_search(1)).hook(Forget).build().unwrap();
    block_on(agent.call("the weather")).unwrap();
    assert_eq!(agent.memory().messages()[0].text(), "A summary about mail");
    assert_eq!(offered(&script), [["get_weather"], ["get_weather"]]);
}
