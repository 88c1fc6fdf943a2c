//! Why a call ended: an answer that was cut is no complete one, and what a hook supplied says so.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::InputError;
use hooks_agent_core::event::{ErrorPhase, EventKind, Flow, HookEvent};
use hooks_agent_core::message::{ContentBlock, GenerateReason, Msg, ToolResult, Usage};
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError, ScriptedAnswer};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    Notes, assert_valid, echo, echo_tool, go, on, results, script, uses,
};

type Ran = Arc<Records<String>>;

const CUT: [(FinishReason, GenerateReason); 2] = [
    (FinishReason::Length, GenerateReason::Length),
    (FinishReason::ContentFilter, GenerateReason::ContentFilter),
];

/// An answer of these blocks that ends for this reason.
fn ended(blocks: impl IntoIterator<Item = ContentBlock>, finish: FinishReason) -> ScriptedAnswer {
    let chunk = |block| match block {
        ContentBlock::Text { text } => ChatChunk::Text(text),
        ContentBlock::ToolUse(call) => ChatChunk::ToolUse(call),
        other => panic!("{other:?}"),
    };
    let end = ChatChunk::End { usage: Usage::default(), finish };
    ScriptedAnswer::Stream(blocks.into_iter().map(chunk).chain([end]).map(Ok).collect())
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::text(text)
}

fn bot(answers: Vec<ScriptedAnswer>, ran: &Ran) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(script(answers).0).tool(echo_tool(ran))
}

fn two_calls() -> Vec<ContentBlock> {
    let calls = [echo("a", "A"), echo("b", "B")].map(ContentBlock::ToolUse);
    [text("half")].into_iter().chain(calls).collect()
}

/// The outputs of errors in memory, by id.
fn refused(agent: &ReActAgent) -> Vec<String> {
    let results = results(agent).into_iter();
    results.filter(|(_, output)| output.starts_with("! ")).map(|(id, _)| id).collect()
}

#[tokio::test]
async fn an_answer_that_was_cut_says_so_and_its_tool_calls_get_errors_and_do_not_run() {
    for at_once in [false, true] {
        for (finish, reason) in CUT {
            let (ran, notes) = (Ran::default(), Notes::default());
            let seen = Arc::new(Records::new());
            let log = seen.clone();
            let agent = bot(vec![ended(two_calls(), finish), "next".into()], &ran)
                .parallel_tools(at_once)
                .hook(notes.clone())
                .hook(on(EventKind::PostReasoning, move |event| {
                    let HookEvent::PostReasoning(event) = event else { unreachable!() };
                    log.push(event.finish_reason());
                    Ok(Flow::Continue)
                }))
                .build()
                .unwrap();
            let reply = agent.call(go()).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.reason), ("half", Some(reason)));
            assert!(reply.pending().is_empty() && agent.memory().pending().is_empty());
            assert_eq!((ran.take(), refused(&agent)), (vec![], vec!["a".into(), "b".into()]));
            assert_eq!(seen.take(), [finish]);
            assert!(!notes.0.take().contains(&EventKind::PreActing));
            assert_valid(&agent);
            let reply = agent.call(go()).await.unwrap();
            assert_eq!(reply.reason, Some(GenerateReason::ModelStop));
        }
    }
}

#[tokio::test]
async fn the_tool_calls_of_an_answer_that_is_complete_run_whatever_the_provider_calls_its_end() {
    for finish in [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Other] {
        let ran = Ran::default();
        let end = ended([text("done")], finish);
        let agent = bot(vec![ended(two_calls(), finish), end], &ran).build().unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(
            (reply.text().as_str(), reply.reason),
            ("done", Some(GenerateReason::ModelStop))
        );
        assert_eq!(ran.take(), ["A", "B"]);
    }
}

