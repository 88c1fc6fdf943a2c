//! Watchers receive the runs of other hooks.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_core::hook::{HookFlow, HookRun, HookWatcher};
use hooks_agent_core::model::{ModelAnswer, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_core::{HookRole, Level};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, script, uses};
use serde_json::{Value, json};

/// A run as a line: hook, event, flow and changed paths.
#[derive(Default)]
struct Lines(Records<String>);

impl HookWatcher for Lines {
    fn hook_ran(&self, run: &HookRun<'_>) {
        let paths: Vec<_> = run.changes().into_iter().map(|change| change.path).collect();
        assert_eq!(run.has_changed(), !paths.is_empty());
        let line = format!("{} {} {} {}", run.hook(), run.event(), run.flow(), paths.join(","));
        self.0.push(line.trim_end().to_owned());
    }
}

struct Watch<W>(Arc<W>);

impl<W: HookWatcher + 'static> AgentHook for Watch<W> {
    fn name(&self) -> String {
        "watch".to_owned()
    }

    /// None: that of all agents of a type is in other tests of this process, too.
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn inherit(&self) -> bool {
        true
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        Some(self.0.clone())
    }
}

/// Calls an agent with these hooks, whose model uses the tool `echo` and then answers.
async fn lines_of(add: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder) -> Vec<String> {
    let lines = Arc::new(Lines::default());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let builder = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = add(builder).hook(Watch(lines.clone())).build().unwrap();
    let _ = agent.call("Go").await;
    lines.0.take()
}

