//! Recognizers: names that a model finds, wherever a text comes in or goes out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use hooks_agent_builtin::guard::pii::{PiiAllowed, PiiRecognition, PiiStrategy};
use hooks_agent_builtin::guard::{PiiDetection, Vault};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{
    AsyncFind, ChatChunk, ChatModel, ChatRequest, ChatStream, FindFuture, Finding, ModelError,
    RecognizeFuture, Recognized, Recognizer, Rewriter,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::{Calls, Script};
use proptest::prelude::*;
use serde_json::json;

use crate::everything::shown_of;

/// Takes `ada`, `Ada Lovelace`, `zoe` and `Zoe Barnes` for names.
#[derive(Clone)]
pub(crate) struct Names;

fn names(text: &str) -> Vec<Recognized> {
    let of = |name: &'static str, score: f32| {
        let found = text.match_indices(name).map(|(at, name)| at..at + name.len());
        found.map(move |range| Recognized::new("person", range, score))
    };
    let sure =
        ["ada", "Ada Lovelace", "zoe", "Zoe Barnes"].into_iter().flat_map(|name| of(name, 0.9));
    sure.chain(of("Ada", 0.4)).collect()
}

impl Recognizer for Names {
    fn name(&self) -> &'static str {
        "names"
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok(texts.iter().map(|text| names(text)).collect())
        })
    }
}

/// Notes what it is asked about.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<Vec<String>>>>);

impl Noted {
    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Recognizer for Noted {
    fn name(&self) -> &'static str {
        "noted"
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        self.0.lock().unwrap().push(texts.iter().map(ToString::to_string).collect());
        Names.recognize(texts)
    }
}

/// Answers with what its function returns.
struct Odd(Answer);

type Answer = fn(&[&str]) -> Result<Vec<Vec<Recognized>>, &'static str>;

impl Recognizer for Odd {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        Box::pin(async move { self.0(texts).map_err(Into::into) })
    }
}

/// Does not answer.
struct Silent;

impl Recognizer for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn recognize<'a>(&'a self, _: &'a [&'a str]) -> RecognizeFuture<'a> {
        Box::pin(std::future::pending())
    }
}

fn person(range: Range<usize>) -> Recognized {
    Recognized::new("person", range, 1.0)
}

fn hook() -> PiiDetection {
    PiiDetection::all().recognizer(Names).everywhere()
}

fn echo() -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(ScriptedModel::new("echo", ChatRequest::last_text))
}

async fn said(hook: PiiDetection, input: &str) -> Result<String, String> {
    let agent = echo().hook(hook).build().unwrap();
    agent.call(input).await.map(|reply| reply.text()).map_err(|error| error.to_string())
}

#[tokio::test]
async fn names_and_patterns_are_replaced_together() {
    let text = "Ask Ada Lovelace, ada@example.com or +44 20 7946 0958.";
    let expected = "Ask [REDACTED_PERSON], [REDACTED_EMAIL] or [REDACTED_PHONE].";
    assert_eq!(said(PiiDetection::all().recognizer(Names), text).await.unwrap(), expected);
    let hook = PiiDetection::all().recognizer(Names).strategy(PiiStrategy::Block);
    assert!(said(hook, "Ask Ada.").await.unwrap_err().contains("of person"));
    let hook = PiiDetection::all().recognizer(Names).allow(PiiAllowed::new().value("Ada"));
    assert_eq!(said(hook, "Ada and ada@example.com").await.unwrap(), "Ada and [REDACTED_EMAIL]");
}

#[tokio::test]
async fn the_score_and_the_kinds_choose() {
    let of = |recognition: PiiRecognition| PiiDetection::of([]).recognizer(recognition);
    let text = "Ada and ada";
    let expected = "Ada and [REDACTED_PERSON]";
    assert_eq!(said(of(PiiRecognition::of(Names).min_score(0.5)), text).await.unwrap(), expected);
    assert_eq!(said(of(PiiRecognition::of(Names).kinds(["place"])), text).await.unwrap(), text);
    let nan = Odd(|_| Ok(vec![vec![Recognized::new("person", 0..3, f32::NAN)]]));
    let hook = of(PiiRecognition::of(nan).min_score(0.5));
    assert_eq!(said(hook, text).await.unwrap(), "[REDACTED_PERSON] and ada");
}

