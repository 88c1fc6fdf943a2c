//! `Vault`: tokens for models, data for tools.

mod flows;
mod kept;

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::guard::pii::{PiiCallback, PiiMatch, PiiPattern, PiiStrategy};
use hooks_agent_builtin::guard::{PiiDetection, Vault, VaultKey};
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use crate::everything::shown_of;

const MAIL: &str = "ada@example.com";
const BOB: &str = "bob@example.com";

/// A vault whose tokens are the same in each run.
pub(crate) fn vault() -> Vault {
    Vault::stored(VaultKey::new("test", [7; 32]))
}

type Answer = fn(&Value) -> Result<String, String>;

fn email(vault: &Vault) -> PiiDetection {
    PiiDetection::email().vault(vault.clone())
}

fn send(id: &str, input: Value) -> ToolUse {
    ToolUse::new(id, "send", input)
}

/// Calls the agent on a thread and returns the text of the reply.
fn said(agent: &ReActAgent, thread: &str, text: &str) -> String {
    let options = CallOptions::new().thread(thread.to_owned());
    block_on(agent.call_with(options, text.to_owned())).unwrap().text()
}

fn echo(vault: &Vault) -> ReActAgent {
    let echo = ScriptedModel::new("echo", ChatRequest::last_text);
    ReActAgent::builder("bot").model(echo).hook(email(vault)).build().unwrap()
}

/// Notes the inputs that the tool `send` receives.
fn sender(
    answer: impl Fn(&Value) -> Result<String, String> + Send + Sync + 'static,
) -> (FunctionTool, Arc<Mutex<Vec<Value>>>) {
    noting("send", answer)
}

/// Notes the inputs that a tool receives.
pub(crate) fn noting(
    name: &str,
    answer: impl Fn(&Value) -> Result<String, String> + Send + Sync + 'static,
) -> (FunctionTool, Arc<Mutex<Vec<Value>>>) {
    let inputs = Arc::new(Mutex::new(Vec::new()));
    let seen = inputs.clone();
    let tool = FunctionTool::with_context(name, "Notes.", move |input: Value, cx: ToolContext| {
        cx.progress(format!("sending {input}"));
        let answered = answer(&input);
        seen.lock().unwrap().push(input);
        async move { answered }
    });
    (tool, inputs)
}

#[test]
fn threads_never_share_tokens() {
    let vault = vault();
    let agent = echo(&vault);
    let (of_a, of_b) = (vault.token_of("a", "email", MAIL), vault.token_of("b", "email", MAIL));
    assert_ne!(of_a, of_b);
    assert_eq!(said(&agent, "a", &format!("{MAIL}, {MAIL}")), format!("{of_a}, {of_a}"));
    assert_eq!(said(&agent, "b", MAIL), of_b);
    assert_eq!(
        vault.reveal_in(agent.id(), "a", &format!("{of_a} {of_b}")),
        format!("{MAIL} {of_b}")
    );
    assert_eq!(vault.reveal_in(echo(&vault).id(), "a", &of_a), of_a);
}

#[test]
fn a_token_is_the_same_with_the_same_key() {
    assert_eq!(vault().token_of("default", "email", MAIL), "[EMAIL_XZNDVXQW]");
    let other = Vault::stored(VaultKey::new("test", [8; 32]));
    assert_ne!(other.token_of("default", "email", MAIL), "[EMAIL_XZNDVXQW]");
    assert_ne!(Vault::new().token_of("default", "email", MAIL), "[EMAIL_XZNDVXQW]");
}

#[test]
fn data_is_forgotten_alone_and_with_its_thread() {
    let vault = vault();
    let agent = echo(&vault);
    let alone: fn(&ReActAgent, &Vault) -> bool = |agent, vault| vault.forget(agent.id(), "a");
    let with_thread: fn(&ReActAgent, &Vault) -> bool = |agent, _| agent.threads().forget("a");
    for forget in [alone, with_thread] {
        let token = said(&agent, "a", MAIL);
        assert_eq!(vault.reveal_in(agent.id(), "a", &token), MAIL);
        assert!(forget(&agent, &vault) && !forget(&agent, &vault));
        assert_eq!(vault.reveal_in(agent.id(), "a", &token), token);
        // Other data never has this name.
        assert_ne!(said(&agent, "a", BOB), token);
        assert_eq!(vault.reveal_in(agent.id(), "a", &token), token);
        vault.forget(agent.id(), "a");
    }
}

