//! Counts of tokens, and the usage that is reported.

use futures::executor::block_on;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ContextSize, TokenCounter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;

use super::{agent, at, texts, users};

#[test]
fn usage_that_was_reported_before_a_summary_does_not_count_after_it() {
    let small = Script::new().says("s").says("t");
    let answer = |text: &str, tokens| {
        let mut msg = Msg::assistant("bot", text);
        msg.usage = Some(Usage::new(tokens, 0));
        msg
    };
    let hook = at(ContextSize::Tokens(1000), ContextSize::Messages(2), &small);
    let agent = agent(hook, [Msg::user("a"), answer("b", 500), Msg::user("c"), answer("d", 2000)]);
    block_on(agent.call("e")).unwrap();
    assert_eq!(texts(&agent), ["S(s)", "d", "e", "done"]);
    // `d` reported 2,000 tokens of a conversation that is gone.
    let again = block_on(agent.call("f"));
    assert!(again.is_err(), "the script is over");
    assert_eq!(small.requests().len(), 1);
    assert_eq!(texts(&agent), ["S(s)", "d", "e", "done", "f"]);
}

#[test]
fn what_follows_the_reported_usage_is_counted() {
    let mut answer = Msg::assistant("bot", "b");
    answer.usage = Some(Usage::new(900, 50));
    for (length, is_due) in [(4 * 49, false), (4 * 50, true)] {
        let small = Script::new().says("s");
        let hook = at(ContextSize::Tokens(1000), ContextSize::Messages(1), &small);
        let agent = agent(hook, [Msg::user("a"), answer.clone()]);
        block_on(agent.call("x".repeat(length))).unwrap();
        assert_eq!(small.requests().len(), usize::from(is_due), "{length}");
    }
}

#[test]
fn usage_that_is_zero_is_not_a_report() {
    let mut answer = Msg::assistant("bot", "b");
    answer.usage = Some(Usage::default());
    let small = Script::new().says("s");
    let hook = at(ContextSize::Tokens(100), ContextSize::Messages(1), &small);
    let agent = agent(hook, [Msg::user("x".repeat(400)), answer]);
    block_on(agent.call("c")).unwrap();
    assert_eq!(small.requests().len(), 1);
}

#[test]
fn an_approximate_count_takes_four_characters_or_one_ideograph_for_a_token() {
    let counter = TokenCounter::approximate();
    assert_eq!(counter.count_text("twelve chars"), 3);
    assert_eq!(counter.count_text("人工智能体"), 5);
    assert_eq!(counter.count_text("東京タワー"), 5);
    assert_eq!(counter.count_text("서울"), 2);
    assert_eq!(counter.count_text("ab人"), 2);
    assert_eq!(counter.count_text(""), 0);
    let two = users(["ab", "cd"]);
    assert_eq!(counter.count(&two), 1);
}

#[test]
fn a_tokenizer_counts_as_the_model_does() {
    let counter = TokenCounter::tiktoken("gpt-4o").unwrap();
    assert_eq!(counter.count_text("tiktoken is great!"), 6);
    assert!(TokenCounter::tiktoken("mine").is_none());
    // Special tokens in a text are text.
    assert!(counter.count_text("<|endoftext|>") > 1);
}

#[test]
fn the_usage_of_a_whole_call_of_another_agent_is_no_report() {
    let other = ScriptedModel::new("other", |_| "short");
    let other = ReActAgent::builder("other").model(other).build().unwrap();
    let mut reply = block_on(other.call("a")).unwrap();
    // What an agent of many rounds reports.
    reply.usage = Some(Usage::new(90_000, 1_000));
    let small = Script::new().says("s");
    let hook = at(ContextSize::Tokens(10_000), ContextSize::Messages(1), &small);
    let agent = agent(hook, users(["1", "2"]));
    agent.memory().add(reply);
    block_on(agent.call("go")).unwrap();
    assert_eq!(small.requests().len(), 0, "{:?}", texts(&agent));
}

proptest::proptest! {
    #[test]
    fn arguments_and_schemas_count_as_their_json(text in ".{0,12}", number in proptest::num::f64::NORMAL) {
        let values = [
            serde_json::json!({}),
            serde_json::json!([]),
            serde_json::json!(null),
            serde_json::json!({ text.clone(): [number, true, false, { "人": text }], "b\u{1}\n": "\"" }),
        ];
        for value in values {
            let call = ToolUse::new("1", "", value.clone());
            let msg = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call)]);
            let counter = TokenCounter::approximate();
            proptest::prop_assert_eq!(counter.count([&msg]), counter.count_text(&value.to_string()));
        }
    }
}