#[tokio::test]
async fn a_name_is_known_nowhere() {
    for input in [
        json!({ "to": "zoe", "deep": [["Zoe Barnes"], { "zoe": 1 }] }),
        json!({ "text": json!({ "to": "zoe" }).to_string() }),
    ] {
        for output in ["found zoe", "{\"who\":\"zoe\",\"n\":1}"] {
            let tool = FunctionTool::with_context(
                "tool",
                "Works.",
                move |_: serde_json::Value, cx: ToolContext| {
                    cx.progress("working for zoe");
                    async move { Ok::<_, String>(output) }
                },
            );
            let script = Script::new().calls([ToolUse::new("1", "tool", input.clone())]);
            let script = script.thinks("hm zoe", "So zoe. And Zoe Barnes");
            let shown = shown_of(ReActAgent::builder("bot").tool(tool).hook(hook()), script).await;
            assert!(!shown.contains("zoe") && !shown.contains("Barnes"), "{shown}");
            assert!(shown.contains("[REDACTED_PERSON]"), "{shown}");
        }
    }
}

#[tokio::test]
async fn structured_results_and_errors_are_asked_about() {
    type Output = fn() -> Result<hooks_agent_core::message::ToolOutput, String>;
    let outputs: [Output; 4] = [
        || Ok(hooks_agent_core::message::ToolOutput::json(json!({ "who": ["zoe"], "zoe": 7 }))),
        || {
            Ok(hooks_agent_core::message::ToolOutput::text("x")
                .with_block(ContentBlock::text("zoe")))
        },
        || Err("no zoe".to_owned()),
        || panic!("no zoe"),
    ];
    for output in outputs {
        let tool = FunctionTool::new("tool", "Works.", move |_: serde_json::Value| {
            let output = output();
            async move { output }
        });
        let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
        let shown = shown_of(ReActAgent::builder("bot").tool(tool).hook(hook()), script).await;
        assert!(!shown.contains("zoe"), "{shown}");
        let is_replaced = shown.contains("[REDACTED_PERSON]");
        assert!(is_replaced || shown.contains("the tool `tool` panicked"), "{shown}");
    }
}

#[tokio::test]
async fn a_tool_receives_the_name_and_everybody_else_a_token() {
    let vault = Vault::new();
    let received = Arc::new(Mutex::new(String::new()));
    let tool = {
        let received = received.clone();
        FunctionTool::new("tool", "Works.", move |input: serde_json::Value| {
            let to = input["to"].as_str().unwrap().to_owned();
            received.lock().unwrap().clone_from(&to);
            async move { Ok::<_, String>(format!("wrote to {to} and Ada Lovelace")) }
        })
    };
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        let asked = request.messages.iter().find(|msg| msg.role == Role::User).unwrap().text();
        let token = asked.strip_prefix("write to ").unwrap().to_owned();
        assert!(token.starts_with("[PERSON_"), "{token}");
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("{}.", result.output.as_str()).into(),
            None => ToolUse::new("1", "tool", json!({ "to": token })).into(),
        }
    });
    let hook = hook().vault(vault.clone());
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(hook).build().unwrap();
    let reply = agent.call("write to ada").await.unwrap().text();
    assert!(!reply.contains("ada") && !reply.contains("Ada"), "{reply}");
    assert_eq!(*received.lock().unwrap(), "ada");
    let shown = vault.reveal_in(agent.id(), CallContext::DEFAULT_THREAD, &reply);
    assert_eq!(shown, "wrote to ada and Ada Lovelace.");
}

#[tokio::test]
async fn each_text_is_asked_about_once() {
    let noted = Noted::default();
    let hook = PiiDetection::of([]).recognizer(PiiRecognition::of(noted.clone()).cache(0));
    let script = Script::new()
        .calls([ToolUse::new("1", "tool", json!({ "a": "b" }))])
        .says("It is one. It is two. Three");
    let tool = Calls::new("tool").answers("result");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook.everywhere());
    let agent = agent.build().unwrap();
    agent.call("hello").await.unwrap();
    let mut asked: Vec<_> = noted.take().concat();
    asked.sort();
    let parts = ["It is one. ", "It is two. ", "Three", "a", "a: b", "b", "hello", "result"];
    assert_eq!(asked, parts);
    // What stands in the thread is asked about again, unless it is kept.
    let e = agent.call("again").await.unwrap_err();
    let asked = noted.take();
    assert!(asked.concat().contains(&"hello".to_owned()), "{asked:?} {e}");
}