#[test]
fn kinds_whose_names_read_alike_have_different_tokens() {
    let find = |text: &str| -> Vec<PiiMatch> {
        let of = |kind: &'static str, word: &'static str| {
            text.match_indices(word)
                .map(move |(at, _)| PiiMatch::new(kind, at..at + word.len()))
                .collect()
        };
        let kinds: [Vec<_>; 3] = [of("name", "Ada"), of("NAME", "Bob"), of("na]me[", "Eve")];
        kinds.concat()
    };
    let vault = vault();
    let hook = PiiDetection::custom("name", PiiCallback::new(find)).vault(vault.clone());
    let echo = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(echo).hook(hook).build().unwrap();
    let text = said(&agent, "default", "Ada, Bob, Eve");
    assert!(!text.contains("Ada") && !text.contains("Bob") && !text.contains("Eve"), "{text}");
    assert_eq!(vault.reveal_in(agent.id(), "default", &text), "Ada, Bob, Eve");
}

#[test]
fn a_token_that_the_detector_finds_itself_stays() {
    let orders = PiiPattern::new("order", r"ORDER_\w+").unwrap();
    let vault = vault();
    let hook = PiiDetection::custom("order", orders).vault(vault.clone()).everywhere();
    let echo = ScriptedModel::new("echo", |request| format!("{}, ORDER_2", request.last_text()));
    let agent = ReActAgent::builder("bot").model(echo).hook(hook).build().unwrap();
    let token = |order| vault.token_of("default", "order", order);
    for _ in 0..3 {
        let (one, two) = (token("ORDER_1"), token("ORDER_2"));
        assert_eq!(said(&agent, "default", "ORDER_1"), format!("{one}, {two}"));
        let shown = vault.reveal_in(agent.id(), "default", &format!("{one}, {two}"));
        assert_eq!(shown, "ORDER_1, ORDER_2");
    }
}

#[test]
fn a_token_that_somebody_wrote_is_text() {
    let vault = vault();
    let (tool, inputs) = sender(|_| Ok("reply to [EMAIL_1] or eve@example.com".into()));
    let input = json!({
        "to": "[EMAIL_1]", "cc": "[EMAIL_XZNDVXQW", "bcc": "[[EMAIL_XZNDVXQW]]", "x": "EMAIL_1]",
    });
    let calls = [send("1", input.clone()), send("2", json!({ "to": "[EMAIL_1]" }))];
    let script = Script::new().calls(calls).calls([send("3", json!({ "to": "[EMAIL_1]" }))]);
    let script = script.says("done [PHONE_1]");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(email(&vault));
    let agent = agent.parallel_tools(true).build().unwrap();
    assert_eq!(said(&agent, "default", &format!("[EMAIL_1] {MAIL} [EMAIL_1]")), "done [PHONE_1]");
    let mut expected = input;
    expected["bcc"] = json!(format!("[{MAIL}]"));
    let written = json!({ "to": "[EMAIL_1]" });
    assert_eq!(*inputs.lock().unwrap(), [expected, written.clone(), written]);
    let results = agent.threads().memory("default").unwrap().messages();
    let mut results = results.iter().flat_map(Msg::tool_results);
    let token = vault.token_of("default", "email", "eve@example.com");
    let said = format!("reply to [EMAIL_1] or {token}");
    assert!(results.all(|result| result.output.as_str() == said));
}

#[test]
fn a_tool_with_a_token_that_names_no_data_is_not_run() {
    let vault = vault();
    let foreign = vault.token_of("another thread", "email", MAIL);
    let never = vault.token_of("default", "email", BOB);
    let known = vault.token_of("default", "email", MAIL);
    let inputs = [
        json!({ "to": foreign }),
        json!({ "deep": [{ "to": format!("mail {never}") }] }),
        json!({ "to": known, "cc": never }),
        json!({ (known.as_str()): 1 }),
        json!({ "deep": { (never.as_str()): 1 } }),
    ];
    for input in inputs {
        let (tool, received) = sender(|_| Ok("sent".into()));
        let (log, logged) = noting("log", |_| Ok("logged".into()));
        let calls = [send("1", input.clone()), ToolUse::new("2", "log", input.clone())];
        let script = Script::new().calls(calls).says("done");
        let hook = email(&vault).reveal_only_to(["send"]);
        let agent = ReActAgent::builder("bot").model(script).tool(tool).tool(log);
        let agent = agent.hook(hook).build().unwrap();
        said(&agent, "default", MAIL);
        assert!(received.lock().unwrap().is_empty(), "{input}");
        // A tool that receives no data has the tokens as text.
        assert_eq!(*logged.lock().unwrap(), [input]);
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert!(result.is_error && !result.output.as_str().contains('@'), "{result:?}");
    }
}

#[test]
fn a_text_of_brackets_is_revealed_in_linear_time() {
    let vault = vault();
    let agent = echo(&vault);
    said(&agent, "default", MAIL);
    let brackets = "[".repeat(1 << 22);
    assert_eq!(vault.reveal_in(agent.id(), "default", &brackets).len(), brackets.len());
}

