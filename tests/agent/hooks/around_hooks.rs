//! Hooks around the steps of a call: the onion (vectors P2).

use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{ContentBlock, Messages, Msg, Role, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ModelAnswer, ModelOptions, ScriptedModel, ToolChoice,
};
use hooks_agent_core::react::{
    CompressContext, ContextConfig, ReActAgent, ReActAgentCheckPermissionArgs,
    ReActAgentSystemPromptArgs,
};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::Permission;
use hooks_core::{BoxError, BoxFuture, HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, on, results, script, uses};
use serde_json::json;

type Log = Arc<Records<String>>;

fn plain() -> ReActAgent {
    let (model, _) = script(["one two"]);
    ReActAgent::builder("bot").model(model).system_prompt("base").build().unwrap()
}

/// Two hooks of that kind, registered in order.
macro_rules! twice {
    ($log:expr, |$name:ident, $log_in:ident| $register:expr) => {
        for name in ["mw1", "mw2"] {
            let ($name, $log_in) = (name, $log.clone());
            $register;
        }
    };
}

/// P2-01: what an around hook puts between the call and its stream sees the events, the inner
/// before the outer.
#[tokio::test]
async fn around_hooks_of_the_reply_see_its_events_from_the_inside_out() {
    let (log, agent) = (Log::default(), plain());
    twice!(log, |name, log| agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        name,
        hook!(ReActAgent::AROUND_REPLY, async move |_, mut args, next| {
            log.push(format!("{name}_pre"));
            let seen = log.clone();
            args.cx = args.cx.map_events(move |event| {
                let kind = format!("{:?}", event.kind);
                let kind = kind.split(['(', ' ']).next().unwrap_or_default();
                seen.push(format!("{name}_{kind}"));
                Some(event)
            });
            let reply = next.run(args).await;
            log.push(format!("{name}_post"));
            reply
        }),
    ));
    let events: Vec<_> = agent.stream(go()).collect().await;
    assert!(matches!(events.last().unwrap().as_ref().unwrap().kind, AgentEventKind::Finished(_)));
    let inside = ["ReasoningStarted", "ReasoningChunk", "ReasoningChunk", "Reasoned"];
    let inside = inside.iter().flat_map(|kind| [format!("mw2_{kind}"), format!("mw1_{kind}")]);
    let expected: Vec<_> = ["mw1_pre", "mw2_pre"]
        .map(str::to_owned)
        .into_iter()
        .chain(inside)
        .chain(["mw2_post", "mw1_post"].map(str::to_owned))
        .collect();
    assert_eq!(log.take(), expected);
}

#[tokio::test]
async fn events_can_be_changed_and_dropped_on_their_way() {
    let agent = plain();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "quiet",
        hook!(ReActAgent::AROUND_REPLY, async |_, mut args, next| {
            args.cx = args.cx.map_events(|mut event| match &mut event.kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) if text == "two" => {
                    *text = "2".to_owned();
                    Some(event)
                }
                AgentEventKind::ReasoningChunk(_) => None,
                _ => Some(event),
            });
            next.run(args).await
        }),
    );
    let mut said = Vec::new();
    let mut events = agent.stream(go());
    while let Some(event) = events.next().await {
        if let AgentEventKind::ReasoningChunk(chunk) = event.unwrap().kind {
            said.push(chunk);
        }
    }
    assert_eq!(said, [ContentBlock::text("2")]);
}

/// P2-03, P2-07, P2-08.
#[tokio::test]
async fn each_step_is_inside_of_the_one_before() {
    let (log, agent) = (Log::default(), plain());
    let (reply, reasoning, model, prompt) = (log.clone(), log.clone(), log.clone(), log.clone());
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "reply",
        hook!(ReActAgent::AROUND_REPLY, async move |_, mut args, next| {
            reply.push("reply_pre".to_owned());
            let text =
                args.messages.last().map(hooks_agent_core::message::Msg::text).unwrap_or_default();
            args.messages = Msg::user(format!("MODIFIED: {text}")).into();
            let ended = next.run(args).await;
            reply.push("reply_post".to_owned());
            ended
        }),
    );
    agent.register_instance_hook(
        ReActAgent::AROUND_REASONING,
        "reasoning",
        hook!(ReActAgent::AROUND_REASONING, async move |_, args, next| {
            reasoning.push("reasoning_pre".to_owned());
            let ended = next.run(args).await;
            reasoning.push("reasoning_post".to_owned());
            ended
        }),
    );
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "model",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            model.push(format!("model_call_pre {}", args.request.last_text()));
            let ended = next.run(args).await;
            model.push("model_call_post".to_owned());
            ended
        }),
    );
    agent.register_instance_hook(
        ReActAgent::PRE_SYSTEM_PROMPT,
        "prompt",
        move |_: &ReActAgent, _: &ReActAgentSystemPromptArgs| {
            prompt.push("system_prompt".to_owned());
        },
    );
    agent.call(Msg::user("original message")).await.unwrap();
    let expected = [
        "reply_pre",
        "system_prompt",
        "reasoning_pre",
        "model_call_pre MODIFIED: original message",
        "model_call_post",
        "reasoning_post",
        "reply_post",
    ];
    assert_eq!(log.take(), expected);
}