#[tokio::test]
async fn answers_are_kept_and_requests_are_limited() {
    let noted = Noted::default();
    let hook = PiiDetection::of([])
        .recognizer(PiiRecognition::of(noted.clone()).batch(2, 10).cache(100))
        .tool_results(true);
    let agent = echo().hook(hook).build().unwrap();
    let texts = ["aaaa", "bbbb", "cccc", "a text of more than ten bytes", "dddd"];
    let input = texts.iter().fold(Msg::user(""), |mut msg, text| {
        msg.content.push(ContentBlock::text(*text));
        msg
    });
    agent.call(input.clone()).await.unwrap();
    let sizes: Vec<_> = noted.take().iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 1, 1, 1]);
    let again = agent.call_with(CallOptions::new().thread("other"), input).await;
    again.unwrap();
    assert!(noted.take().is_empty(), "the answers are kept");
}

#[tokio::test(start_paused = true)]
async fn a_text_that_nobody_answers_for_is_blocked() {
    let odd: [(Answer, &str); 4] = [
        (|_| Err("out of memory"), "`odd` failed: out of memory"),
        (|_| Ok(vec![]), "`odd` answered for 0 of 1 texts"),
        (|_| panic!("no"), "`odd` panicked"),
        (|texts| Ok(texts.iter().map(|_| vec![]).chain([vec![]]).collect()), "for 2 of 1 texts"),
    ];
    for (answer, reason) in odd {
        let closed = PiiDetection::all().recognizer(Odd(answer));
        let error = said(closed, "ada@example.com, Ada").await.unwrap_err();
        assert!(error.contains(reason) && !error.contains("ada@"), "{error}");
        let open = PiiDetection::all().recognizer(PiiRecognition::of(Odd(answer)).fail_open());
        assert_eq!(said(open, "ada@example.com, Ada").await.unwrap(), "[REDACTED_EMAIL], Ada");
    }
    let late = PiiRecognition::of(Silent).timeout(Duration::from_secs(3));
    let error = said(PiiDetection::all().recognizer(late), "Ada").await.unwrap_err();
    assert!(error.contains("`silent` did not answer within 3s"), "{error}");
}

#[test]
fn without_a_runtime_the_text_is_blocked_and_the_reason_says_so() {
    let said = futures::executor::block_on(said(PiiDetection::all().recognizer(Names), "Ada"));
    assert!(said.unwrap_err().contains("needs a runtime of Tokio"));
}

#[tokio::test]
async fn a_place_that_is_none_blocks_the_text_and_those_that_overlap_are_one() {
    // Within a character, behind the end, empty, turned around.
    #[expect(clippy::reversed_empty_ranges, reason = "a wrong range")]
    let wrong = [1..2, 11..22, 4..4, 9..3];
    for place in wrong {
        let odd = Places(vec![2..4, place.clone()]);
        let error = said(PiiDetection::of([]).recognizer(odd), "\u{e4}\u{e4}bcdefghijkl").await;
        let error = error.unwrap_err();
        assert!(error.contains("outside of a text, or a part of a character"), "{place:?} {error}");
    }
    let over = Places(vec![4..6, 2..5, 7..8, 8..9]);
    let said =
        said(PiiDetection::of([]).recognizer(over), "\u{e4}\u{e4}bcdefghijkl").await.unwrap();
    assert_eq!(said, "\u{e4}[REDACTED_PERSON]d[REDACTED_PERSON][REDACTED_PERSON]ghijkl");
}

/// Finds somebody at these places.
struct Places(Vec<Range<usize>>);

impl Recognizer for Places {
    fn name(&self) -> &'static str {
        "places"
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        let found = || self.0.iter().cloned().map(person).collect();
        let found = texts.iter().map(|_| found()).collect();
        Box::pin(async move { Ok(found) })
    }
}