#[test]
fn sixty_four_threads_at_once_have_one_token_for_a_value() {
    let vault = vault();
    let agent = echo(&vault);
    let texts: Vec<_> = std::thread::scope(|scope| {
        let say = |index: usize| {
            let (agent, vault) = (&agent, &vault);
            scope.spawn(move || {
                let own = format!("user{index}@example.com");
                let thread = format!("t{}", index % 2);
                let text = said(agent, &thread, &format!("{MAIL} {own}"));
                assert_eq!(vault.reveal_in(agent.id(), &thread, &text), format!("{MAIL} {own}"));
                (index % 2, text)
            })
        };
        let threads: Vec<_> = (0..64).map(say).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for side in 0..2 {
        let of_side = texts.iter().filter(|(of, _)| *of == side);
        let (first, own): (Vec<_>, Vec<_>) =
            of_side.map(|(_, text)| text.split_once(' ').unwrap()).unzip();
        assert!(first.iter().all(|token| *token == first[0]), "{first:?}");
        let own: std::collections::BTreeSet<_> = own.into_iter().collect();
        assert_eq!(own.len(), 32);
    }
}

#[test]
fn a_vault_and_its_hook_show_nothing_of_the_data() {
    let vault = vault();
    let agent = echo(&vault);
    said(&agent, "default", MAIL);
    assert_eq!(format!("{vault:?}"), "Vault { keys: [VaultKey(\"test\")], .. }");
    assert!(!format!("{:?} {agent:?}", email(&vault)).contains("ada@"));
}

#[test]
fn block_blocks_with_a_vault_too() {
    let vault = vault();
    let hook = email(&vault).strategy(PiiStrategy::Block);
    let script = Script::new().says("unreached");
    let agent = ReActAgent::builder("bot").model(script).hook(hook).build().unwrap();
    assert!(block_on(agent.call(MAIL)).is_err());
    assert!(agent.threads().memory("default").unwrap().values().is_empty());
}

/// A tool that gives back what it received, in every way.
#[test]
fn what_a_tool_received_does_not_come_back() {
    let answers: [Answer; 4] = [
        |input| Ok(input.to_string()),
        |input| Err(input.to_string()),
        // Without the boundaries of a word, so that no detector finds it.
        |input| {
            Ok(format!("id{}x1", input["to"].as_str().unwrap().split(' ').next_back().unwrap()))
        },
        |input| {
            Err(format!("id{}x1", input["to"].as_str().unwrap().split(' ').next_back().unwrap()))
        },
    ];
    for searched in [true, false] {
        for answer in answers {
            let vault = vault();
            let (tool, inputs) = sender(answer);
            let hook = PiiDetection::credit_card().vault(vault).tool_results(searched);
            let script =
                Script::new().calls([send("1", json!({ "to": "pay [CREDIT_CARD_LQNPRZXR]" }))]);
            let agent = ReActAgent::builder("bot").tool(tool).hook(hook);
            // The user's message is the card.
            let card = on(|event: &mut PreCall<'_>| {
                event.messages_mut().push(Msg::user("card 4532015112830366"));
            });
            let card = card.with_priority(1);
            let shown = block_on(shown_of(agent.hook(card), script.says("done")));
            assert_eq!(inputs.lock().unwrap()[0], json!({ "to": "pay 4532015112830366" }));
            assert!(!shown.contains("4532015112830366"), "{searched}: {shown}");
        }
    }
}

#[test]
fn only_the_chosen_tools_receive_the_data() {
    let vault = vault();
    let hook = email(&vault).reveal_only_to(["send"]);
    let (tool, inputs) = sender(|_| Ok("sent".into()));
    let logged = Arc::new(Mutex::new(Vec::new()));
    let seen = logged.clone();
    let log = FunctionTool::new("log", "Logs.", move |input: Value| {
        seen.lock().unwrap().push(input);
        async { "logged" }
    });
    let log_call = ToolUse::new("2", "log", json!({ "to": "[EMAIL_XZNDVXQW]" }));
    let script = Script::new().calls([send("1", json!({ "to": "[EMAIL_XZNDVXQW]" })), log_call]);
    let agent = ReActAgent::builder("bot").model(script.says("done")).tool(tool).tool(log);
    let agent = agent.hook(hook).build().unwrap();
    said(&agent, "default", MAIL);
    assert_eq!(*inputs.lock().unwrap(), [json!({ "to": MAIL })]);
    assert_eq!(*logged.lock().unwrap(), [json!({ "to": "[EMAIL_XZNDVXQW]" })]);
}
