//! Ways around the hook: what it removes is known nowhere.

use futures::executor::block_on;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::{
    PiiCallback, PiiDetector, PiiFormat, PiiMatch, PiiReplacement, PiiScanner, PiiStrategy,
};
use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::model::ChatChunk::{Text, Thinking};
use hooks_agent_core::model::{Find, Finding, Rewriter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::everything::{shown_of, shown_of_call};
use crate::spoken::Spoken;

const MAIL: &str = "ada@example.com";
const CARD: &str = "4532015112830366";

fn all() -> PiiDetection {
    PiiDetection::all().everywhere()
}

fn tool(
    run: impl Fn(ToolContext) -> Result<ToolOutput, String> + Send + Sync + 'static,
) -> FunctionTool {
    FunctionTool::with_context("tool", "Works.", move |_: Value, cx: ToolContext| {
        cx.progress(format!("working on {MAIL}"));
        let ran = run(cx);
        async move { ran }
    })
}

#[track_caller]
fn assert_clean(shown: &str) {
    assert!(!shown.contains(MAIL) && !shown.contains(CARD), "{shown}");
}

/// What is known of an agent with this tool whose model calls it with this input.
fn shown_with(tool: impl Tool + 'static, call: ToolUse, hooks: [bool; 2]) -> String {
    let script = Script::new().calls([call]).thinks(format!("hm {MAIL}"), format!("so {CARD}"));
    let mut builder = ReActAgent::builder("bot").tool(tool);
    if hooks[0] {
        builder = builder.hook(all());
    }
    if hooks[1] {
        builder = builder.hook(all().strategy(PiiStrategy::Mask).named("mask"));
    }
    block_on(shown_of(builder, script))
}

#[test]
fn arguments_of_any_form_are_searched() {
    let card: u64 = CARD.parse().unwrap();
    for input in [
        json!({ "to": MAIL, "deep": [[{ "card": card }]] }),
        json!({ MAIL: 1, "a": { CARD: {} } }),
        json!({ "card": 4_532_015_112_830_366.0_f64 }),
        json!({ "card": -4_532_015_112_830_366_i64 }),
        json!({ "nested": format!("{{\"card\":\"{CARD}\",\"to\":\"{MAIL}\"}}") }),
        json!({ "nested": json!({ "a": json!({ "to": format!("\"{MAIL}\"") }).to_string() }).to_string() }),
    ] {
        let echo = tool(|cx| Ok(format!("{:?}", cx.input()).into()));
        let shown = shown_with(echo, ToolUse::new("1", "tool", input.clone()), [true, false]);
        assert_clean(&shown);
    }
    let invalid = ToolUse::invalid("1", "tool", format!("{{to: {MAIL}, {CARD}"));
    assert_clean(&shown_with(tool(|_| Ok("".into())), invalid, [true, true]));
}

#[test]
fn results_of_any_form_are_searched() {
    let card: u64 = CARD.parse().unwrap();
    let outputs: [fn(u64) -> Result<ToolOutput, String>; 5] = [
        |card| Ok(ToolOutput::json(json!({ "card": card, MAIL: [MAIL] }))),
        |card| Ok(ToolOutput::text(MAIL).with_block(ContentBlock::text(format!("{card}")))),
        |_| Err(format!("no {MAIL}")),
        |_| panic!("no {MAIL}"),
        |card| Ok(ToolOutput::json(json!([card, format!("{{\"to\":\"{MAIL}\"}}")]))),
    ];
    for output in outputs {
        let works = tool(move |_| output(card));
        assert_clean(&shown_with(works, ToolUse::new("1", "tool", json!({})), [true, true]));
    }
}

/// Fails around the tool, with personal data in the error.
struct Fails;

#[agent_hook]
impl Fails {
    async fn fail(&self, _: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        Err(next.fail(format!("no {MAIL}")))
    }
}

#[test]
fn the_error_of_a_hook_around_the_tool_is_searched() {
    let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
    let builder = ReActAgent::builder("bot").tool(Calls::new("tool")).hook(all()).hook(Fails);
    let shown = block_on(shown_of(builder, script));
    assert!(shown.contains("[REDACTED_EMAIL]"), "{shown}");
    assert_clean(&shown);
}

#[test]
fn what_other_hooks_answer_is_searched() {
    let answer = || Msg::assistant("bot", format!("{MAIL} {CARD}"));
    let hooks: [Box<dyn DynAgentHook>; 4] = [
        Box::new(on(move |event: &mut PreCall<'_>| event.answer(answer()))),
        Box::new(on(move |event: &mut PreReasoning<'_>| event.answer(answer()))),
        Box::new(on(|event: &mut PreActing<'_>| event.refuse(format!("no {MAIL}")))),
        Box::new(on(|event: &mut PreActing<'_>| {
            let output = ToolOutput::json(json!({ MAIL: CARD }));
            event.answer(output)
        })),
    ];
    for hook in hooks {
        let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
        let builder = ReActAgent::builder("bot").tool(Calls::new("tool")).hook(all()).hook(hook);
        assert_clean(&block_on(shown_of(builder, script)));
    }
}

#[test]
fn summaries_are_searched() {
    let script = Script::new()
        .calls([ToolUse::new("1", "tool", json!({ "to": MAIL }))])
        .thinks(format!("hm {MAIL}"), format!("so {CARD} and {MAIL}"));
    let tool = Calls::new("tool").answers(MAIL);
    let builder = ReActAgent::builder("bot").tool(tool).hook(all()).max_iters(1);
    let shown = block_on(shown_of(builder, script));
    assert!(shown.contains("[REDACTED_CREDIT_CARD]"), "{shown}");
    assert_clean(&shown);
}

#[test]
fn sub_agents_are_searched_both_ways() {
    let echo = ScriptedModel::new("echo", |request| format!("{CARD} {}", request.last_text()));
    let helper = ReActAgent::builder("helper").model(echo).build().unwrap().to_tool("Helps.");
    let call = ToolUse::new("1", "helper", json!({ "task": format!("mail {MAIL}") }));
    assert_clean(&shown_with(helper, call, [true, true]));
}

#[test]
fn an_approval_shows_what_is_left() {
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let call = ToolUse::new("1", "pay", json!({ "card": CARD }));
    let ask = pay.permission(|_| Permission::Ask);
    assert_clean(&shown_with(ask, call.clone(), [true, false]));
    let ask = on(|event: &mut PreActing<'_>| event.ask(format!("pay by {MAIL}?")));
    let script = Script::new().calls([call]).says("done");
    let builder = ReActAgent::builder("bot").tool(Calls::new("pay")).hook(all());
    let shown = block_on(shown_of(builder.hook(ask), script));
    assert!(!shown.contains(CARD), "{shown}");
}

#[test]
fn an_observed_message_is_searched_before_the_model_has_it() {
    let script = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(all()).build().unwrap();
    block_on(agent.observe(agent.context(CallOptions::new()), Msg::user(MAIL))).unwrap();
    block_on(agent.call("go")).unwrap();
    assert_clean(&format!("{:?}", script.requests()));
}

/// A text is searched by itself: these are limits, which the page of the hook names.
#[test]
fn what_is_split_over_texts_is_not_found() {
    let chunks = vec![Text("ada@exam".into()), Thinking("hm".into()), Text("ple.com".into())];
    let builder = Spoken::new(chunks).given_to(ReActAgent::builder("bot").hook(all()));
    let shown = block_on(shown_of_call(builder, "go"));
    assert!(shown.contains("ple.com"), "{shown}");
}

#[test]
fn a_replaced_text_stays_as_it_is_when_it_is_searched_again() {
    let text = format!(
        "{MAIL} {CARD} 10.0.0.1 2001:db8::8a2e:370:7334 00:1A:2B:3C:4D:5E https://a.example.com/b \
         +49 30 901820 DE89370400440532013000"
    );
    for strategy in [PiiStrategy::Redact, PiiStrategy::Mask, PiiStrategy::Hash] {
        for format in [PiiFormat::Keyed, PiiFormat::LangChain, PiiFormat::Spring] {
            // Random keys: hashes of all forms.
            for _ in 0..500 {
                let by = PiiReplacement::new(strategy).with_format(format);
                let rewriter = Rewriter::new(All(by));
                let once = rewriter.text(&text).unwrap();
                assert_eq!(rewriter.text(&once), Ok(once.clone()), "{strategy:?} {format:?}");
            }
        }
    }
}

struct All(PiiReplacement);

impl Find for All {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let found = PiiScanner::all().find(text, from)?;
        let text = self.0.replace(&found.kind, &text[found.range.clone()])?;
        Some(Finding::Replace { range: found.range, text })
    }

    fn settled(&self, text: &str, _: usize) -> usize {
        text.len()
    }
}

/// A detector that panics blocks, and what it was given is not in the error.
#[test]
fn a_detector_that_panics_blocks_the_text() {
    for place in 0..4 {
        let broken = PiiCallback::new(|text| {
            assert!(!text.contains('@'), "cannot read `{text}`");
            Vec::<PiiMatch>::new()
        });
        let hook = PiiDetection::custom("broken", broken).everywhere();
        let script = match place {
            0 => Script::new().calls([ToolUse::new("1", "tool", json!({ "to": MAIL }))]),
            1 => Script::new().calls([ToolUse::new("1", "tool", json!({}))]),
            _ => Script::new().thinks("so", format!("a {MAIL} b")),
        };
        let tool = Calls::new("tool").answers(MAIL);
        let builder = ReActAgent::builder("bot").model(script.says("done")).tool(tool).hook(hook);
        let input = if place == 3 { MAIL } else { "go" };
        let shown = block_on(shown_of_call(builder, input));
        if place < 3 {
            assert_clean(&shown);
        }
        assert!(shown.contains("panicked"), "{place}: {shown}");
    }
}