#[tokio::test]
async fn an_answer_is_blocked_wherever_it_is_blocked() {
    let block = PiiDetection::all().recognizer(Names).output(true).strategy(PiiStrategy::Block);
    let down = || Odd(|_| Err("down"));
    let down = PiiDetection::all().recognizer(down()).everywhere().input(false);
    for (hook, reason) in [(block, "of person"), (down, "`odd` failed: down")] {
        for text in ["It is zoe.", "It is zoe. And so on. And on", "First. It is zoe. And on"] {
            let model = ScriptedModel::new("fixed", move |_| text);
            let agent = ReActAgent::builder("bot").model(model).hook(hook.clone()).build().unwrap();
            let error = agent.call("go").await.unwrap_err().to_string();
            assert!(error.contains("the answer of the model was blocked"), "{text}: {error}");
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
    let hook = PiiDetection::of([]).recognizer(Names).strategy(PiiStrategy::Block);
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({ "to": "zoe" }))]).says("x");
    let agent = ReActAgent::builder("bot").model(script).tool(Calls::new("tool").answers("y"));
    let agent = agent.hook(hook.tool_arguments(true)).build().unwrap();
    let error = agent.call("go").await.unwrap_err().to_string();
    assert!(error.contains("was blocked") && error.contains("of person"), "{error}");
}

#[tokio::test]
async fn a_result_that_is_blocked_is_an_error_for_good() {
    let hook = PiiDetection::all().recognizer(Odd(|_| Err("down"))).tool_results(true);
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("x").says("y");
    let tool = Calls::new("tool").answers("zoe");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook.input(false));
    let agent = agent.build().unwrap();
    agent.call("go").await.unwrap();
    agent.call("again").await.unwrap();
    let failing = Calls::new("tool").fails("no zoe");
    let hook = PiiDetection::all().recognizer(Odd(|_| Err("down"))).tool_results(true);
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("x").says("y");
    let agent = ReActAgent::builder("bot").model(script).tool(failing).hook(hook.input(false));
    let agent = agent.build().unwrap();
    agent.call("go").await.unwrap();
    agent.call("again").await.unwrap();
}

#[tokio::test]
async fn a_name_behind_a_placeholder_or_in_one_is_a_name() {
    let placed = |place: Range<usize>| PiiDetection::of([]).recognizer(Places(vec![place]));
    let text = "Mr [REDACTED_EMAIL] Zoe Barnes said";
    let replaced = said(placed(3..30), text).await.unwrap();
    assert_eq!(replaced, "Mr [REDACTED_PERSON] said");
    assert_eq!(said(placed(3..19), text).await.unwrap(), text);
    assert_eq!(said(placed(4..18), text).await.unwrap(), text);
    assert_eq!(
        said(placed(0..12), "REDACTED_ZOE is here").await.unwrap(),
        "[REDACTED_PERSON] is here"
    );
}

#[tokio::test]
async fn a_hook_that_fails_open_decides_for_no_other() {
    let flaky = Arc::new(Flaky(AtomicUsize::new(0)));
    let open = PiiRecognition::of(flaky.clone()).fail_open();
    let agent = echo().hook(PiiDetection::of([]).recognizer(open));
    let closed = PiiDetection::of([]).recognizer(PiiRecognition::of(flaky)).everywhere();
    let agent = agent.hook(closed.named("closed")).build().unwrap();
    assert_eq!(agent.call("I am zoe").await.unwrap().text(), "I am [REDACTED_PERSON]");
}

#[tokio::test]
async fn what_was_blocked_at_the_end_of_a_text_is_asked_about_again() {
    let flaky = PiiRecognition::of(Flaky(AtomicUsize::new(0))).cache(0);
    // The scanner holds the text back until its end.
    let hook = PiiDetection::all().recognizer(flaky).everywhere().input(false);
    let model = ScriptedModel::new("fixed", |_| "zoe");
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.call("go").await.unwrap_err();
    assert_eq!(agent.call("go").await.unwrap().text(), "[REDACTED_PERSON]");
}

#[tokio::test]
async fn thoughts_that_lose_their_signature_go_on() {
    for first in ["By zoe. I ask Ad", "Well. I ask Zoe Barnes and Ad"] {
        let rest = [chunk(1, ""), chunk(0, "a Lovelace"), chunk(1, ""), chunk(2, "done")];
        let chunks = [chunk(0, first)].into_iter().chain(rest).collect();
        let (out, memory) = shown(hook(), chunks).await;
        assert!(!out[1].contains("Lovelace"), "{out:?}");
        assert!(!memory.contains("Lovelace") && !memory.contains("signed"), "{memory}");
    }
    // Thoughts that do not change keep theirs.
    let chunks = vec![chunk(0, "Well. I ask"), chunk(1, ""), chunk(2, "done")];
    let (_, memory) = shown(hook(), chunks).await;
    assert!(memory.contains("signed"), "{memory}");
}

