//! `PiiDetection`: what it finds where, as the models of the specification do (D 3.1).
//!
//! These rows end otherwise here:
//!
//! | D 3.1 | here | why |
//! |---|---|---|
//! | `Reach me at alice@example.com tomorrow.`: nothing is emitted at first | all but the last word | what is held back is exact: only what may still become personal data |
//! | `Hi, contact alice`, `@example.com when ready`: nothing, nothing | `Hi, contact `, then the rest | the same |
//! | `Hello there, `, `how are you?`, block: nothing until the end | both at once | the same |
//! | `Reach me at alice`, `@example.com soon`, block: nothing, then an error | `Reach me at `, then an error | the same |
//! | `word ` 40 times: the first 72 characters | all | the same |
//! | an address and 20 `x`: `[REDACTED_EMAIL]` | the same; the `x` are part of the domain | an address ends where its domain ends |
//! | two blocked addresses: `2 instance(s)` | `1 instance(s)` | a text ends at the first one, so that a stream and a whole text have the same error |
//! | tool results: those after the last answer | all | what came into memory another way is searched, too |
//! | an unknown kind, or none for a detector: `ValueError` | does not compile | kinds are an enum, `custom` requires a detector |

mod again;
mod cuts;
mod leaks;
mod random;
mod streams;

use std::error::Error;

use futures::executor::block_on;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::{PiiCallback, PiiMatch, PiiPattern, PiiStrategy};
use hooks_agent_core::hook::TextBlocked;
use hooks_agent_core::message::Media;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

const MAIL: &str = "test@example.com";

fn bot(script: Script) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(script)
}

fn texts(agent: &ReActAgent) -> Vec<String> {
    agent.threads().memory("default").unwrap().messages().iter().map(Msg::text).collect()
}

/// The texts in memory after a call of an agent that echoes.
fn echoed(hook: PiiDetection, input: &str) -> Vec<String> {
    let echo = ScriptedModel::new("echo", |_| format!("Hi {MAIL}"));
    let agent = ReActAgent::builder("bot").model(echo).hook(hook).build().unwrap();
    block_on(agent.call(input)).unwrap();
    texts(&agent)
}

/// D 3.1: input only, the answer is untouched; output only, the input is.
#[test]
fn a_place_that_is_not_chosen_is_untouched() {
    let input = format!("Email: {MAIL}");
    let found = echoed(PiiDetection::email(), &input);
    assert_eq!(found, ["Email: [REDACTED_EMAIL]", "Hi test@example.com"]);
    let found = echoed(PiiDetection::email().input(false).output(true), &input);
    assert_eq!(found, ["Email: test@example.com", "Hi [REDACTED_EMAIL]"]);
}

/// D 3.1: nothing is found, nothing changes.
#[test]
fn a_text_without_personal_data_stays_as_it_is() {
    let msg = Msg::user("No data here").with_metadata("id", 7);
    let agent = bot(Script::new().says("Nor here.")).hook(PiiDetection::all().everywhere());
    let agent = agent.build().unwrap();
    block_on(agent.call(msg.clone())).unwrap();
    assert_eq!(agent.threads().memory("default").unwrap().messages().get(0), Some(&msg));
    assert_eq!(texts(&agent)[1], "Nor here.");
}

/// D 3.1: tool results, with redact, mask and block.
#[test]
fn tool_results_are_searched_by_choice() {
    let result = |hook: PiiDetection| {
        let look = Calls::new("look").answers(format!("Found: {MAIL}"));
        let script = Script::new().calls([ToolUse::new("1", "look", json!({}))]).says("ok");
        let agent = bot(script.clone()).tool(look).hook(hook).build().unwrap();
        block_on(agent.call("go")).unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap().clone();
        let read = script.requests()[1].messages.iter().flat_map(Msg::tool_results).next().cloned();
        assert_eq!(read, Some(result.clone()));
        (result.output.as_str().to_owned(), result.is_error)
    };
    let email = || PiiDetection::email().tool_results(true);
    assert_eq!(result(PiiDetection::email()), (format!("Found: {MAIL}"), false));
    assert_eq!(result(email()), ("Found: [REDACTED_EMAIL]".to_owned(), false));
    let masked = result(email().strategy(PiiStrategy::Mask));
    assert_eq!(masked, ("Found: test@****.com".to_owned(), false));
    let blocked = result(email().strategy(PiiStrategy::Block));
    let reason = "Detected 1 instance(s) of email in text content";
    assert_eq!(blocked, (reason.to_owned(), true));
}

/// D 3.1: other blocks, ids, names and further data are kept.
#[test]
fn other_parts_of_a_message_stay_as_they_are() {
    let image = ContentBlock::Image(Media::url("image/png", "https://a.b/c.png"));
    let mut msg = Msg::user(format!("see {MAIL}")).with(image.clone()).with_metadata("id", 7);
    let agent = bot(Script::new().says("ok")).hook(PiiDetection::email()).build().unwrap();
    block_on(agent.call(msg.clone())).unwrap();
    msg.content = vec![ContentBlock::text("see [REDACTED_EMAIL]"), image];
    assert_eq!(agent.threads().memory("default").unwrap().messages().get(0), Some(&msg));
}

