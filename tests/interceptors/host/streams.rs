//! Streams: what is read before and after verdicts.

use agent_hooks::{AgentContext, Verdict};
use futures::{StreamExt, stream};
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{ChatChunk, ChatStream, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Interceptors, Output, Segment};
use proptest::prelude::{Strategy, any, prop};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{at, deciding, deny, look, transform};

/// A model that answers with these chunks.
struct Chunks(Vec<Result<ChatChunk, ModelError>>);

impl ChatModel for Chunks {
    fn name(&self) -> &'static str {
        "chunks"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(stream::iter(self.0.clone()))
    }
}

fn text(text: &str) -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::Text(text.to_owned()))
}

fn thinking(text: &str) -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::Thinking(text.to_owned()))
}

fn end() -> Result<ChatChunk, ModelError> {
    Ok(ChatChunk::end(Usage::new(3, 2)))
}

fn by_chunk() -> Output {
    Output::Incremental { segment: Segment::Chunk }
}

/// What a reader of a stream gets.
#[derive(Debug, Default)]
struct Read {
    text: String,
    thinking: String,
    reply: Option<String>,
    error: Option<String>,
    names: Vec<&'static str>,
}

async fn read(agent: &ReActAgent) -> Read {
    let mut read = Read::default();
    let mut stream = agent.stream("Go");
    while let Some(event) = stream.next().await {
        let kind = match event {
            Ok(event) => event.kind,
            Err(error) => {
                read.error = Some(format!("{error:?}"));
                continue;
            }
        };
        read.names.push(kind.name());
        match kind {
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => {
                read.text.push_str(&text);
            }
            AgentEventKind::ReasoningChunk(ContentBlock::Thinking { thinking, .. }) => {
                read.thinking.push_str(&thinking);
            }
            AgentEventKind::Finished(reply) => read.reply = Some(reply.text()),
            _ => {}
        }
    }
    read
}

fn agent(chunks: Vec<Result<ChatChunk, ModelError>>, interceptors: Interceptors) -> ReActAgent {
    ReActAgent::builder("bot").model(Chunks(chunks)).hook(interceptors).build().unwrap()
}

fn says(what: &'static str) -> impl Fn(&AgentContext) -> bool {
    move |context| context["response"]["content"].as_str().is_some_and(|text| text.contains(what))
}

#[tokio::test]
async fn a_buffered_reply_is_read_after_its_verdict_in_the_pieces_of_the_model() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let read =
        read(&agent(vec![thinking("Hm."), text("Hel"), text("lo."), end()], interceptors)).await;
    assert_eq!(
        (&*read.text, &*read.thinking, read.reply.as_deref()),
        ("Hello.", "Hm.", Some("Hello."))
    );
    let names = [
        "started",
        "reasoning_started",
        "reasoning_chunk",
        "reasoning_chunk",
        "reasoning_chunk",
        "reasoned",
        "finished",
    ];
    assert_eq!(read.names, names);
}

#[tokio::test]
async fn a_buffered_reply_that_is_changed_is_read_as_it_became_without_thoughts() {
    let (interceptors, _) = deciding(at("output", |_| transform("$target.content", "Hi.")));
    let read =
        read(&agent(vec![thinking("Hm."), text("Hel"), text("lo."), end()], interceptors)).await;
    assert_eq!((&*read.text, &*read.thinking, read.reply.as_deref()), ("Hi.", "", Some("Hi.")));
}

#[tokio::test]
async fn a_buffered_text_beside_tool_calls_is_not_read() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(_) => "Done.".into(),
            None => vec![
                ContentBlock::text("Let me look."),
                ContentBlock::ToolUse(ToolUse::new("1", "look", json!({}))),
            ]
            .into(),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).tool(look()).hook(interceptors);
    let read = read(&agent.build().unwrap()).await;
    assert_eq!(read.text, "Done.");
    let names = [
        "started",
        "reasoning_started",
        "reasoning_chunk",
        "reasoned",
        "tool_started",
        "tool_finished",
        "reasoning_started",
        "reasoning_chunk",
        "reasoned",
        "finished",
    ];
    assert_eq!(read.names, names);
}

#[tokio::test]
async fn what_a_hook_made_of_a_reply_is_what_is_read_and_asked_about() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
    let agent = ReActAgent::builder("bot").model(Chunks(vec![text("Hello."), end()])).hook(sign);
    let read = read(&agent.hook(interceptors).build().unwrap()).await;
    assert_eq!((&*read.text, read.reply.as_deref()), ("Hello. - A.", Some("Hello. - A.")));
}

