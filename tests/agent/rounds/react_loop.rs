//! The loop of the `ReAct` agent, its hooks, and the rule of its memory.

use std::error::Error as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::agent::{Agent, AgentExt, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, BuildError};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses,
};
use hooks_agent_core::model::{ChatRequest, ModelError, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::{
    ReActAgent, ReActAgentActingArgs, ReActAgentBuilder, ReActAgentReasoningArgs,
};
use hooks_agent_core::round::{Acted, Reasoned};
use hooks_agent_core::tool::FunctionTool;
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::Records;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

fn add() -> FunctionTool {
    FunctionTool::new("add", "Adds two numbers.", async |numbers: Numbers| {
        (numbers.a + numbers.b).to_string()
    })
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn fail() -> FunctionTool {
    FunctionTool::new("fail", "Fails.", async |_: Nothing| -> Result<String, std::io::Error> {
        Err(std::io::Error::other("the disk is full"))
    })
}

fn explode() -> FunctionTool {
    FunctionTool::new("explode", "Panics.", async |_: Nothing| -> String { panic!("as told") })
}

fn uses(calls: impl IntoIterator<Item = ToolUse>) -> ScriptedAnswer {
    calls.into_iter().map(ContentBlock::ToolUse).collect::<Vec<_>>().into()
}

/// Asks for the calls first; then answers with what the tools said, joined by `; `.
fn calls_then_results(calls: Vec<ToolUse>) -> ScriptedModel {
    ScriptedModel::new("scripted", move |request: &ChatRequest| {
        let last_user = request.messages.iter().rposition(|msg| msg.role == Role::User);
        let since = request.messages.iter().skip(last_user.unwrap_or(0));
        let results: Vec<_> =
            since.flat_map(hooks_agent_core::message::Msg::tool_results).collect();
        if results.is_empty() {
            return uses(calls.clone());
        }
        let results = results.iter().map(|result| {
            format!("{}{}", if result.is_error { "error: " } else { "" }, result.output)
        });
        results.collect::<Vec<_>>().join("; ").into()
    })
}

fn builder(calls: Vec<ToolUse>) -> ReActAgentBuilder {
    ReActAgent::builder("bot")
        .model(calls_then_results(calls))
        .tool(add())
        .tool(fail())
        .tool(explode())
}

fn agent(calls: Vec<ToolUse>) -> ReActAgent {
    builder(calls).build().unwrap()
}

fn add_call(id: &str, a: i64, b: i64) -> ToolUse {
    ToolUse::new(id, "add", json!({ "a": a, "b": b }))
}

async fn ask(agent: &ReActAgent) -> Result<String, AgentError> {
    agent.call(Msg::user("go")).await.map(|reply| reply.text())
}

fn assert_valid(agent: &ReActAgent) {
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()), []);
}

/// The results in memory, as id, output and whether it is an error.
fn results(agent: &ReActAgent) -> Vec<(String, String, bool)> {
    let messages = agent.memory().messages();
    let results = messages.iter().flat_map(hooks_agent_core::message::Msg::tool_results).cloned();
    results.map(|result| (result.id, result.output.to_string(), result.is_error)).collect()
}

#[tokio::test]
async fn the_agent_acts_until_the_model_asks_for_no_more_tools() {
    let agent = agent(vec![add_call("1", 1, 2), add_call("2", 3, 4)]);
    assert_eq!(ask(&agent).await.unwrap(), "3; 7");
    let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::Assistant]);
    assert_valid(&agent);
}