#[tokio::test]
async fn what_a_model_knows_of_a_whole_result_alone_is_nowhere() {
    // Somebody is a name only beside the word `patient`.
    let near = Odd(|texts| {
        let of = |text: &&str| {
            let found = text.find("zoe").filter(|_| text.contains("patient"));
            found.map(|at| person(at..at + 3)).into_iter().collect()
        };
        Ok(texts.iter().map(of).collect())
    });
    let hook = PiiDetection::of([]).recognizer(near).tool_results(true);
    let tool = FunctionTool::new("tool", "Works.", async |_: serde_json::Value| {
        let of = json!({ "kind": "patient", "name": "zoe", "n": 1 });
        Ok::<_, String>(hooks_agent_core::message::ToolOutput::json(of))
    });
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
    let shown = shown_of(ReActAgent::builder("bot").tool(tool).hook(hook), script).await;
    assert!(!shown.contains("zoe"), "{shown}");
    assert!(shown.contains(r#"\"name\":\"[REDACTED_PERSON]\""#), "{shown}");
}

#[tokio::test]
async fn a_signature_right_behind_the_end_of_a_sentence_holds_nothing_up() {
    let long = "It is a long way to the end of this sentence, which is about zoe here";
    let chunks = vec![chunk(0, long), chunk(0, ". I"), chunk(1, ""), chunk(2, "done")];
    let (out, memory) = shown(hook(), chunks).await;
    assert!(out[1].ends_with("about [REDACTED_PERSON] here. I"), "{out:?}");
    assert!(!memory.contains("zoe") && !memory.contains("signed"), "{memory}");
}

#[tokio::test]
async fn a_sentence_is_shown_while_the_model_says_nothing() {
    let (sender, chunks) = futures::channel::mpsc::unbounded();
    let chunks = Mutex::new(Some(chunks));
    let model = Slow(chunks);
    let agent = ReActAgent::builder("bot").model(model).hook(hook()).build().unwrap();
    sender.unbounded_send(Ok(ChatChunk::Text("Hello zoe there. And".to_owned()))).unwrap();
    let mut stream = agent.stream("go");
    let shown = loop {
        let event = stream.next().await.unwrap().unwrap();
        if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.kind {
            break text;
        }
    };
    assert_eq!(shown, "Hello [REDACTED_PERSON] there. ");
    drop(sender);
}

/// Says what comes in.
struct Slow(
    Mutex<Option<futures::channel::mpsc::UnboundedReceiver<Result<ChatChunk, ModelError>>>>,
);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(self.0.lock().unwrap().take().unwrap())
    }
}

#[tokio::test]
async fn a_vault_keeps_what_is_used_and_nothing_of_a_text_that_is_blocked() {
    let vault = Vault::new();
    let down = Odd(|_| Err("down"));
    let hook = PiiDetection::email().recognizer(down).vault(vault.clone());
    let agent = echo().hook(hook).build().unwrap();
    agent.call("I am ada@example.com").await.unwrap_err();
    let values = agent.threads().memory("default").map(|memory| memory.values());
    assert!(!format!("{values:?}").contains("vault/"), "{values:?}");
    let with_address = Odd(|texts| {
        let found = |text: &&str| text.contains('@').then(|| person(0..text.len()));
        Ok(texts.iter().map(|text| found(text).into_iter().collect()).collect())
    });
    let hook = PiiDetection::email().recognizer(with_address).vault(vault);
    let agent = echo().hook(hook).build().unwrap();
    agent.call("I am ada@example.com").await.unwrap();
    let values = format!("{:?}", agent.threads().memory("default").unwrap().values());
    assert!(values.contains("vault/PERSON") && !values.contains("vault/EMAIL"), "{values}");
}

/// Parts of ten bytes, or a panic.
struct Parts(bool);

impl AsyncFind for Parts {
    fn find_in<'a>(&'a self, texts: &'a [&'a str]) -> FindFuture<'a> {
        let find = |text: &&str| {
            let found = text.find("zoe").map(|at| at..at + 3);
            found
                .map(|range| Finding::Replace { range, text: "***".to_owned() })
                .into_iter()
                .collect()
        };
        let found = texts.iter().map(find).collect();
        Box::pin(async move { found })
    }

    fn part(&self, _: &str, from: usize) -> Option<usize> {
        assert!(!self.0, "no part");
        Some(from + 10)
    }
}