/// P2-04, P2-05.
#[tokio::test]
async fn hooks_around_the_model_may_wrap_its_stream() {
    let (log, agent) = (Log::default(), plain());
    twice!(log, |name, log| agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        name,
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            log.push(format!("{name}_pre"));
            let answer = next.run(args).await?;
            let log = log.clone();
            Ok(answer.map_stream(|stream| {
                let seen = log.clone();
                let watched = stream.inspect(move |_| seen.push(format!("{name}_chunk")));
                let end = futures::stream::once(async move {
                    log.push(format!("{name}_post"));
                    Ok(ChatChunk::Text(" more".to_owned()))
                });
                // Its own piece comes before the end.
                let (pieces, last) = (watched.take(2), Ok(ChatChunk::end(Usage::default())));
                Box::pin(pieces.chain(end).chain(futures::stream::iter([last])))
            }))
        }),
    ));
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.text(), "one two more");
    let expected =
        ["mw1_pre", "mw2_pre", "mw2_chunk", "mw1_chunk", "mw2_chunk", "mw1_chunk", "mw1_post"];
    assert_eq!(log.take(), expected);
}

/// P2-06: ours builds the prompt once a round, and not once more when the call is set up.
#[tokio::test]
async fn the_system_prompt_goes_through_its_hooks_in_order() {
    let log = Log::default();
    let (model, requests) = script([uses([echo("1", "x")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .system_prompt("base")
        .build()
        .unwrap();
    twice!(log, |name, log| agent.register_instance_hook(
        ReActAgent::PRE_SYSTEM_PROMPT,
        name,
        move |_: &ReActAgent, args: &mut ReActAgentSystemPromptArgs| {
            log.push(name.to_owned());
            args.prompt.push_str(" + ");
            args.prompt.push_str(name);
        },
    ));
    agent.call(go()).await.unwrap();
    assert_eq!(log.take(), ["mw1", "mw2", "mw1", "mw2"]);
    for request in requests.take() {
        assert_eq!(request.messages[0], Msg::system("base + mw1 + mw2"));
    }
}

/// P2-09, P2-10, P2-12, P2-13.
#[tokio::test]
async fn what_an_outer_hook_changes_an_inner_one_passes_on() {
    let (log, (model, requests)) = (Log::default(), script(["done"]));
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REASONING,
        "outer",
        hook!(ReActAgent::AROUND_REASONING, async |_, mut args, next| {
            let options = ModelOptions::new().tool_choice(ToolChoice::None);
            args.input.options = options.into();
            args.input.messages.last_mut().unwrap().push_text(", changed");
            next.run(args).await
        }),
    );
    let seen = log.clone();
    agent.register_instance_hook(
        ReActAgent::AROUND_REASONING,
        "inner",
        hook!(ReActAgent::AROUND_REASONING, async move |_, args, next| {
            seen.push(args.input.messages[0].text());
            next.run(args).await
        }),
    );
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "prepend",
        hook!(ReActAgent::AROUND_MODEL_CALL, async |_, mut args, next| {
            args.request.messages.insert(0, Msg::system("first"));
            next.run(args).await
        }),
    );
    let seen = log.clone();
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "look",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            seen.push(args.request.messages[0].text());
            next.run(args).await
        }),
    );
    agent.call(go()).await.unwrap();
    assert_eq!(log.take(), ["go, changed", "first"]);
    let request = requests.take().remove(0);
    assert_eq!(request.options.tool_choice, ToolChoice::None);
    assert_eq!(
        (request.messages[0].role, request.messages[1].text().as_str()),
        (Role::System, "go, changed")
    );
    // The conversation is what it was.
    assert_eq!(agent.memory().messages()[0].text(), "go");
}