#[tokio::test]
async fn what_goes_wrong_with_a_tool_is_a_result_that_the_model_reads() {
    let agent = agent(vec![
        ToolUse::new("1", "fail", json!({})),
        ToolUse::new("2", "explode", json!({})),
        ToolUse::new("3", "invented", json!({})),
        ToolUse::new("4", "add", json!({ "a": 1 })),
        ToolUse::invalid("5", "add", "{\"a\": 1,"),
        add_call("6", 1, 1),
    ]);
    assert_eq!(
        ask(&agent).await.unwrap(),
        "error: the disk is full; \
         error: the tool `explode` panicked; \
         error: no tool named `invented`, there are: add, fail, explode; \
         error: arguments of `add` do not fit: missing field `b`; \
         error: the arguments of `add` are not a JSON object: {\"a\": 1,; write an object that \
         fits its schema; \
         2",
    );
    assert_valid(&agent);
}

#[tokio::test]
async fn every_method_is_a_hook_point() {
    let printed = Arc::new(Records::<String>::new());
    let page = printed.clone();
    let agent = builder(vec![add_call("1", 1, 2)])
        .system_prompt("Add.")
        .printer(move |text| page.push(text.to_owned()))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_REPLY,
        "reply",
        |_: &ReActAgent, args: &mut AgentReplyArgs| {
            args.messages.last_mut().unwrap().push_text(" on");
        },
    );
    agent.register_instance_hook(
        ReActAgent::PRE_REASONING,
        "reasoning",
        |_: &ReActAgent, args: &mut ReActAgentReasoningArgs| {
            assert_eq!(args.input.system.as_deref(), Some(&Msg::system("Add.")));
            assert_eq!(args.input.messages[0].text(), "go on");
        },
    );
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "bigger",
        |_: &ReActAgent, args: &mut ReActAgentActingArgs| {
            args.input.call_mut().input["a"] = json!(10);
        },
    );
    agent.register_instance_hook(
        ReActAgent::POST_ACTING,
        "units",
        |_: &ReActAgent, args: &ReActAgentActingArgs, acted: &mut Acted| {
            assert_eq!(args.input.call.input, json!({ "a": 10, "b": 2 }));
            acted.result.as_mut().unwrap().output.text_mut().push_str(" apples");
        },
    );
    agent.register_instance_hook(
        ReActAgent::PRE_PRINT,
        "shout",
        |_: &ReActAgent, args: &mut AgentPrintArgs| args.text = args.text.to_uppercase(),
    );
    agent.register_instance_hook(
        ReActAgent::PRE_OBSERVE,
        "observe",
        |_: &ReActAgent, args: &mut AgentObserveArgs| args.msg.push_text("!"),
    );
    assert_eq!(ask(&agent).await.unwrap(), "12 apples");
    assert_eq!(printed.take(), ["12 APPLES"]);
    // What the hook set is what memory holds; the model's own call stays as it was.
    assert_eq!(results(&agent), [("1".to_owned(), "12 apples".to_owned(), false)]);
    let calls = agent.memory().messages()[1].tool_uses().next().cloned();
    assert_eq!(calls, Some(add_call("1", 1, 2)));

    let cx = agent.context(CallOptions::new());
    agent.observe(cx, Msg::user("by the way")).await.unwrap();
    assert_eq!(agent.memory().messages().last().unwrap().text(), "by the way!");
}

#[tokio::test]
async fn a_pre_hook_may_answer_for_a_tool_and_the_model_can_react() {
    let agent = agent(vec![add_call("1", 1, 2), add_call("2", 3, 4)]);
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "refuse",
        |_: &ReActAgent, args: &ReActAgentActingArgs| match args.input.call.id.as_str() {
            "1" => {
                let refused = ToolResult::error(&args.input.call, "refused");
                ControlFlow::Break(args.input.answered(refused))
            }
            _ => ControlFlow::Continue(()),
        },
    );
    assert_eq!(ask(&agent).await.unwrap(), "error: refused; 7");
    assert_valid(&agent);
}

#[tokio::test]
async fn a_result_answers_its_call_whatever_id_a_hook_gives_it() {
    let agent = agent(vec![add_call("1", 1, 2)]);
    agent.register_instance_hook(
        ReActAgent::POST_ACTING,
        "other id",
        |_: &ReActAgent, _: &ReActAgentActingArgs, acted: &mut Acted| {
            acted.result.as_mut().unwrap().id = "other".to_owned();
        },
    );
    ask(&agent).await.unwrap();
    assert_valid(&agent);
}

