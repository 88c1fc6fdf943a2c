//! Any conversation passes the verifier of another implementation, however its answers are split.

use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::events::stream::{blocks_then_done, call, echo};

/// A piece of an answer.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Thinking(String),
    Signature,
    Redacted,
    Call { name: usize, id: usize },
    Broken,
    Cut,
}

const NAMES: [&str; 6] = ["echo", "ask", "confetti", "poet", "fails", "unknown"];

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => "[a-z ]{0,8}".prop_map(Piece::Text),
        3 => "[a-z ]{0,8}".prop_map(Piece::Thinking),
        1 => Just(Piece::Signature),
        1 => Just(Piece::Redacted),
        4 => (0..NAMES.len(), 0..3_usize).prop_map(|(name, id)| Piece::Call { name, id }),
        1 => Just(Piece::Broken),
        1 => Just(Piece::Cut),
    ]
}

/// A model that gives one answer after the other, and then says that it is done.
struct Script(Vec<Vec<Piece>>);

impl ChatModel for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let answers = request
            .messages
            .iter()
            .filter(|msg| msg.role == hooks_agent_core::message::Role::Assistant);
        let chunks = match self.0.get(answers.count()) {
            Some(pieces) => chunks(pieces),
            None => vec![Ok(ChatChunk::Text("done".to_owned()))],
        };
        let is_cut = chunks.last().is_some_and(Result::is_err);
        let end =
            (!is_cut).then(|| Ok(ChatChunk::end(hooks_agent_core::message::Usage::new(1, 1))));
        Box::pin(futures::stream::iter(chunks.into_iter().chain(end)))
    }
}

fn chunks(pieces: &[Piece]) -> Vec<Result<ChatChunk, ModelError>> {
    let mut chunks = Vec::new();
    for piece in pieces {
        chunks.push(Ok(match piece {
            Piece::Text(text) => ChatChunk::Text(text.clone()),
            Piece::Thinking(text) => ChatChunk::Thinking(text.clone()),
            Piece::Signature => ChatChunk::Signature("sig".to_owned()),
            Piece::Redacted => ChatChunk::RedactedThinking("data".to_owned()),
            Piece::Call { name, id } => {
                let input = json!({ "task": "x", "n": id });
                ChatChunk::ToolUse(ToolUse::new(id.to_string(), NAMES[*name], input))
            }
            Piece::Broken => ChatChunk::ToolUse(ToolUse::invalid("b", "echo", "{broken")),
            Piece::Cut => {
                chunks.push(Err(ModelError::Cut { model: "script".to_owned() }));
                return chunks;
            }
        }));
    }
    chunks
}

/// What hooks and the client do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trick {
    Redacts,
    Signs,
    Changes,
    RunsAtOnce,
    IsOld,
    /// At this chunk.
    Interrupts(usize),
}

fn tricks() -> impl Strategy<Value = Vec<Trick>> {
    use Trick::{Changes, Interrupts, IsOld, Redacts, RunsAtOnce, Signs};
    let often = prop::sample::subsequence(vec![Redacts, Signs, Changes, RunsAtOnce], 0..=4);
    let rare = prop_oneof![
        6 => Just(None),
        1 => Just(Some(IsOld)),
        1 => (1..12_usize).prop_map(|at| Some(Interrupts(at))),
    ];
    (often, rare).prop_map(|(often, rare)| often.into_iter().chain(rare).collect())
}

fn agent(answers: Vec<Vec<Piece>>, inner: Vec<Vec<Piece>>, tricks: &[Trick]) -> ReActAgent {
    let has = |trick| tricks.contains(&trick);
    let fails = FunctionTool::new("fails", "Fails.", async |_: Value| Err::<String, _>("broken"));
    let ask = || echo("ask").permission(|_| Permission::Ask);
    let poet = ReActAgent::builder("poet").model(Script(inner)).tool(echo("echo")).tool(ask());
    let poet = poet.parallel_tools(has(Trick::RunsAtOnce)).build().unwrap();
    let redacts = has(Trick::Redacts);
    let redact = on(move |event: &mut PostReasoning<'_>| {
        for block in &mut event.message_mut().content {
            if let (true, ContentBlock::Text { text }) = (redacts, block) {
                *text = text.replace('e', "*");
            }
        }
    });
    let signs = has(Trick::Signs);
    let sign = on(move |event: &mut PostCall<'_>| {
        if signs {
            event.final_message_mut().push_text(" - A.");
        }
    });
    let changes = has(Trick::Changes);
    let change = on(move |event: &mut PreActing<'_>| {
        if changes {
            event.tool_use_mut().input["more"] = json!(true);
        }
    });
    let at = tricks.iter().find_map(|trick| match trick {
        Trick::Interrupts(at) => Some(*at),
        _ => None,
    });
    let count = std::sync::atomic::AtomicUsize::new(0);
    let interrupt = on(move |event: &mut ReasoningChunk<'_>| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        if Some(count) == at {
            event.context().interrupt();
        }
    });
    let builder = ReActAgent::builder("bot").model(Script(answers)).tool(echo("echo")).tool(fails);
    let builder =
        builder.tool(ask()).tool(poet.to_tool("Writes")).parallel_tools(has(Trick::RunsAtOnce));
    let builder = builder.hook(redact.named("redact").inherited(true)).hook(sign.named("sign"));
    builder
        .hook(change.named("change"))
        .hook(interrupt.named("interrupt").inherited(true))
        .build()
        .unwrap()
}