/// P2-11.
#[tokio::test]
async fn a_hook_around_the_tool_passes_on_another_call() {
    let (log, ran) = (Log::default(), Log::default());
    let (model, _) = script([uses([echo("1", "ORIGINAL")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).build().unwrap();
    let seen = log.clone();
    agent.register_instance_hook(
        ReActAgent::AROUND_TOOL_CALL,
        "change",
        hook!(ReActAgent::AROUND_TOOL_CALL, async move |_, mut args, next| {
            seen.push(args.call.input["text"].as_str().unwrap_or_default().to_owned());
            Arc::make_mut(&mut args.call).input = json!({ "text": "MODIFIED" });
            next.run(args).await
        }),
    );
    agent.call(go()).await.unwrap();
    assert_eq!(
        (log.take(), ran.take()),
        (vec!["ORIGINAL".to_owned()], vec!["MODIFIED".to_owned()])
    );
}

/// Notes what it is asked, and drops all but the last message.
struct Shorten(Log);

impl CompressContext for Shorten {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        config: &'a ContextConfig,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        self.0.push(format!("{} {} {instructions:?}", config.trigger, config.reserve));
        Box::pin(async move { Ok(messages.last().cloned().into_iter().collect()) })
    }
}

fn compressing(log: &Log, window: Option<u64>) -> ReActAgent {
    let (model, _) = script(["done", "done", "done"]);
    let mut config = ContextConfig::default();
    config.window = window;
    let builder = ReActAgent::builder("bot").model(model);
    builder.compressor(Shorten(log.clone()), config).build().unwrap()
}

/// P2-15 to P2-18.
#[tokio::test]
async fn hooks_around_compression_see_change_and_skip_it() {
    let log = Log::default();
    let agent = compressing(&log, None);
    let cx = agent.context(hooks_agent_core::call::CallOptions::new());
    let messages = Messages::from([go(), go()]);
    let compress = async |instructions: Option<&str>| {
        let config = ContextConfig::default();
        let instructions = instructions.map(str::to_owned);
        agent.compress_context(cx.clone(), messages.clone(), config, instructions).await.unwrap()
    };
    assert_eq!(compress(None).await.len(), 1);
    assert_eq!(log.take(), ["0.8 0.1 None"]);

    twice!(log, |name, log| agent.register_instance_hook(
        ReActAgent::AROUND_COMPRESS_CONTEXT,
        name,
        hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async move |_, args, next| {
            log.push(format!("{name}_pre {:?}", args.instructions));
            let ended = next.run(args).await;
            log.push(format!("{name}_post"));
            ended
        }),
    ));
    compress(Some("keep names")).await;
    let told = "Some(\"keep names\")";
    let expected = [
        format!("mw1_pre {told}"),
        format!("mw2_pre {told}"),
        format!("0.8 0.1 {told}"),
        "mw2_post".to_owned(),
        "mw1_post".to_owned(),
    ];
    assert_eq!(log.take(), expected);

    agent.clear_all_instance_hooks();
    agent.register_instance_hook(
        ReActAgent::AROUND_COMPRESS_CONTEXT,
        "replace",
        hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async |_, mut args, next| {
            args.instructions = Some("other".to_owned());
            next.run(args).await
        }),
    );
    compress(None).await;
    assert_eq!(log.take(), ["0.8 0.1 Some(\"other\")"]);

    agent.clear_all_instance_hooks();
    agent.register_instance_hook(
        ReActAgent::AROUND_COMPRESS_CONTEXT,
        "skip",
        hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async |_, args, _| Ok(args.messages)),
    );
    assert_eq!(compress(None).await.len(), 2);
    assert_eq!(log.take(), [] as [String; 0]);
}

#[tokio::test]
async fn a_conversation_is_compressed_when_its_time_has_come() {
    let log = Log::default();
    // Ten tokens, eight of which trigger: 32 characters.
    let agent = compressing(&log, Some(10));
    agent.call(Msg::user("short")).await.unwrap();
    assert_eq!(log.take(), [] as [String; 0]);
    agent.call(Msg::user("a text of more than thirty-two characters")).await.unwrap();
    assert_eq!(log.take().len(), 1);
    let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
}

/// The engine of P2-20 to P2-27: what the tool says.
fn guarded(permission: Permission) -> (ReActAgent, Log) {
    let ran = Log::default();
    let (model, _) = script([uses([echo("1", "x")]), "done".into()]);
    let tool = echo_tool(&ran).permission(move |call: &ToolUse| {
        assert_eq!(call, &echo("1", "x"));
        permission.clone()
    });
    (ReActAgent::builder("bot").model(model).tool(tool).build().unwrap(), ran)
}