#[tokio::test]
async fn a_hook_that_fails_fails_the_call_and_leaves_no_tool_call_unanswered() {
    let calls = || vec![add_call("1", 1, 2), add_call("2", 3, 4), add_call("3", 5, 6)];
    let agent = agent(calls());
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "deny",
        |_: &ReActAgent, args: &ReActAgentActingArgs| -> HookResult {
            if args.input.call.id == "2" { Err("denied".into()) } else { Ok(()) }
        },
    );
    let error = ask(&agent).await.unwrap_err();
    assert_eq!(error.to_string(), "instance hook `deny` failed at pre_acting: denied");
    assert_eq!(error.source().unwrap().to_string(), "denied");
    let stopped = "the run was stopped before this call was answered";
    let expected = [("1", "3", false), ("2", stopped, true), ("3", stopped, true)];
    let expected = expected.map(|(id, output, is_error)| (id.into(), output.into(), is_error));
    assert_eq!(results(&agent), expected);
    assert_valid(&agent);

    agent.clear_all_instance_hooks();
    assert_eq!(ask(&agent).await.unwrap(), "3; 7; 11");
    assert_valid(&agent);
}

fn panic(_: &ReActAgent, _: &ReActAgentActingArgs) {
    panic!("as told");
}

#[tokio::test]
async fn a_hook_that_panics_leaves_memory_valid_and_the_agent_usable() {
    let agent = Arc::new(agent(vec![add_call("1", 1, 2)]));
    agent.register_instance_hook(ReActAgent::PRE_ACTING, "panic", panic);
    let panicking = agent.clone();
    let call = tokio::spawn(async move { ask(&panicking).await });
    assert!(call.await.unwrap_err().is_panic());
    assert_valid(&agent);
    agent.clear_all_instance_hooks();
    assert_eq!(ask(&agent).await.unwrap(), "3");
}

#[tokio::test]
async fn a_call_that_is_dropped_at_a_tool_leaves_memory_valid() {
    let agent = agent(vec![add_call("1", 1, 2), add_call("2", 3, 4)]);
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "hang",
        hook!(ReActAgent::PRE_ACTING, async |_, args| {
            if args.input.call.id == "2" {
                std::future::pending::<()>().await;
            }
        }),
    );
    let mut call = Box::pin(ask(&agent));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    assert_eq!(results(&agent).len(), 2);
    assert_valid(&agent);
    agent.clear_all_instance_hooks();
    assert_eq!(ask(&agent).await.unwrap(), "3; 7");
}

#[tokio::test]
async fn the_rounds_of_a_call_are_limited() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let counted = rounds.clone();
    let model = ScriptedModel::new("tireless", move |_: &ChatRequest| {
        let round = counted.fetch_add(1, Ordering::Relaxed);
        uses([add_call(&round.to_string(), 1, 1)])
    });
    let agent = ReActAgent::builder("bot").model(model).tool(add()).max_iters(3).build().unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    // Three rounds, and the summary.
    assert_eq!(rounds.load(Ordering::Relaxed), 4);
    assert_valid(&agent);
}

#[tokio::test]
async fn calls_that_share_an_id_are_told_apart() {
    let agent = agent(vec![add_call("1", 1, 2), add_call("1", 3, 4), add_call("", 5, 6)]);
    assert_eq!(ask(&agent).await.unwrap(), "3; 7; 11");
    assert_valid(&agent);
}