#[tokio::test]
async fn a_part_without_end_and_a_part_that_panics_hold_nothing_up() {
    for panics in [false, true] {
        let model = ScriptedModel::new("fixed", |_| "By zoe, who is here");
        let hook = hooks_agent_core::hook::Rewrite::from(Rewriter::asking(Parts(panics)));
        let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
        assert_eq!(agent.call("go").await.unwrap().text(), "By ***, who is here");
    }
}

#[tokio::test]
async fn text_that_is_held_back_for_long_takes_a_time_linear_in_it() {
    let text = "12 34 ab@c 56-7 +44 20 ".repeat(2000);
    let chunks: Vec<&str> =
        text.as_bytes().chunks(4).map(|it| std::str::from_utf8(it).unwrap()).collect();
    let hook = PiiDetection::all().recognizer(Names).output(true);
    let (_, reply) = emitted(hook, &chunks).await;
    assert_eq!(reply.len(), text.len());
    let text = "I am ada, and so on. ".repeat(4000);
    assert!(!said(PiiDetection::of([]).recognizer(Names), &text).await.unwrap().contains("ada"));
}

#[tokio::test]
async fn kinds_are_named_in_any_case_and_a_score_out_of_range_hides_all() {
    let of = |recognition: PiiRecognition| PiiDetection::of([]).recognizer(recognition);
    let hook = of(PiiRecognition::of(Names).kinds(["PERSON"]).min_score(50.0));
    assert_eq!(said(hook, "Ada").await.unwrap(), "[REDACTED_PERSON]");
}

#[tokio::test]
async fn a_blocked_result_of_a_tool_is_an_error_that_the_model_reads() {
    let answers = AtomicUsize::new(0);
    let odd = Flaky(answers);
    let hook = PiiDetection::of([]).recognizer(PiiRecognition::of(odd).cache(0)).tool_results(true);
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(hook.input(false));
    let agent = agent.tool(Calls::new("tool").answers("ada")).build().unwrap();
    agent.call("go").await.unwrap();
    let request = script.requests().pop().unwrap();
    let result = request.messages.iter().flat_map(Msg::tool_results).next().unwrap();
    assert!(result.is_error && !result.output.as_str().contains("ada"), "{result:?}");
    assert!(result.output.as_str().contains("`flaky` failed"), "{result:?}");
}

/// Fails at first.
struct Flaky(AtomicUsize);

impl Recognizer for Flaky {
    fn name(&self) -> &'static str {
        "flaky"
    }

    fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Box::pin(async { Err("busy".into()) }),
            _ => Names.recognize(texts),
        }
    }
}

/// The text and the thoughts that are emitted of an answer in these chunks, and what memory has of it.
async fn shown(hook: PiiDetection, chunks: Vec<ChatChunk>) -> ([String; 2], String) {
    let chunks = chunks.into_iter().chain([ChatChunk::end(Usage::default())]).map(Ok).collect();
    let script = Script::new().turn(ScriptedAnswer::Stream(chunks)).says("done");
    let agent = ReActAgent::builder("bot").model(script).hook(hook);
    let agent = agent.tool(Calls::new("tool").answers("zoe")).build().unwrap();
    let mut out = [String::new(), String::new()];
    let mut stream = agent.stream("go");
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => out[0].push_str(&text),
            AgentEventKind::ReasoningChunk(ContentBlock::Thinking { thinking, .. }) => {
                out[1].push_str(&thinking);
            }
            _ => {}
        }
    }
    drop(stream);
    let history = agent.threads().memory("default").unwrap().messages();
    (out, serde_json::to_string(&history).unwrap())
}

/// A chunk of a kind with a text.
fn chunk(kind: u8, text: &str) -> ChatChunk {
    match kind {
        0 => ChatChunk::Thinking(text.to_owned()),
        1 => ChatChunk::Signature("signed".to_owned()),
        _ => ChatChunk::Text(text.to_owned()),
    }
}

/// What is emitted of an answer in these chunks, and the reply.
async fn emitted(hook: PiiDetection, chunks: &[&str]) -> (Vec<String>, String) {
    let end = ChatChunk::end(Usage::default());
    let chunks = chunks.iter().map(|text| ChatChunk::Text((*text).to_owned())).chain([end]);
    let script = Script::new().turn(ScriptedAnswer::Stream(chunks.map(Ok).collect()));
    let agent = ReActAgent::builder("bot").model(script).hook(hook).build().unwrap();
    let (mut out, mut ended) = (Vec::new(), String::new());
    let mut stream = agent.stream("go");
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => out.push(text),
            AgentEventKind::Finished(msg) => ended = msg.text(),
            _ => {}
        }
    }
    drop(stream);
    let history = agent.threads().memory("default").unwrap().messages();
    assert_eq!(history[1].text(), ended);
    (out, ended)
}