#[tokio::test]
async fn an_interrupted_call_returns_no_text_without_a_verdict() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let stop = on(|event: &mut PostReasoning<'_>| event.context().interrupt());
    let agent = ReActAgent::builder("bot").model(Chunks(vec![text("SECRET"), end()])).hook(stop);
    let agent = agent.hook(interceptors).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_eq!(reply.text(), "");
}

#[tokio::test]
async fn incremental_text_is_read_segment_by_segment() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let chunks = vec![thinking("Hm."), text("Hel"), text("lo."), end()];
    let read = read(&agent(chunks, interceptors.output(by_chunk()))).await;
    assert_eq!(
        (&*read.text, &*read.thinking, read.reply.as_deref()),
        ("Hello.", "Hm.", Some("Hello."))
    );
    let posts = records.points().iter().filter(|it| *it == "post_model_call").count();
    assert_eq!(posts, 3, "the last segment has the end");
}

#[tokio::test]
async fn a_denied_segment_withholds_what_was_permitted_and_not_sent() {
    let (interceptors, _) = deciding(at("post_model_call", {
        let is_secret = says("SECRET");
        move |context| if is_secret(context) { deny("secrets") } else { Verdict::allow() }
    }));
    let chunks = vec![text("one "), text("two "), text("SECRET "), text("four"), end()];
    let agent = agent(chunks, interceptors.output(by_chunk()));
    let read = read(&agent).await;
    assert_eq!(read.text, "one two ");
    assert!(read.error.as_deref().unwrap().contains("secrets"));
    assert!(
        !crate::support::memory_of(&agent).contains("one"),
        "nothing of a failed answer is kept"
    );
}

#[tokio::test]
async fn a_changed_segment_is_read_as_it_became_and_what_was_sent_stays() {
    let (interceptors, _) = deciding(at("post_model_call", |context| {
        let said = context["response"]["content"].as_str().unwrap_or_default();
        if said.contains("SECRET") {
            transform("$target.content", said.replace("SECRET", "***"))
        } else {
            Verdict::allow()
        }
    }));
    let chunks = vec![text("one "), text("SECRET "), text("three"), end()];
    let agent = agent(chunks, interceptors.output(by_chunk()));
    let read = read(&agent).await;
    assert_eq!((&*read.text, read.reply.as_deref()), ("one *** three", Some("one *** three")));
    assert!(!crate::support::memory_of(&agent).contains("SECRET"));
}

#[tokio::test]
async fn a_change_of_what_was_sent_comes_too_late() {
    let (interceptors, records) = deciding(at("post_model_call", |context| {
        let said = context["response"]["content"].as_str().unwrap_or_default();
        if said.contains("card") {
            transform("$target.content", said.replace("1234", "***"))
        } else {
            Verdict::allow()
        }
    }));
    let chunks = vec![text("1234 "), text("is my card"), end()];
    let read = read(&agent(chunks, interceptors.output(by_chunk()))).await;
    assert_eq!(read.text, "1234 ");
    assert!(read.error.is_some());
    assert_eq!(records.denied(), ["host_error:context_invalid"]);
}

#[tokio::test]
async fn the_error_of_a_provider_is_no_point() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let chunks = vec![text("one "), text("two "), Err(ModelError::status("chunks", 500))];
    let read = read(&agent(chunks, interceptors.output(by_chunk()))).await;
    assert_eq!(read.text, "one ", "the second one waited for its verdict");
    let posts = records.points().iter().filter(|it| *it == "post_model_call").count();
    assert_eq!(posts, 1);
    assert_eq!(records.denied(), [] as [String; 0]);
}