#[tokio::test]
async fn calls_that_a_hook_doubles_are_told_apart() {
    let agent = agent(vec![add_call("1", 1, 2)]);
    agent.register_instance_hook(
        ReActAgent::POST_REASONING,
        "double",
        |_: &ReActAgent, _: &ReActAgentReasoningArgs, reasoned: &mut Reasoned| {
            let message = Arc::make_mut(reasoned.message.as_mut().unwrap());
            message.content.extend_from_within(..);
        },
    );
    ask(&agent).await.unwrap();
    assert_eq!(results(&agent).len(), 2);
    assert_valid(&agent);
}

#[tokio::test]
async fn an_error_of_the_model_fails_the_call_and_the_next_one_works() {
    let failed = ModelError::Failed { model: "m".to_owned(), reason: "out of order".to_owned() };
    let first = AtomicUsize::new(0);
    let model = ScriptedModel::new("m", move |_: &ChatRequest| -> ScriptedAnswer {
        match first.fetch_add(1, Ordering::Relaxed) {
            0 => failed.clone().into(),
            _ => "fine".into(),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    assert_eq!(ask(&agent).await.unwrap_err().to_string(), "model `m` failed: out of order");
    assert_eq!(ask(&agent).await.unwrap(), "fine");
}

#[test]
fn an_agent_without_a_model_or_with_two_tools_of_a_name_is_not_built() {
    let error = ReActAgent::builder("bot").build().unwrap_err();
    assert_eq!(error, BuildError::MissingModel { agent: "bot".to_owned() });
    assert_eq!(error.to_string(), "agent `bot` has no model, add `.model(..)`");
    let error = builder(Vec::new()).tool(add()).build().unwrap_err();
    assert_eq!(error.to_string(), "agent `bot` has two tools named `add`, rename one of them");
}

#[test]
fn messages_survive_json_with_a_type_on_each_block() {
    let call = add_call("1", 1, 2);
    let mut msg = Msg::from_blocks(
        Role::Assistant,
        "bot",
        vec![
            ContentBlock::thinking("hm"),
            ContentBlock::text("let me see"),
            ContentBlock::ToolUse(call.clone()),
            ContentBlock::ToolUse(ToolUse::invalid("2", "add", "{")),
            ContentBlock::ToolResult(ToolResult::error(&call, "no")),
        ],
    );
    msg.metadata.insert("stamp".to_owned(), json!(1));
    let json = serde_json::to_value(&msg).unwrap();
    let types: Vec<_> =
        json["content"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
    assert_eq!(types, ["thinking", "text", "tool_use", "tool_use", "tool_result"]);
    assert_eq!(
        json["content"][2],
        json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 1, "b": 2 } }),
    );
    assert_eq!(serde_json::from_value::<Msg>(json).unwrap(), msg);
}

#[test]
fn signatures_survive_json_and_leave_no_trace_where_there_are_none() {
    let thought = ContentBlock::thinking("hm");
    let json = json!({ "type": "thinking", "thinking": "hm" });
    assert_eq!(serde_json::to_value(&thought).unwrap(), json);
    assert_eq!(serde_json::from_value::<ContentBlock>(json).unwrap(), thought);

    let signature = Some("sig".to_owned());
    let mut signed = add_call("1", 1, 2);
    signed.signature.clone_from(&signature);
    let blocks = [
        ContentBlock::Thinking { thinking: "hm".to_owned(), signature: signature.clone() },
        ContentBlock::RedactedThinking { data: "encrypted".to_owned() },
        ContentBlock::ToolUse(signed),
    ];
    for block in blocks {
        let json = serde_json::to_value(&block).unwrap();
        assert_eq!(serde_json::from_value::<ContentBlock>(json).unwrap(), block);
    }
}

#[test]
fn the_schema_of_a_tool_is_one_object_with_its_fields() {
    use hooks_agent_core::tool::Tool as _;

    let integer = json!({ "type": "integer", "format": "int64" });
    assert_eq!(
        *add().schema(),
        json!({
            "type": "object",
            "properties": { "a": integer, "b": integer },
            "required": ["a", "b"],
        }),
    );
}