#[tokio::test]
async fn an_answer_streams_a_sentence_at_a_time() {
    let (out, reply) =
        emitted(hook(), &["Hello, I am A", "da Lovelace. Write to a", "da. Good", " bye"]).await;
    assert_eq!(reply, "Hello, I am [REDACTED_PERSON]. Write to [REDACTED_PERSON]. Good bye");
    assert_eq!(out.concat(), reply);
    assert_eq!(out[0], "Hello, I am [REDACTED_PERSON]. ");
}

#[tokio::test]
async fn a_name_with_initials_is_one_sentence_and_a_wrapped_line_goes_on() {
    let noted = Noted::default();
    let hook = PiiDetection::of([]).recognizer(noted.clone()).output(true).input(false);
    let text = "By J. R. R. Tolkien, with Prof.\nCurie and Ada\nLovelace.\n- one\n- two\n\nWho? \"Nobody.\" \u{4f60}\u{597d}\u{3002}\u{518d}\u{89c1}\u{3002}";
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    emitted(hook, &letters).await;
    let asked = noted.take().concat();
    let expected = [
        "By J. R. R. Tolkien, with Prof.\nCurie and Ada\nLovelace.\n",
        "- one\n",
        "- two\n",
        "\n",
        "Who? ",
        "\"Nobody.\" ",
        "\u{4f60}\u{597d}\u{3002}",
        "\u{518d}\u{89c1}\u{3002}",
    ];
    assert_eq!(asked, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn texts_thoughts_and_signatures_between_each_other_show_no_name(
        parts in proptest::collection::vec(
            (0_u8..4, proptest::collection::vec(
                prop_oneof![Just("zoe"), Just("Zoe "), Just("Barnes"), Just(". "), Just("\n"), Just(" and "), Just("a@b.de")],
                1..6,
            )),
            1..7,
        ),
        cuts in proptest::collection::vec(1_usize..9, 1..9),
    ) {
        let (mut whole, mut cut, mut next) = (Vec::new(), Vec::new(), cuts.iter().cycle());
        for (kind, words) in &parts {
            let text = words.concat();
            whole.push(chunk(*kind, &text));
            let mut rest = &text[..];
            while !rest.is_empty() && *kind != 1 {
                let (part, behind) = rest.split_at((*next.next().unwrap()).min(rest.len()));
                cut.push(chunk(*kind, part));
                rest = behind;
            }
            if *kind == 1 {
                cut.push(chunk(1, ""));
            }
        }
        let call = ChatChunk::ToolUse(ToolUse::new("1", "tool", json!({ "to": "zoe" })));
        whole.push(call.clone());
        cut.push(call);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let whole = runtime.block_on(shown(hook(), whole));
        let cut = runtime.block_on(shown(hook(), cut));
        prop_assert_eq!(&whole, &cut);
        let (shown, memory) = whole;
        prop_assert!(!format!("{shown:?}").contains("zoe") && !memory.contains("zoe"), "{shown:?}");
        // Of two blocks, the stream alone does not show where one ends.
        prop_assert!(!memory.contains("Zoe Barnes"), "{memory}");
    }

    #[test]
    fn what_a_stream_shows_does_not_depend_on_how_it_is_cut(
        words in proptest::collection::vec(
            prop_oneof![Just("ada"), Just("Ada Lovelace"), Just(". "), Just("\n"), Just(" "), Just("a@b.de"), Just("\u{3002}"), Just("x")],
            0..24,
        ),
        cuts in proptest::collection::vec(0_usize..200, 0..12),
    ) {
        let text: String = words.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| text.floor_char_boundary(at)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        prop_assume!(!text.is_empty());
        let (out, reply) = runtime.block_on(emitted(hook(), &chunks));
        let (_, whole) = runtime.block_on(emitted(hook(), &[&text]));
        prop_assert_eq!(&reply, &whole);
        prop_assert_eq!(&out.concat(), &whole);
        prop_assert!(!whole.contains("ada") && !whole.contains("Ada"), "{whole}");
    }
}