/// P2-20 to P2-22.
#[tokio::test]
async fn hooks_around_permission_see_what_is_decided() {
    for permission in [Permission::Allow, Permission::Ask, Permission::Deny("no".to_owned())] {
        let log = Log::default();
        let (agent, ran) = guarded(permission.clone());
        twice!(log, |name, log| agent.register_instance_hook(
            ReActAgent::AROUND_CHECK_PERMISSION,
            name,
            hook!(ReActAgent::AROUND_CHECK_PERMISSION, async move |_, args, next| {
                log.push(format!("{name}_pre {}", args.call.name));
                let ended = next.run(args).await?;
                log.push(format!("{name}_post {ended:?}"));
                Ok(ended)
            }),
        ));
        agent.call(go()).await.unwrap();
        let expected = [
            "mw1_pre echo".to_owned(),
            "mw2_pre echo".to_owned(),
            format!("mw2_post {permission:?}"),
            format!("mw1_post {permission:?}"),
        ];
        assert_eq!(log.take(), expected);
        assert_eq!(ran.take().len(), usize::from(permission == Permission::Allow));
    }
}

/// P2-23, P2-24, P2-27.
#[tokio::test]
async fn a_hook_around_permission_has_the_last_word() {
    let (agent, ran) = guarded(Permission::Allow);
    agent.register_instance_hook(
        ReActAgent::AROUND_CHECK_PERMISSION,
        "after",
        hook!(ReActAgent::AROUND_CHECK_PERMISSION, async |_, args, next| {
            assert_eq!(next.run(args).await?, Permission::Allow);
            Ok(Permission::Deny("changed its mind".to_owned()))
        }),
    );
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(results(&agent), [("1".to_owned(), "! changed its mind".to_owned())]);

    let (agent, ran) = guarded(Permission::Deny("never".to_owned()));
    agent.register_instance_hook(
        ReActAgent::AROUND_CHECK_PERMISSION,
        "alone",
        hook!(ReActAgent::AROUND_CHECK_PERMISSION, async |_, _, _| Ok(Permission::Allow)),
    );
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), ["x"]);
}

/// P2-26.
#[tokio::test]
async fn a_hook_around_permission_that_fails_fails_the_call() {
    let (agent, ran) = guarded(Permission::Allow);
    agent.register_instance_hook(
        ReActAgent::PRE_CHECK_PERMISSION,
        "policy",
        |_: &ReActAgent, _: &ReActAgentCheckPermissionArgs| -> HookResult {
            Err("policy service unavailable".into())
        },
    );
    let error = agent.call(go()).await.unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "policy service unavailable"
    );
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(results(&agent).len(), 1);
}

/// JR-10.
#[tokio::test]
async fn a_hook_around_the_model_may_ask_another_one_and_events_name_it() {
    let names = Log::default();
    let (model, _) = script([uses([echo("1", "x")])]);
    let (pre, post) = (names.clone(), names.clone());
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .max_iters(1)
        .hook(on(EventKind::PreSummary, move |event| {
            let HookEvent::PreSummary(event) = event else { unreachable!() };
            pre.push(format!("pre:{}", event.model_name()));
            Ok(Flow::Continue)
        }))
        .hook(on(EventKind::PostSummary, move |event| {
            let HookEvent::PostSummary(event) = event else { unreachable!() };
            post.push(format!("post:{}", event.model_name()));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    // The script of the first model is over when the summary is asked for.
    let fallback = ScriptedModel::new("fallback", |_| "Fallback summary output");
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "fallback",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            match next.run(args.clone()).await {
                Err(AgentError::Model(_)) => {
                    Ok(ModelAnswer::new(fallback.name(), fallback.stream(args.request)))
                }
                answer => answer,
            }
        }),
    );
    assert_eq!(agent.call(go()).await.unwrap().text(), "Fallback summary output");
    assert_eq!(names.take(), ["pre:scripted", "post:fallback"]);
}

#[tokio::test]
async fn a_system_prompt_that_a_hook_changed_to_one_of_equal_length_is_sent() {
    let (model, requests) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).system_prompt("aaaa").build().unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_SYSTEM_PROMPT,
        "swap",
        move |_: &ReActAgent, args: &mut ReActAgentSystemPromptArgs| {
            args.prompt = "bbbb".to_owned();
        },
    );
    agent.call(go()).await.unwrap();
    assert_eq!(requests.take()[0].messages[0].text(), "bbbb");
}