#[tokio::test]
async fn a_denied_output_takes_nothing_back_that_was_sent() {
    let (interceptors, _) = deciding(at("output", |_| deny("late")));
    let agent = agent(vec![text("Hello."), end()], interceptors.output(by_chunk()));
    let read = read(&agent).await;
    assert_eq!((&*read.text, read.reply), ("Hello.", None));
    assert!(!read.names.contains(&"reasoned"));
    assert!(!crate::support::memory_of(&agent).contains("Hello"));
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_denied_before_it_is_read_to_its_end() {
    for output in [Output::Buffered, by_chunk()] {
        let (interceptors, records) = deciding(|_| Verdict::allow());
        let chunks = (0..1000).map(|_| text("0123456789")).chain([end()]).collect();
        let interceptors = interceptors.output(output).most_bytes(500);
        let read = read(&agent(chunks, interceptors)).await;
        assert!(read.error.is_some());
        assert!(read.text.len() <= 500, "{}", read.text.len());
        assert_eq!(records.denied(), ["host_error:context_invalid"]);
    }
}

/// Chunks of an answer: text and thoughts, cut anywhere.
fn answers() -> impl Strategy<Value = Vec<Result<ChatChunk, ModelError>>> {
    let chunk = ("[a-z \n]{0,6}", any::<bool>())
        .prop_map(|(said, is_text)| if is_text { text(&said) } else { thinking(&said) });
    (prop::collection::vec(chunk, 0..12), "[a-z]{1,4}").prop_map(|(mut chunks, last)| {
        chunks.push(text(&last));
        chunks.push(end());
        chunks
    })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Whatever a stream is cut into: a reader gets a beginning of the answer, all of it if all is permitted, and
    /// nothing behind the first text that is denied.
    #[test]
    fn nothing_is_read_that_no_verdict_permits(
        chunks in answers(),
        segment in prop::sample::select(vec![
            Output::Buffered,
            Output::Incremental { segment: Segment::Chunk },
            Output::Incremental { segment: Segment::Line { most: 5 } },
            Output::Incremental { segment: Segment::default() },
        ]),
        longest in 0_usize..40,
    ) {
        let whole = chunks.iter().fold(String::new(), |whole, chunk| match chunk {
            Ok(ChatChunk::Text(text)) => whole + text,
            _ => whole,
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (interceptors, records) = deciding(at("post_model_call", move |context| {
                let said = context["response"]["content"].as_str().unwrap_or_default();
                let length = said.replace('\n', "").len();
                if length > longest { deny("too_long") } else { Verdict::allow() }
            }));
            let read = read(&agent(chunks, interceptors.output(segment))).await;
            assert!(whole.starts_with(&read.text), "{:?} of {whole:?}", read.text);
            let is_denied = !records.denied().is_empty();
            if is_denied {
                assert!(read.reply.is_none());
                assert!(read.text.replace('\n', "").len() <= longest);
            } else {
                assert_eq!(read.text, whole);
                assert!(read.reply.is_some());
            }
        });
    }
}

#[test]
fn finish_reasons_are_those_of_the_specification() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (interceptors, records) = deciding(at("post_model_call", |context| {
            deny(context["response"]["finish_reason"].as_str().unwrap())
        }));
        let cut = ChatChunk::End { usage: Usage::new(1, 1), finish: FinishReason::Length };
        read(&agent(vec![text("Hel"), Ok(cut)], interceptors)).await;
        assert_eq!(records.denied(), ["length"]);
    });
}

/// A model whose chunks come from elsewhere.
struct Told(std::sync::Mutex<Option<mpsc::UnboundedReceiver<ChatChunk>>>);

impl ChatModel for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let told = self.0.lock().unwrap().take().expect("it is asked once");
        Box::pin(stream::unfold(
            told,
            |mut told| async move { Some((Ok(told.recv().await?), told)) },
        ))
    }
}

#[tokio::test]
async fn evaluate_only_holds_no_text_back() {
    for output in [Output::Buffered, by_chunk(), Output::incremental()] {
        let (interceptors, records) = deciding(at("post_model_call", |_| deny("would")));
        let (tell, told) = mpsc::unbounded_channel();
        let model = Told(std::sync::Mutex::new(Some(told)));
        let interceptors = interceptors.output(output).evaluate_only(true);
        let agent = ReActAgent::builder("bot").model(model).hook(interceptors).build().unwrap();
        let mut stream = agent.stream("Go");
        for part in ["Hel", "lo."] {
            // The next one is not there yet: nothing waits for it.
            tell.send(ChatChunk::Text(part.to_owned())).unwrap();
            let read = loop {
                let event = stream.next().await.unwrap().unwrap();
                if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.kind {
                    break text;
                }
            };
            assert_eq!(&*read, part);
        }
        tell.send(ChatChunk::end(Usage::new(3, 2))).unwrap();
        let rest: Vec<_> = stream.map(Result::unwrap).collect().await;
        assert!(
            matches!(&rest.last().unwrap().kind, AgentEventKind::Finished(reply) if reply.text() == "Hello.")
        );
        assert_eq!(records.denied(), ["would"]);
        assert_eq!(records.points()[3], "post_model_call deny would");
    }
}

#[tokio::test]
async fn evaluate_only_records_an_answer_that_broke_off_and_leaves_it_as_it_is() {
    let broken = || vec![text("Hel"), text("lo.")];
    let plain = ReActAgent::builder("bot").model(Chunks(broken())).build().unwrap();
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let observed = agent(broken(), interceptors.evaluate_only(true));
    let (plain, observed) = (read(&plain).await, read(&observed).await);
    assert_eq!(
        (plain.text, plain.reply, plain.error),
        (observed.text, observed.reply, observed.error)
    );
    assert_eq!(records.denied(), ["host_error:streaming_unsupported"]);
}
