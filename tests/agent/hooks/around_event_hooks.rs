//! Event hooks that run around calls of the model and of tools.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventMask, PreCall};
use hooks_agent_core::hook::{
    AgentHook, AgentHookExt, AroundMask, Blocking, DynAgentHook, ModelCall, NextModel, NextTool,
    ToolCall,
};
use hooks_agent_core::message::{Msg, ToolResult};
use hooks_agent_core::model::{ModelAnswer, ModelError, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::ToolError;
use hooks_core::{HookOptions, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{assert_valid, echo, echo_tool, go, results, script, uses};

/// Notes each call that it runs around, before and after.
#[derive(Clone)]
struct Around {
    name: &'static str,
    priority: i32,
    inherits: bool,
    notes: Arc<Records<String>>,
}

impl AgentHook for Around {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn priority(&self) -> i32 {
        self.priority
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn inherit(&self) -> bool {
        self.inherits
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL | AroundMask::TOOL_CALL
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        self.notes.push(format!("{} {} asks", self.name, call.agent().name()));
        let answer = next.run(call.into_request()).await;
        self.notes.push(format!("{} asked", self.name));
        answer
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.notes.push(format!("{} runs {}", self.name, call.tool_use().name));
        next.run(call.into_tool_use()).await
    }
}

fn around(name: &'static str, priority: i32, notes: &Arc<Records<String>>) -> Around {
    Around { name, priority, inherits: false, notes: notes.clone() }
}

#[tokio::test]
async fn hooks_around_calls_run_by_priority_among_hooks_of_methods() {
    let told = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(around("inner", 30, &told))
        .hook(around("outer", 10, &told))
        .build()
        .unwrap();
    let between = told.clone();
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        HookOptions::named("between").priority(20),
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            between.push("between".to_owned());
            next.run(args).await
        }),
    );
    agent.call(go()).await.unwrap();
    let round = ["outer bot asks", "between", "inner bot asks", "inner asked", "outer asked"];
    let tools = ["outer runs echo", "inner runs echo"];
    assert_eq!(told.take(), [&round[..], &tools, &round].concat());
}

#[tokio::test]
async fn a_hook_around_calls_is_in_the_plan_and_goes_by_its_name() {
    let notes = Arc::new(Records::new());
    let (model, _) = script(["one", "two"]);
    let agent = ReActAgent::builder("bot").model(model).hook(around("a", 10, &notes));
    let agent = agent.build().unwrap();
    let plan = agent.hook_plan();
    let types: Vec<_> = plan.hooks().iter().map(|hook| hook.hook_type().to_string()).collect();
    assert_eq!(types, ["around_model_call", "around_tool_call"]);
    agent.remove_agent_hook("a").unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(notes.take(), [""; 0]);
    assert!(agent.hook_plan().hooks().is_empty());
}

#[tokio::test]
async fn a_hook_runs_around_calls_of_sub_agents_if_it_is_inherited() {
    for inherits in [true, false] {
        let notes = Arc::new(Records::new());
        let (model, _) = script(["a poem"]);
        let poet = ReActAgent::builder("poet").model(model).build().unwrap();
        let task = serde_json::json!({ "task": "a poem" });
        let call = hooks_agent_core::message::ToolUse::new("1", "poet", task);
        let (model, _) = script([uses([call]), "done".into()]);
        let boss = ReActAgent::builder("boss")
            .model(model)
            .tool(poet.to_tool("Writes poems"))
            .hook(Around { inherits, ..around("a", 10, &notes) })
            .build()
            .unwrap();
        boss.call(go()).await.unwrap();
        let asked_by_poet = notes.take().iter().any(|note| note == "a poet asks");
        assert_eq!(asked_by_poet, inherits);
    }
}

/// Asks again if the model is busy, then asks another model.
struct Fallback(ScriptedModel);

#[agent_hook]
impl Fallback {
    async fn ask(
        &self,
        mut call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        for _ in 0..2 {
            match next.run(call.request().clone()).await {
                Err(AgentError::Model(ModelError::Status { status: 503, .. })) => {}
                ended => return ended,
            }
        }
        call.request_mut().messages.push(Msg::user("the other one is busy"));
        Ok(ModelAnswer::ask(&self.0, call.into_request()).await?)
    }
}

#[tokio::test]
async fn a_hook_may_ask_again_and_ask_another_model() {
    let (busy, asked) = script([503, 503].map(|status| ModelError::status("busy", status)));
    let spare = ScriptedModel::new("spare", hooks_agent_core::model::ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(busy).hook(Fallback(spare)).build().unwrap();
    let told = Arc::new(Records::new());
    let noted = told.clone();
    let model_name = move |event: &mut hooks_agent_core::event::PostReasoning<'_>| {
        noted.push(event.model_name().to_owned());
    };
    agent.register_agent_hook(hooks_agent_core::hook::on(model_name));
    assert_eq!(agent.call(go()).await.unwrap().text(), "the other one is busy");
    assert_eq!((asked.take().len(), told.take()), (2, vec!["spare".to_owned()]));
    assert_eq!(agent.memory().messages().len(), 2);
}

