//! `SensitiveWords`: words of a list in every place of an agent.

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_builtin::guard::{PiiDetection, SensitiveWords, WordList};
use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::model::{ChatChunk, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::{Calls, Script};
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use crate::everything::{shown_of, shown_of_call};
use crate::spoken::Spoken;

fn list() -> WordList {
    WordList::new(["bluebird", "top secret", "机密"]).unwrap()
}

fn words() -> SensitiveWords {
    SensitiveWords::new(list())
}

#[test]
fn a_word_is_known_nowhere() {
    let outputs: [fn() -> Result<ToolOutput, String>; 3] = [
        || Ok(ToolOutput::json(json!({ "bluebird": ["Top Secret", 1] }))),
        || Ok(ToolOutput::text("机密").with_block(ContentBlock::text("BLUEBIRD"))),
        || Err("no bluebird".to_owned()),
    ];
    for output in outputs {
        let tool =
            FunctionTool::with_context("tool", "Works.", move |_: Value, cx: ToolContext| {
                cx.progress("on 机密");
                async move { output() }
            });
        let call = ToolUse::new("1", "tool", json!({ "about": ["Ｂluebird", { "机密": 1 }] }));
        let invalid = ToolUse::invalid("2", "tool", "{bluebird");
        let script = Script::new().calls([call, invalid]).thinks("hm bluebird", "so top secret");
        let builder = ReActAgent::builder("bot").tool(tool).hook(words());
        let shown = block_on(shown_of(builder, script)).to_lowercase();
        for word in ["bluebird", "ｂluebird", "机密", "top secret"] {
            assert!(!shown.contains(word), "{word}: {shown}");
        }
        assert!(shown.contains("********"));
    }
}

#[test]
fn text_that_cannot_become_a_word_is_streamed_at_once() {
    let text = ["All is ", "well, ", "blue sky ", "today"];
    let chunks = text.map(|part| ChatChunk::Text(part.into()));
    let builder = Spoken::new(chunks.to_vec()).given_to(ReActAgent::builder("bot"));
    let agent = builder.hook(words()).build().unwrap();
    let parts: Vec<_> = block_on(agent.stream("Go").collect());
    let parts = parts.into_iter().filter_map(|event| match event.unwrap().kind {
        AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => Some(text.clone()),
        _ => None,
    });
    let parts: Vec<_> = parts.collect();
    assert!(parts.len() >= text.len() - 1, "{parts:?}");
    assert_eq!(parts.concat(), text.concat());
}

#[test]
fn a_place_that_is_not_chosen_is_untouched() {
    let texts = |hook: SensitiveWords| {
        let call = ToolUse::new("1", "tool", json!({ "a": "bluebird" }));
        let script = Script::new().calls([call]).says("bluebird");
        let tool = Calls::new("tool").answers("bluebird");
        let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook).build().unwrap();
        block_on(agent.call("bluebird")).unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let is_clean = |msg: &Msg| !serde_json::to_string(&msg.content).unwrap().contains("bird");
        history.iter().map(is_clean).collect::<Vec<_>>()
    };
    assert_eq!(texts(words()), [true; 4]);
    assert_eq!(texts(words().input(false)), [false, true, true, true]);
    assert_eq!(texts(words().tool_arguments(false)), [true, false, true, true]);
    assert_eq!(texts(words().tool_results(false)), [true, true, false, true]);
    assert_eq!(texts(words().output(false)), [true, true, true, false]);
}

#[test]
fn a_blocked_word_fails_the_call_and_the_error_does_not_name_it() {
    let script = Script::new().says("about BLUEBIRD");
    let agent = ReActAgent::builder("bot").model(script).hook(words().block()).build().unwrap();
    let error = block_on(agent.call("a bluebird")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("blue"), "{error:?}");
    let error = block_on(agent.call("go")).unwrap_err();
    assert!(matches!(&error, AgentError::Model(ModelError::Blocked { .. })), "{error:?}");
    let shown =
        format!("{error:?} {:?} {agent:?}", agent.threads().memory("default").unwrap().messages());
    assert!(!shown.to_lowercase().contains("blue"), "{shown}");
}

#[test]
fn a_blocked_result_becomes_an_error_that_the_model_reads() {
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
    let tool = Calls::new("tool").answers("the bluebird flies");
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(tool).hook(words().block());
    let agent = agent.build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    let read = format!("{:?}", script.requests());
    assert!(read.contains("a word that is not allowed") && !read.contains("bluebird"), "{read}");
}

#[test]
fn agents_that_are_tools_are_searched_too() {
    let echo = ScriptedModel::new("echo", |request| format!("机密 {}", request.last_text()));
    let helper = ReActAgent::builder("helper").model(echo).build().unwrap();
    let call = ToolUse::new("1", "helper", json!({ "task": "find the bluebird" }));
    let script = Script::new().calls([call]).says("done");
    let builder = ReActAgent::builder("bot").tool(helper.to_tool("Helps.")).hook(words());
    let shown = block_on(shown_of(builder, script));
    assert!(!shown.contains("bluebird") && !shown.contains("机密"), "{shown}");
}

fn text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "bluebird", "Blue", "bird", "top", " ", "secret", "  ", "机", "密", "机密", ", ", "\u{AD}",
        "a@b.com", "x", "。", "Ｂ",
    ]);
    prop::collection::vec(part, 0..16).prop_map(|parts| format!("so {}", parts.concat()))
}

proptest! {
    #[test]
    fn a_stream_cut_anywhere_is_the_whole_text_masked(text in text(), length in 1_usize..9) {
        let chars: Vec<char> = text.chars().collect();
        let chunks = chars.chunks(length).map(|part| ChatChunk::Text(part.iter().collect()));
        let mail = PiiDetection::email().strategy(PiiStrategy::Redact).output(true);
        let say = |chunks: Vec<ChatChunk>, both: bool| {
            let builder = ReActAgent::builder("bot").hook(words());
            let builder = if both { builder.hook(mail.clone()) } else { builder };
            let agent = Spoken::new(chunks).given_to(builder).build().unwrap();
            block_on(agent.call("go")).unwrap().text()
        };
        let whole = vec![ChatChunk::Text(text.clone())];
        let chunks: Vec<_> = chunks.collect();
        prop_assert_eq!(say(chunks.clone(), false), list().mask(&text));
        prop_assert_eq!(say(chunks.clone(), true), say(whole, true));
        let builder = Spoken::new(chunks).interrupted_before(2);
        let shown = block_on(shown_of_call(builder.given_to(ReActAgent::builder("b").hook(words())), "go"));
        // A word inside of another one stays.
        let is_left = list().mask(&text).contains("bluebird");
        let is_clean = !shown.contains("机密") && (is_left || !shown.contains("bluebird"));
        prop_assert!(is_clean, "{}", shown);
    }
}