/// Answers what waits, one way or the other, and says something in between. Returns the last events.
async fn talk(client: &mut Client, says: &[bool]) -> Vec<Value> {
    let mut events = client.say("go").await;
    for approved in says {
        let last = events.last().unwrap().clone();
        let interrupts = last["outcome"]["interrupts"].as_array().cloned().unwrap_or_default();
        for pending in last["outcome"]["pendingToolCallIds"].as_array().into_iter().flatten() {
            let id = pending.as_str().unwrap();
            client
                .messages
                .push(json!({ "id": format!("of-{id}"), "role": "tool", "toolCallId": id,
                "content": "shown" }));
        }
        let entries: Vec<_> = interrupts
            .iter()
            .map(|it| {
                json!({ "interruptId": it["id"], "status": "resolved",
                "payload": { "approved": approved } })
            })
            .collect();
        if entries.is_empty() && last["outcome"]["pendingToolCallIds"].is_null() {
            client.push_user("more");
        }
        events = client.send(json!({ "resume": entries })).await.unwrap();
    }
    events
}

/// Returns messages and their tool calls in the order of their ids: a snapshot does not move what a client has.
fn sorted(messages: &[Value]) -> Vec<Value> {
    let by_id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let mut messages = messages.to_vec();
    for message in &mut messages {
        if let Some(calls) = message.get_mut("toolCalls").and_then(Value::as_array_mut) {
            calls.sort_by_key(by_id);
        }
    }
    messages.sort_by_key(by_id);
    messages
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    // AG-15. The client has each stream checked.
    #[test]
    fn ag_15_every_stream_passes_the_verifier(
        answers in prop::collection::vec(prop::collection::vec(piece(), 1..6), 1..5),
        inner in prop::collection::vec(prop::collection::vec(piece(), 1..4), 1..3),
        tricks in tricks(),
        says in prop::collection::vec(any::<bool>(), 1..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut client = Client::new(agent(answers, inner, &tricks));
            client.tools = json!([{ "name": "confetti", "description": "" }]);
            if tricks.contains(&Trick::IsOld) {
                client.version = None;
            }
            talk(&mut client, &says).await;
        });
    }

    // A client that builds its messages from the events has what the server has.
    #[test]
    fn the_events_of_a_conversation_add_up_to_its_snapshot(
        answer in prop::collection::vec(piece(), 1..8),
        tricks in tricks(),
        says in prop::collection::vec(any::<bool>(), 0..4),
    ) {
        let answer: Vec<_> = answer.into_iter().filter(|it| !matches!(it, Piece::Cut)).collect();
        let tricks: Vec<_> =
            tricks.into_iter().filter(|it| !matches!(it, Trick::IsOld | Trick::Interrupts(_))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut client = Client::new(agent(vec![answer], Vec::new(), &tricks));
            client.tools = json!([{ "name": "confetti", "description": "" }]);
            let events = talk(&mut client, &says).await;
            if events.last().unwrap()["outcome"] != json!({ "type": "success" }) {
                return;
            }
            let built = sorted(&client.messages);
            client.send(json!({})).await.unwrap();
            let shown = sorted(&client.messages);
            assert_eq!(built, shown);
        });
    }
}

#[tokio::test]
async fn the_verifier_finds_what_is_wrong() {
    let model = blocks_then_done(vec![call("c1", "echo", json!({}))]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo("echo")).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let without = |kind: &str| -> Vec<Value> {
        events.iter().filter(|event| event["type"] != kind).cloned().collect()
    };
    for kind in ["TOOL_CALL_END", "TEXT_MESSAGE_START", "STEP_FINISHED", "RUN_FINISHED"] {
        let broken = without(kind);
        let checked = std::panic::catch_unwind(|| crate::client::verify(&broken, &[]));
        assert!(checked.is_err(), "{kind}");
    }
}