/// Answers one tool call itself, changes one, and refuses one with its name.
struct Door;

#[agent_hook(name = "door")]
impl Door {
    async fn pass(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        match call.tool_use().input["text"].as_str() {
            Some("cached") => Ok(ToolResult::success(call.tool_use(), "from the cache")),
            Some("secret") => {
                call.tool_use_mut().input["text"] = "***".into();
                next.run(call.into_tool_use()).await
            }
            Some("shut") => Err(next.fail("nobody passes")),
            _ => next.run(call.into_tool_use()).await,
        }
    }
}

fn behind_the_door(texts: &[&str]) -> (ReActAgent, Arc<Records<String>>) {
    let ran = Arc::new(Records::new());
    let calls = texts.iter().enumerate().map(|(id, text)| echo(&id.to_string(), text));
    let (model, _) = script([uses(calls), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).hook(Door);
    (agent.build().unwrap(), ran)
}

#[tokio::test]
async fn a_hook_may_answer_for_a_tool_or_change_its_call() {
    let (agent, ran) = behind_the_door(&["cached", "secret", "plain"]);
    agent.call(go()).await.unwrap();
    let answered: Vec<_> = results(&agent).into_iter().map(|(_, output)| output).collect();
    assert_eq!(answered, ["from the cache", "***", "plain"]);
    assert_eq!(ran.take(), ["***", "plain"]);
    let messages = agent.memory().messages();
    let changed =
        messages.iter().flat_map(hooks_agent_core::message::Msg::tool_results).nth(1).unwrap();
    assert_eq!(changed.ran.as_ref().unwrap().input["text"], "***");
}

#[tokio::test]
async fn a_hook_that_fails_a_tool_call_is_named_and_fails_the_call() {
    let (agent, ran) = behind_the_door(&["shut"]);
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::Hook(_)), "{error:?}");
    assert_eq!(error.to_string(), "instance hook `door` failed at around_tool_call: nobody passes");
    assert!(ran.take().is_empty());
    assert_valid(&agent);
}

#[tokio::test]
async fn a_hook_around_a_tool_call_sees_whether_the_tool_is_idempotent() {
    struct Ask(Arc<Records<bool>>);

    #[agent_hook]
    impl Ask {
        async fn ask(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            self.0.push(call.is_idempotent());
            next.run(call.into_tool_use()).await
        }
    }

    let seen = Arc::new(Records::new());
    let unknown = hooks_agent_core::message::ToolUse::new("2", "gone", serde_json::json!({}));
    let (model, _) = script([uses([echo("1", "hi"), unknown]), "done".into()]);
    let tool = echo_tool(&Arc::default()).idempotent();
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(Ask(seen.clone()));
    agent.build().unwrap().call(go()).await.unwrap();
    assert_eq!(seen.take(), [true, false]);
}

#[test]
fn a_boxed_hook_does_all_that_it_does_unboxed() {
    let notes = Arc::new(Records::new());
    let around: Box<dyn DynAgentHook> = Box::new(around("boxed", 10, &notes));
    let of_calls = notes.clone();
    let told = hooks_agent_core::hook::on(move |event: &mut PreCall<'_>| {
        of_calls.push(format!("{} is called", event.agent().name()));
    });
    let told: Box<dyn DynAgentHook> = Box::new(told.named("told").with_priority(7));
    assert_eq!((told.name(), told.priority(), around.inherit()), ("told".to_owned(), 7, false));
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.hook(around).hook(told).build().unwrap();
    block_on(agent.call(go())).unwrap();
    let round = ["boxed bot asks", "boxed asked"];
    assert_eq!(
        notes.take(),
        [&["bot is called"][..], &round, &["boxed runs echo"], &round].concat()
    );
}

#[tokio::test]
async fn blocking_and_shared_hooks_run_around_calls_as_they_are() {
    let notes = Arc::new(Records::new());
    let hook = Blocking(Arc::new(around("a", 10, &notes)));
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(notes.take(), ["a bot asks", "a asked"]);
}

#[tokio::test]
async fn a_hook_that_does_not_pass_a_model_call_on_may_answer_it() {
    struct Cache;

    #[agent_hook]
    impl Cache {
        async fn answer(
            &self,
            call: ModelCall<'_>,
            _next: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let model = ScriptedModel::new("cache", |_| ScriptedAnswer::from("as always"));
            Ok(ModelAnswer::ask(&model, call.into_request()).await?)
        }
    }

    let (model, asked) = script(["never"]);
    let agent = ReActAgent::builder("bot").model(model).hook(Cache).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "as always");
    assert!(asked.take().is_empty());
}