#[tokio::test]
async fn each_change_of_a_hook_is_received_with_its_place() {
    let lines = lines_of(|builder| {
        let ask = on(|event: &mut PreCall<'_>| {
            event.append_system("Be brief.");
            event.messages_mut().push(Msg::user("please"));
        });
        let before = on(|event: &mut PreReasoning<'_>| event.options_mut().max_tokens = Some(9));
        let act = on(|event: &mut PreActing<'_>| event.tool_use_mut().input["text"] = "ho".into());
        let result = on(|event: &mut PostActing<'_>| {
            event.tool_result_mut().output = "***".into();
        });
        let round = on(|event: &mut PostReasoning<'_>| event.message_mut().push_text("!"));
        let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
        let builder = builder.hook(ask).hook(before).hook(act);
        builder.hook(result).hook(round).hook(sign)
    })
    .await;
    let expected = [
        "PRE_CALL PRE_CALL continue messages[1],system",
        "PRE_REASONING PRE_REASONING continue options.max_tokens",
        "POST_REASONING POST_REASONING continue message.content[1]",
        "PRE_ACTING PRE_ACTING continue tool_use.input.text",
        "POST_ACTING POST_ACTING continue tool_result.output",
        "PRE_REASONING PRE_REASONING continue options.max_tokens",
        "POST_REASONING POST_REASONING continue message.content[0].text",
        "POST_CALL POST_CALL continue message.content[0].text",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_hook_that_changes_nothing_has_no_changes() {
    let lines = lines_of(|builder| {
        builder.hook(on(|_: &mut PreReasoning<'_>| {})).hook(on(|_: &PostActing<'_>| {}))
    })
    .await;
    let round = "PRE_REASONING PRE_REASONING continue";
    assert_eq!(lines, [round, "POST_ACTING POST_ACTING continue", round]);
}

#[tokio::test]
async fn each_flow_has_its_name() {
    async fn flow(hook: impl AgentHook) -> String {
        let lines = lines_of(|builder| builder.hook(hook)).await;
        lines[0].split(' ').nth(2).unwrap().to_owned()
    }
    assert_eq!(flow(on(|event: &mut PreActing<'_>| event.refuse("no"))).await, "refuse");
    assert_eq!(flow(on(|event: &mut PreActing<'_>| event.ask("sure?"))).await, "ask");
    assert_eq!(flow(on(|event: &mut PreActing<'_>| event.stop())).await, "stop");
    assert_eq!(flow(on(|event: &mut PostActing<'_>| event.jump_to_end())).await, "jump");
    assert_eq!(flow(on(|event: &mut PreCall<'_>| event.answer(Msg::user("no")))).await, "answer");
    let fails = on(|_: &mut PreCall<'_>| -> HookResult { Err("broken".into()) });
    assert_eq!(flow(fails).await, "failed");
}

#[tokio::test]
async fn a_hook_that_recovers_and_one_that_panics_are_received() {
    let lines = Arc::new(Lines::default());
    let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
    let recover = on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "Later.")));
    let panics = on(|event: &mut PostCall<'_>| {
        assert!(event.final_message().text().is_empty(), "on purpose");
    });
    let agent = ReActAgent::builder("bot").model(model).hook(recover).hook(panics);
    let agent = agent.hook(Watch(lines.clone())).build().unwrap();
    let ended = std::panic::AssertUnwindSafe(agent.call("Go")).catch_unwind().await;
    assert!(ended.is_err());
    assert_eq!(lines.0.take(), ["ERROR ERROR recover", "POST_CALL POST_CALL panicked"]);
}

#[tokio::test]
async fn a_dropped_hook_is_received_as_cancelled() {
    let lines = Arc::new(Lines::default());
    let (model, _) = script(["done"]);
    let waits = on!(async move |_: &mut PreCall<'_>| std::future::pending::<()>().await);
    let agent = ReActAgent::builder("bot").model(model).hook(waits);
    let agent = agent.hook(Watch(lines.clone())).build().unwrap();
    assert!(agent.call("Go").now_or_never().is_none());
    assert_eq!(lines.0.take(), ["PRE_CALL PRE_CALL cancelled"]);
}

/// Around the model: changes the request; around tools: changes the call and the result.
struct Around;

#[agent_hook]
impl Around {
    async fn ask(
        &self,
        mut call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        call.request_mut().messages.push(Msg::user("more"));
        next.run(call.into_request()).await
    }

    async fn run(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        call.tool_use_mut().input["text"] = "ho".into();
        let mut result = next.run(call.into_tool_use()).await?;
        result.output = "***".into();
        Ok(result)
    }
}

#[tokio::test]
async fn hooks_around_calls_are_received_with_what_they_passed_on() {
    let lines = lines_of(|builder| builder.hook(Around)).await;
    let expected = [
        "Around MODEL_CALL continue messages[1]",
        "Around TOOL_CALL continue tool_use.input.text,tool_result.output",
        "Around MODEL_CALL continue messages[3]",
    ];
    assert_eq!(lines, expected);
}

/// Denies every tool call.
struct Deny;

#[agent_hook]
impl Deny {
    async fn deny(&self, call: ToolCall<'_>, _: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let tool = call.tool_use().name.clone();
        Err(ToolError::Denied { tool, reason: "no".to_owned() })
    }
}

#[tokio::test]
async fn a_hook_that_denies_a_call_refuses_it() {
    let lines = lines_of(|builder| builder.hook(Deny)).await;
    assert_eq!(lines, ["Deny TOOL_CALL refuse"]);
}

#[tokio::test]
async fn hidden_arguments_are_in_no_change() {
    #[derive(Default)]
    struct Texts(Records<String>);
    impl HookWatcher for Texts {
        fn hook_ran(&self, run: &HookRun<'_>) {
            self.0.push(format!("{run:?} {:?}", run.changes()));
        }
    }
    let texts = Arc::new(Texts::default());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("key", json!("hunter2")));
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.hook(hide).hook(Around).hook(Watch(texts.clone())).build().unwrap();
    agent.call("Go").await.unwrap();
    let texts = texts.0.take();
    assert!(!texts.is_empty());
    assert!(texts.iter().all(|text| !text.contains("hunter2")), "{texts:#?}");
}

type Whose = (Level, i32, Option<HookRole>, Option<String>, HookFlow);

#[tokio::test]
async fn a_run_says_whose_it_is() {
    #[derive(Default)]
    struct Seen(Records<Whose>);
    impl HookWatcher for Seen {
        fn hook_ran(&self, run: &HookRun<'_>) {
            assert_eq!(run.context().agent_name(), "bot");
            assert!(run.elapsed() < Duration::from_mins(1));
            let id = run.tool_call_id().map(str::to_owned);
            self.0.push((run.level(), run.priority(), run.role(), id, run.flow()));
        }
    }
    let seen = Arc::new(Seen::default());
    let (model, _) = script([uses([echo("call-7", "hi")]), "done".into()]);
    let guard = on(|_: &mut PreActing<'_>| {}).with_priority(5).with_role(HookRole::Redacts);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.hook(guard).hook(Watch(seen.clone())).build().unwrap();
    agent.call("Go").await.unwrap();
    let id = Some("call-7".to_owned());
    let run = (Level::Instance, 5, Some(HookRole::Redacts), id, HookFlow::Continue);
    assert_eq!(seen.0.take(), [run]);
}

#[tokio::test]
async fn chunks_are_received_only_where_a_hook_fails() {
    let quiet = lines_of(|builder| builder.hook(on(|_: &ReasoningChunk<'_>| {}))).await;
    assert_eq!(quiet, Vec::<String>::new());
    let fails = on(|_: &ReasoningChunk<'_>| -> HookResult { Err("broken".into()) });
    let failed = lines_of(|builder| builder.hook(fails)).await;
    assert_eq!(failed, vec!["REASONING_CHUNK REASONING_CHUNK failed"; 2]);
}

#[tokio::test]
async fn hooks_of_sub_agents_are_received_if_the_watcher_is_inherited() {
    let lines = Arc::new(Lines::default());
    let (poet, _) = script(["a poem"]);
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - P."));
    let poet = ReActAgent::builder("poet").model(poet).hook(sign.named("poet's")).build().unwrap();
    let call = ToolUse::new("1", "poet", json!({ "task": "a poem" }));
    let (editor, _) = script([uses([call]), "done".into()]);
    let editor = ReActAgent::builder("editor").model(editor).tool(poet.to_tool("Writes poems."));
    let editor = editor.hook(Watch(lines.clone())).build().unwrap();
    editor.call("Go").await.unwrap();
    assert_eq!(lines.0.take(), ["poet's POST_CALL continue message.content[0].text"]);
}

#[tokio::test]
async fn a_watcher_that_panics_does_not_affect_the_call() {
    struct Panics;
    impl HookWatcher for Panics {
        fn hook_ran(&self, _: &HookRun<'_>) {
            panic!("on purpose");
        }
    }
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).hook(on(|_: &mut PreCall<'_>| {}));
    let agent = agent.hook(Watch(Arc::new(Panics))).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
}

#[tokio::test]
async fn a_call_keeps_the_watchers_that_it_started_with() {
    let lines = Arc::new(Lines::default());
    let (model, _) = script(["done", "done"]);
    let agent = ReActAgent::builder("bot").model(model).hook(on(|_: &mut PreCall<'_>| {}));
    let agent = agent.hook(on(|_: &mut PostCall<'_>| {})).build().unwrap();
    agent.register_agent_hook(Watch(lines.clone()));
    agent.call("Go").await.unwrap();
    agent.remove_agent_hook("watch").unwrap();
    agent.call("Go").await.unwrap();
    let once = ["PRE_CALL PRE_CALL continue", "POST_CALL POST_CALL continue"];
    assert_eq!(lines.0.take(), once);
}

#[tokio::test]
async fn a_watcher_of_all_agents_of_a_type_receives_runs() {
    struct Named(Arc<Lines>);
    impl HookWatcher for Named {
        fn hook_ran(&self, run: &HookRun<'_>) {
            // Other tests run in this process.
            if run.context().agent_name() == "of a class" {
                self.0.hook_ran(run);
            }
        }
    }
    let lines = Arc::new(Lines::default());
    let watch = Watch(Arc::new(Named(lines.clone()))).named("class watch");
    ReActAgent::register_class_agent_hook(watch);
    let (model, _) = script(["done", "done"]);
    let agent = ReActAgent::builder("of a class").model(model).hook(on(|_: &mut PreCall<'_>| {}));
    let agent = agent.build().unwrap();
    agent.call("Go").await.unwrap();
    ReActAgent::remove_class_agent_hook("class watch").unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(lines.0.take(), ["PRE_CALL PRE_CALL continue"]);
}

#[tokio::test]
async fn changes_hold_the_values_before_and_after() {
    #[derive(Default)]
    struct Values(Records<(Option<Value>, Option<Value>)>);
    impl HookWatcher for Values {
        fn hook_ran(&self, run: &HookRun<'_>) {
            for change in run.changes() {
                self.0.push((change.before, change.after));
            }
        }
    }
    let values = Arc::new(Values::default());
    let (model, _) = script(["done"]);
    let change = on(|event: &mut PreCall<'_>| {
        *event.messages_mut().get_mut(0).unwrap() = Msg::user("Went");
        event.messages_mut().push(Msg::user("on"));
    });
    let agent = ReActAgent::builder("bot").model(model).hook(change);
    let agent = agent.hook(Watch(values.clone())).build().unwrap();
    agent.call("Go").await.unwrap();
    let values = values.0.take();
    assert!(values.contains(&(Some(json!("Go")), Some(json!("Went")))), "{values:#?}");
    assert!(values.iter().any(|(before, after)| before.is_none() && after.is_some()));
}

#[tokio::test]
async fn a_watcher_that_two_hooks_bring_receives_each_run_once() {
    let lines = Arc::new(Lines::default());
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).hook(on(|_: &mut PreCall<'_>| {}));
    let agent = agent.hook(Watch(lines.clone())).hook(Watch(lines.clone()).named("again"));
    agent.build().unwrap().call("Go").await.unwrap();
    assert_eq!(lines.0.take(), ["PRE_CALL PRE_CALL continue"]);
}

#[tokio::test]
async fn a_hook_that_runs_a_tool_twice_at_once_is_received_once() {
    let lines = lines_of(|builder| builder.hook(Twice.named("twice"))).await;
    assert_eq!(lines, ["twice TOOL_CALL continue"]);
}

struct Twice;

#[agent_hook]
impl Twice {
    async fn twice(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let call = call.into_tool_use();
        let (one, _) = futures::join!(next.run(call.clone()), next.run(call));
        one
    }
}

#[tokio::test]
async fn a_watcher_that_panics_as_it_is_asked_what_it_watches_does_not_fail_the_call() {
    struct Panics(Records<String>);

    impl HookWatcher for Panics {
        fn hook_ran(&self, run: &HookRun<'_>) {
            self.0.push(run.hook().to_owned());
        }

        fn only_shadow(&self) -> bool {
            panic!("it is not known")
        }
    }

    let panics = Arc::new(Panics(Records::new()));
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("!"));
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let builder = ReActAgent::builder("bot").model(model).hook(sign.named("sign"));
    let agent = builder.hook(Watch(panics.clone())).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done.!");
    assert_eq!(panics.0.take(), ["sign"]);
}