/// D 3.1: two hooks in sequence.
#[test]
fn several_hooks_find_their_kinds_each() {
    let script = Script::new().says("You are test@example.com at 192.168.1.1");
    let mask = PiiDetection::ip().strategy(PiiStrategy::Mask).output(true);
    let agent = bot(script).hook(PiiDetection::email().output(true)).hook(mask).build().unwrap();
    block_on(agent.call("Email: test@example.com, IP: 192.168.1.1")).unwrap();
    let expected = ["Email: [REDACTED_EMAIL], IP: *.*.*.1", "You are [REDACTED_EMAIL] at *.*.*.1"];
    assert_eq!(texts(&agent), expected);
}

/// D 3.1: custom kinds.
#[test]
fn a_detector_of_ones_own_names_its_kind() {
    let keys = PiiPattern::new("api_key", "sk-[a-zA-Z0-9]{32}").unwrap();
    let hook = || PiiDetection::custom("api_key", keys.clone());
    let text = "Key: sk-abcdefghijklmnopqrstuvwxyz123456";
    assert_eq!(echoed(hook(), text)[0], "Key: [REDACTED_API_KEY]");
    assert_eq!(echoed(hook().strategy(PiiStrategy::Mask), text)[0], "Key: ****3456");
    let phones = PiiPattern::new("indian_phone", r"\+91[\s.-]?\d{10}").unwrap();
    let hook = PiiDetection::custom("indian_phone", phones).strategy(PiiStrategy::Mask);
    assert_eq!(echoed(hook, "Call +91 9876543210")[0], "Call ****3210");
    // Each match has its own kind.
    let both = PiiCallback::new(|text| {
        let of = |kind: &'static str, word: &'static str| {
            let found = text.match_indices(word);
            found.map(move |(at, _)| PiiMatch::new(kind, at..at + word.len()))
        };
        of("email", MAIL).chain(of("ip", "10.0.0.1")).collect()
    });
    let found = echoed(PiiDetection::custom("both", both), "Email: test@example.com, IP: 10.0.0.1");
    assert_eq!(found[0], "Email: [REDACTED_EMAIL], IP: [REDACTED_IP]");
}

/// D 3.1: block.
#[test]
fn a_blocked_input_fails_the_call_and_is_kept_nowhere() {
    let script = Script::new().says("unreached");
    let hook = PiiDetection::email().strategy(PiiStrategy::Block);
    let agent = bot(script.clone()).hook(hook).build().unwrap();
    for text in [format!("Email: {MAIL}"), format!("{MAIL} and alice@test.com")] {
        let error = block_on(agent.call(text)).unwrap_err();
        let mut next: Option<&(dyn Error + 'static)> = Some(&error);
        let mut blocked = None;
        while let Some(error) = next {
            blocked = blocked.or_else(|| error.downcast_ref::<TextBlocked>());
            next = error.source();
        }
        let reason = "Detected 1 instance(s) of email in text content";
        assert_eq!(blocked.unwrap().reason, reason);
        assert!(!format!("{error} {error:?}").contains('@'));
    }
    assert!(script.requests().is_empty() && texts(&agent).is_empty());
}

#[test]
fn a_blocked_answer_fails_the_call() {
    let hook = PiiDetection::email().strategy(PiiStrategy::Block).everywhere();
    let call = ToolUse::new("1", "send", json!({ "to": [{ MAIL: 1 }] }));
    for script in [Script::new().says(format!("Mail {MAIL}")), Script::new().calls([call])] {
        let send = Calls::new("send");
        let agent = bot(script).tool(send.clone()).hook(hook.clone()).build().unwrap();
        let error = block_on(agent.call("go")).unwrap_err();
        let AgentError::Model(ModelError::Blocked { reason, .. }) = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reason, "Detected 1 instance(s) of email in text content");
        send.assert_called_with([]);
        assert!(
            !format!("{:?}", agent.threads().memory("default").unwrap().messages()).contains(MAIL)
        );
    }
}

#[test]
fn a_hook_of_several_kinds_finds_what_overlaps_as_one_in_every_place() {
    let text = "see ana@example.com/path?q=1 now";
    let agent = bot(Script::new().says(text)).hook(PiiDetection::all().output(true));
    let agent = agent.build().unwrap();
    block_on(agent.call(text)).unwrap();
    assert_eq!(texts(&agent), ["see [REDACTED_URL] now"; 2]);
}

/// What the model says is searched by all hooks at once, all else by one after the other.
#[test]
fn a_hook_that_masks_and_one_that_blocks_search_the_same_answer() {
    let mask = || PiiDetection::email().strategy(PiiStrategy::Mask).everywhere();
    let block = || {
        let hook = PiiDetection::email().strategy(PiiStrategy::Block).everywhere();
        hook.named("block")
    };
    let agent = bot(Script::new().says(format!("Hi {MAIL}"))).hook(mask()).hook(block());
    let agent = agent.build().unwrap();
    assert!(block_on(agent.call("go")).is_err());
    assert!(!format!("{:?}", agent.threads().memory("default").unwrap().messages()).contains(MAIL));
    // In the input, the first one has removed what the second blocks.
    let agent = bot(Script::new().says("ok")).hook(mask()).hook(block()).build().unwrap();
    block_on(agent.call(MAIL)).unwrap();
    assert_eq!(texts(&agent)[0], "test@****.com");
    let agent = bot(Script::new().says("ok")).hook(block()).hook(mask()).build().unwrap();
    assert!(block_on(agent.call(MAIL)).is_err());
}