#[tokio::test]
async fn a_hook_may_have_the_model_go_on_after_an_answer_that_was_cut() {
    for (finish, _) in CUT {
        let ran = Ran::default();
        let (model, requests) = script([
            ended([text("Once upon")], finish),
            ended(two_calls(), finish),
            "a time".into(),
        ]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&ran))
            .hook(on(EventKind::PostReasoning, |event| {
                let HookEvent::PostReasoning(event) = event else { unreachable!() };
                if !event.finish_reason().is_cut() {
                    return Ok(Flow::Continue);
                }
                let calls = event.message().tool_uses();
                let again = calls.map(|call| Msg::tool_result(ToolResult::error(call, "again")));
                let again: Vec<_> = again.chain([Msg::user("go on")]).collect();
                if again.len() > 1 {
                    let error = event.jump_to_model(Msg::user("go on")).unwrap_err();
                    assert!(matches!(error, InputError::MissingResults { .. }));
                }
                Ok(event.jump_to_model(again)?)
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(
            (reply.text().as_str(), reply.reason),
            ("a time", Some(GenerateReason::ModelStop))
        );
        assert_eq!(ran.take(), [] as [String; 0]);
        let said: Vec<_> =
            requests.take()[1].messages.iter().map(hooks_agent_core::message::Msg::text).collect();
        assert_eq!(said, ["go", "Once upon", "go on"]);
        assert_eq!(results(&agent).len(), 2);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_stop_or_an_end_at_an_answer_that_was_cut_leaves_no_tool_call_waiting() {
    for (finish, _) in CUT {
        for stops in [true, false] {
            let ran = Ran::default();
            let agent = bot(vec![ended(two_calls(), finish), "next".into()], &ran)
                .hook(on(EventKind::PostReasoning, move |event| {
                    let HookEvent::PostReasoning(event) = event else { unreachable!() };
                    Ok(if stops { event.stop() } else { event.jump_to_end() })
                }))
                .build()
                .unwrap();
            let reply = agent.call(go()).await.unwrap();
            let expected = if stops {
                GenerateReason::ReasoningStopRequested
            } else {
                GenerateReason::HookEnded
            };
            assert_eq!((reply.reason, reply.pending()), (Some(expected), &[][..]));
            assert!(agent.memory().pending().is_empty());
            assert_eq!(refused(&agent), ["a", "b"]);
            // There is nothing to run.
            agent.resume(CallOptions::new()).await.unwrap();
            assert_eq!(ran.take(), [] as [String; 0]);
            assert_valid(&agent);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_before_its_first_word_is_no_failure() {
    for (finish, reason) in CUT {
        let agent = bot(vec![ended([], finish), "next".into()], &Ran::default()).build().unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!((reply.content.len(), reply.reason), (0, Some(reason)));
        assert_eq!(agent.call(go()).await.unwrap().text(), "next");
    }
}

#[tokio::test]
async fn a_summary_that_was_cut_says_so() {
    for (finish, reason) in CUT {
        let ran = Ran::default();
        let answers = vec![uses([echo("a", "A")]), ended(two_calls(), finish)];
        let agent = bot(answers, &ran).max_iters(1).build().unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.reason), ("half", Some(reason)));
        assert_eq!(ran.take(), ["A"]);
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_reply_that_a_hook_supplied_after_a_failure_says_so_whatever_the_phase() {
    let failed = || {
        let (model, reason) = ("m".to_owned(), "as told".to_owned());
        ScriptedAnswer::from(ModelError::Failed { model, reason })
    };
    for (phase, answers) in [
        (ErrorPhase::Reasoning, vec![failed()]),
        (ErrorPhase::Summary, vec![uses([echo("a", "A")]), failed()]),
        (ErrorPhase::Call, vec!["fine".into()]),
    ] {
        let mut builder = bot(answers, &Ran::default())
            .max_iters(if phase == ErrorPhase::Summary { 1 } else { 5 })
            .hook(on(EventKind::Error, move |event| {
                let HookEvent::Error(event) = event else { unreachable!() };
                assert_eq!(event.phase(), phase);
                Ok(event.recover(Msg::assistant("saver", "saved")))
            }));
        if phase == ErrorPhase::Call {
            builder = builder.hook(on(EventKind::PreCall, |_| Err("as told".into())));
        }
        let agent = builder.build().unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(
            (reply.text().as_str(), reply.reason),
            ("saved", Some(GenerateReason::Recovered)),
            "{phase:?}"
        );
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_round_that_was_saved_with_a_tool_call_goes_on_and_ends_by_the_model() {
    let ran = Ran::default();
    let (model, reason) = ("m".to_owned(), "as told".to_owned());
    let agent = bot(vec![ModelError::Failed { model, reason }.into(), "done".into()], &ran)
        .hook(on(EventKind::Error, |event| {
            let HookEvent::Error(event) = event else { unreachable!() };
            let call = vec![ContentBlock::ToolUse(echo("a", "A"))];
            Ok(event.recover(Msg::from_blocks(
                hooks_agent_core::message::Role::Assistant,
                "saver",
                call,
            )))
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("done", Some(GenerateReason::ModelStop)));
    assert_eq!(ran.take(), ["A"]);
}

#[tokio::test]
async fn the_model_reads_that_a_tool_call_did_not_run_because_the_answer_was_cut() {
    for (finish, _) in CUT {
        let agent = bot(vec![ended(two_calls(), finish)], &Ran::default()).build().unwrap();
        agent.call(go()).await.unwrap();
        let results = results(&agent);
        assert!(results.iter().all(|(_, it)| it.contains("the answer was cut")), "{results:?}");
    }
}
