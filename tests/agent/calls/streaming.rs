//! The stream of a call, and streams that are rewritten before anybody sees them.

use std::sync::Arc;

use futures::executor::block_on;
use futures::{StreamExt, stream};
use hooks_agent_core::agent::{AgentExt, CallOutcome};
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{ContentBlock, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, ChatStream, Finding, ModelAnswer, ModelError, Rewriter, ScriptedModel,
};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, ToolContext};
use hooks_core::{Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{Notes, echo, echo_tool, go, on, parts_tool, script, uses};
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};
use serde_json::{Value, json};

/// The kinds of events that a stream gave, by name.
async fn kinds(agent: &ReActAgent) -> Vec<String> {
    let events = agent.stream(go()).map(|event| {
        let kind = format!("{:?}", event.unwrap().kind);
        kind.split(['(', ' ']).next().unwrap_or_default().to_owned()
    });
    events.collect().await
}

#[tokio::test]
async fn a_stream_tells_all_that_happens_and_ends_with_the_reply() {
    let (model, _) =
        script([uses([ToolUse::new("1", "parts", json!({ "text": "a b" }))]), "two words".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(parts_tool()).build().unwrap();
    let expected = [
        "Started",
        "ReasoningStarted",
        "ReasoningChunk",
        "Reasoned",
        "ToolStarted",
        "ToolChunk",
        "ToolChunk",
        "ToolFinished",
        "ReasoningStarted",
        "ReasoningChunk",
        "ReasoningChunk",
        "Reasoned",
        "Finished",
    ];
    assert_eq!(kinds(&agent).await, expected);
}

#[tokio::test]
async fn a_stream_shows_what_the_hooks_made_of_it() {
    let (model, _) = script([uses([echo("1", "raw")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(on(EventKind::PostActing, |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            event.tool_result_mut().output = "cooked".into();
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let events: Vec<_> = agent.stream(go()).map(Result::unwrap).collect().await;
    let shown = events.iter().find_map(|event| match &event.kind {
        AgentEventKind::ToolFinished(result) => Some(result.output.as_str()),
        _ => None,
    });
    assert_eq!(shown, Some("cooked"));
    assert!(events.iter().all(|event| &*event.agent == "bot" && event.run == events[0].run));
    // It survives JSON, for a browser.
    let json = serde_json::to_string(&events).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<hooks_agent_core::stream::AgentEvent>>(&json).unwrap(),
        events
    );
}

#[tokio::test]
async fn a_stream_of_a_call_that_fails_ends_with_the_error() {
    let (model, _) = script([ModelError::Cut { model: "m".to_owned() }]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let events: Vec<_> = agent.stream(go()).collect().await;
    assert!(events.last().unwrap().is_err());
    assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1);
}

#[tokio::test]
async fn a_call_runs_no_faster_than_its_stream_is_read_and_dropping_it_cancels() {
    let notes = Notes::default();
    let ends = Arc::new(Records::<CallOutcome>::new());
    let settled = ends.clone();
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", |_| "one two three four five six seven eight nine ten"))
        .hook(notes.clone())
        .hook(on(EventKind::Settled, move |event| {
            let HookEvent::Settled(event) = event else { unreachable!() };
            settled.push(event.outcome().clone());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let mut events = agent.stream(go());
    assert_eq!(notes.0.take(), []);
    let mut read = 0;
    while let Some(event) = events.next().await {
        if matches!(event.unwrap().kind, AgentEventKind::ReasoningChunk(_)) {
            read += 1;
        }
        if read == 2 {
            break;
        }
    }
    let chunks = notes.0.take().iter().filter(|kind| **kind == EventKind::ReasoningChunk).count();
    assert!((2..=4).contains(&chunks), "{chunks}");
    drop(events);
    assert_eq!(ends.take(), [CallOutcome::Cancelled]);
    let said = agent.memory().messages().last().unwrap().text();
    assert_eq!(said, "[the answer was interrupted]");
}

#[tokio::test]
async fn a_stream_has_the_events_of_sub_agents_with_the_run_they_are_part_of() {
    let (model, _) = script(["hello"]);
    let sub = ReActAgent::builder("sub").model(model).build().unwrap();
    let (model, _) =
        script([uses([ToolUse::new("1", "sub", json!({ "task": "greet" }))]), "done".into()]);
    let boss =
        ReActAgent::builder("boss").model(model).tool(sub.to_tool("Greets.")).build().unwrap();
    let events: Vec<_> = boss.stream(go()).map(Result::unwrap).collect().await;
    let of_sub: Vec<_> = events.iter().filter(|event| &*event.agent == "sub").collect();
    assert!(of_sub.len() >= 4);
    assert!(of_sub.iter().all(|event| event.parent == Some(events[0].run)));
    assert!(of_sub.iter().all(|event| event.tool_call.as_deref() == Some("1")));
    assert_eq!(&*events.last().unwrap().agent, "boss");
}

/// Replaces what looks like a number of some digits, whole.
fn numbers(window: usize) -> Rewriter {
    Rewriter::within(window, |text, from| {
        let is_digit = |char: char| char.is_ascii_digit();
        let start = from + text[from..].find(is_digit)?;
        let end = text[start..].find(|char| !is_digit(char)).map_or(text.len(), |end| start + end);
        Some(Finding::Replace { range: start..end, text: "#".to_owned() })
    })
}

/// Blocks at the word, wherever it stands.
fn forbid(word: &'static str, window: usize) -> Rewriter {
    Rewriter::within(window, move |text, from| {
        let start = from + text[from..].find(word)?;
        let range = start..start + word.len();
        Some(Finding::Block { range, reason: "a forbidden word".to_owned() })
    })
}

/// What comes out of a stream of these pieces: the pieces, and whether it was blocked.
fn rewritten(rewrite: &Rewriter, pieces: &[String]) -> (Vec<String>, bool) {
    let chunks = pieces.iter().map(|piece| Ok(ChatChunk::Text(piece.clone())));
    let end = [Ok(ChatChunk::end(Usage::default()))];
    let stream =
        ModelAnswer::new("m", Box::pin(stream::iter(chunks.chain(end).collect::<Vec<_>>())));
    let stream = stream.rewrite(rewrite.clone());
    let items: Vec<_> = block_on(stream.collect());
    let texts = items.iter().filter_map(|item| match item {
        Ok(ChatChunk::Text(text)) => Some(text.clone()),
        _ => None,
    });
    let is_blocked = matches!(items.last(), Some(Err(ModelError::Blocked { .. })));
    (texts.collect(), is_blocked)
}

/// Cuts a text at random places between its characters.
fn cut() -> impl Strategy<Value = (String, Vec<String>)> {
    let letters =
        prop::collection::vec(prop::sample::select("ab 12é好x".chars().collect::<Vec<_>>()), 0..60);
    (letters, prop::collection::vec(any::<bool>(), 60)).prop_map(|(letters, cuts)| {
        let mut pieces = vec![String::new()];
        for (letter, cut) in letters.iter().zip(cuts) {
            if cut {
                pieces.push(String::new());
            }
            pieces.last_mut().expect("there is one").push(*letter);
        }
        (letters.iter().collect(), pieces)
    })
}

proptest! {
    #[test]
    fn where_the_model_cuts_its_text_does_not_matter((text, pieces) in cut(), window in 1_usize..8) {
        let rewrite = numbers(window);
        let (out, _) = rewritten(&rewrite, &pieces);
        let whole = rewrite.text(&text).unwrap();
        prop_assert_eq!(&out.concat(), &whole);
        prop_assert_eq!(whole.chars().any(|char| char.is_ascii_digit()), false);
        // Everything else once and in order.
        let kept = |text: &str| text.chars().filter(|char| !char.is_ascii_digit() && *char != '#').collect::<String>();
        prop_assert_eq!(kept(&whole), kept(&text));
    }

    #[test]
    fn nothing_of_what_is_blocked_is_said((text, pieces) in cut(), window in 2_usize..8) {
        let (out, is_blocked) = rewritten(&forbid("ab", window), &pieces);
        let expected = text.find("ab").map_or(text.as_str(), |start| &text[..start]);
        prop_assert_eq!(out.concat(), expected);
        prop_assert_eq!(is_blocked, text.contains("ab"));
    }
}

/// The look-back vectors of the built-in hooks, by a detector of addresses.
#[test]
fn what_may_still_become_a_match_is_held_back() {
    let address = |window| {
        Rewriter::within(window, |text: &str, from| {
            let is_part = |char: char| char.is_ascii_alphanumeric() || char == '.';
            let mut at = text.match_indices('@').map(|(at, _)| at);
            at.find_map(|at| {
                let start = text[..at].rfind(|char| !is_part(char)).map_or(0, |index| index + 1);
                let rest = &text[at + 1..];
                let end = at + 1 + rest.find(|char| !is_part(char)).unwrap_or(rest.len());
                (start < at && text[at..end].contains('.') && start >= from).then(|| {
                    Finding::Replace { range: start..end, text: "[REDACTED_EMAIL]".to_owned() }
                })
            })
        })
    };
    let said = |window, pieces: &[&str]| {
        let pieces: Vec<_> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        rewritten(&address(window), &pieces).0
    };
    assert_eq!(
        said(128, &["Reach me at alice@example.com tomorrow."]),
        ["Reach me at [REDACTED_EMAIL] tomorrow."]
    );
    assert_eq!(
        said(64, &["Hi, contact alice", "@example.com when ready"]),
        ["Hi, contact [REDACTED_EMAIL] when ready"],
    );
    let long = format!("alice@longerdomain.example.com{}", "x".repeat(20));
    assert_eq!(said(32, &[&long]), ["[REDACTED_EMAIL]"]);
    // Two hundred characters: seventy-two are said at once.
    let words = "word ".repeat(40);
    assert_eq!(said(128, &[&words]).iter().map(String::len).collect::<Vec<_>>(), [72, 128]);
}

#[tokio::test]
async fn what_is_rewritten_is_not_in_chunks_memory_or_the_reply() {
    let seen = Arc::new(Records::<String>::new());
    let noted = seen.clone();
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", |_| "call 555 1234 now"))
        .hook(on(EventKind::ReasoningChunk, move |event| {
            let HookEvent::ReasoningChunk(event) = event else { unreachable!() };
            noted.push(event.accumulated().text());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let rewrite = numbers(4);
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "numbers",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            let answer = next.run(args).await?;
            Ok(answer.rewrite(rewrite.clone()))
        }),
    );
    let events: Vec<_> = agent.stream(go()).map(Result::unwrap).collect().await;
    let streamed: String = events
        .iter()
        .filter_map(|event| match &event.kind {
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(streamed, "call # # now");
    assert!(seen.take().iter().all(|text| !text.contains('5')));
    assert_eq!(agent.memory().messages()[1].text(), "call # # now");
}

#[tokio::test]
async fn a_stream_of_parallel_tools_that_tell_and_call_others_comes_to_its_end() {
    let (model, _) = script(["hello"; 8]);
    let sub = Arc::new(ReActAgent::builder("sub").model(model).build().unwrap());
    let helper = sub.clone();
    let tool =
        FunctionTool::with_context("relay", "Asks another.", move |_: Value, cx: ToolContext| {
            let sub = helper.clone();
            async move {
                cx.progress("starting");
                tokio::task::yield_now().await;
                let options = CallOptions::new().child_of(cx.call());
                let reply = sub.call_with(options, "hi").await?;
                cx.progress("done");
                Ok::<_, AgentError>(reply.text())
            }
        });
    let calls = ["1", "2", "3"].map(|id| ToolUse::new(id, "relay", json!({})));
    let (model, _) = script([uses(calls), "done".into()]);
    let agent =
        ReActAgent::builder("bot").model(model).tool(tool).parallel_tools(true).build().unwrap();
    let events: Vec<_> = agent.stream(go()).map(Result::unwrap).collect().await;
    assert!(matches!(events.last().unwrap().kind, AgentEventKind::Finished(_)));
    let told = events.iter().filter(|event| matches!(event.kind, AgentEventKind::ToolChunk { .. }));
    assert_eq!(told.count(), 6);
}

#[tokio::test]
async fn a_stream_is_over_when_it_is_over() {
    let kept = Arc::new(Records::<CallContext>::new());
    let keep = kept.clone();
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", |_| "done"))
        .hook(on(EventKind::PreCall, move |event| {
            keep.push(event.context().clone());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let mut events = agent.stream(go());
    while events.next().await.is_some() {}
    // A child of the call that is over speaks to nobody, and does not wait for that.
    let options = CallOptions::new().child_of(&kept.take()[0]).thread("other");
    agent.call_with(options, "still there?").await.unwrap();
    assert!(events.next().await.is_none());
}

/// What is said in these pieces of text and thoughts, as blocks.
fn blocks(rewrite: &Rewriter, pieces: Vec<ChatChunk>) -> Vec<ContentBlock> {
    let end = [Ok(ChatChunk::end(Usage::default()))];
    let stream = pieces.into_iter().map(Ok).chain(end).collect::<Vec<_>>();
    let stream = ModelAnswer::new("m", Box::pin(stream::iter(stream))).rewrite(rewrite.clone());
    let stream: ChatStream = Box::pin(stream);
    let agent =
        ReActAgent::builder("bot").model(ScriptedModel::new("m", |_| "unused")).build().unwrap();
    let stream = std::sync::Mutex::new(Some(stream));
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "stream",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, _, _| {
            let stream = stream.lock().unwrap().take().unwrap();
            Ok(ModelAnswer::new("m", stream))
        }),
    );
    block_on(agent.call(go())).unwrap().content
}

#[test]
fn what_stands_between_two_texts_keeps_them_apart() {
    let text = |text: &str| ChatChunk::Text(text.to_owned());
    let hush = Rewriter::within(4, |text, from| {
        let start = from + text[from..].find("hm")?;
        Some(Finding::Replace { range: start..start + 2, text: String::new() })
    });
    let thought = ChatChunk::Thinking("hm".to_owned());
    let said = blocks(&hush, vec![text("sec"), thought, text("ret")]);
    let texts: Vec<_> =
        said.iter().filter(|block| matches!(block, ContentBlock::Text { .. })).collect();
    assert_eq!(texts, [&ContentBlock::text("sec"), &ContentBlock::text("ret")]);
    // Nothing at all is nothing between.
    let said = blocks(&numbers(4), vec![text("5"), ChatChunk::Thinking(String::new()), text("5")]);
    assert_eq!(said, [ContentBlock::text("#")]);
}

#[test]
fn a_rewriter_that_finds_what_is_not_there_says_no_more() {
    let careless = Rewriter::within(4, |text: &str, _| {
        let start = text.find("secret")?;
        Some(Finding::Replace { range: start..start + 6, text: "***".to_owned() })
    });
    assert_eq!(careless.text("a secret").unwrap(), "a ***");
    assert!(careless.text("a secret and a secret").is_err());
}
