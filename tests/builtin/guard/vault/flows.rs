//! Tokens through approvals, questions, sub-agents, parallel tools and streams.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::guard::{Decision, PiiDetection, ToolApproval};
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use super::{BOB, MAIL, email, said, send, sender, vault};
use crate::everything::shown_of_call;
use crate::spoken::Spoken;

fn call(id: &str, token: &str) -> ToolUse {
    send(id, json!({ "to": token }))
}

#[test]
fn a_question_shows_the_token_and_the_confirmed_tool_receives_the_data() {
    for by_hook in [false, true] {
        let vault = vault();
        let (tool, inputs) = sender(|_| Ok("sent".into()));
        let script = Script::new().calls([call("1", "[EMAIL_XZNDVXQW]")]).says("done");
        let builder = ReActAgent::builder("bot").model(script).hook(email(&vault));
        let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
        let agent = if by_hook {
            builder.tool(tool).hook(ask)
        } else {
            builder.tool(tool.permission(|call| {
                assert_eq!(call.input["to"], "[EMAIL_XZNDVXQW]");
                Permission::Ask
            }))
        };
        let agent = agent.build().unwrap();
        let reply = block_on(agent.call(MAIL)).unwrap();
        let [pending] = reply.pending() else { panic!("{reply:?}") };
        assert_eq!(pending.call.input, json!({ "to": "[EMAIL_XZNDVXQW]" }));
        assert!(inputs.lock().unwrap().is_empty() && !format!("{reply:?}").contains(MAIL));
        let confirmed = CallOptions::new().confirm(&pending.id);
        assert_eq!(block_on(agent.resume(confirmed)).unwrap().text(), "done");
        assert_eq!(*inputs.lock().unwrap(), [json!({ "to": MAIL })]);
        assert!(
            !format!("{:?}", agent.threads().memory("default").unwrap().messages()).contains(MAIL)
        );
    }
}

#[test]
fn an_approval_decides_on_the_token_and_may_edit_it() {
    let edited = json!({ "to": "[EMAIL_DZXKWGLJ]" });
    for decision in [Decision::Allow, Decision::Edit(edited), Decision::deny("no")] {
        let vault = vault();
        let (tool, inputs) = sender(|_| Ok("sent".into()));
        let (decided, asked) = (decision.clone(), Arc::new(Mutex::new(String::new())));
        let seen = asked.clone();
        let approval = ToolApproval::new(["send"], move |request| {
            *seen.lock().unwrap() = format!("{request:?}");
            let decided = decided.clone();
            async { decided }
        });
        let script = Script::new().calls([call("1", "[EMAIL_XZNDVXQW]")]).says("done");
        let agent = ReActAgent::builder("bot").model(script).tool(tool);
        let agent = agent.hook(email(&vault)).hook(approval).build().unwrap();
        said(&agent, "default", &format!("{MAIL} {BOB}"));
        assert!(!asked.lock().unwrap().contains('@'));
        let expected = match decision {
            Decision::Allow => vec![json!({ "to": MAIL })],
            Decision::Edit(_) => vec![json!({ "to": BOB })],
            _ => Vec::new(),
        };
        assert_eq!(*inputs.lock().unwrap(), expected);
        assert!(
            !format!("{:?}", agent.threads().memory("default").unwrap().messages()).contains('@')
        );
    }
}

#[test]
fn parallel_tools_receive_their_own_data() {
    let vault = vault();
    let (tool, inputs) = sender(|input| Ok(input["to"].as_str().unwrap().to_owned()));
    let calls = [
        call("1", "[EMAIL_XZNDVXQW]"),
        call("2", "[EMAIL_DZXKWGLJ]"),
        call("3", "to [EMAIL_XZNDVXQW]"),
    ];
    let script = Script::new().calls(calls).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).parallel_tools(true);
    let agent = agent.hook(email(&vault)).build().unwrap();
    said(&agent, "default", &format!("{MAIL} {BOB}"));
    let to = [MAIL.to_owned(), BOB.to_owned(), format!("to {MAIL}")];
    let mut received: Vec<_> = inputs.lock().unwrap().clone();
    received.sort_by_key(Value::to_string);
    assert_eq!(received, [&to[0], &to[1], &to[2]].map(|to| json!({ "to": to })));
    let history = agent.threads().memory("default").unwrap().messages();
    let results = history.iter().flat_map(Msg::tool_results).map(|it| it.output.as_str());
    assert_eq!(
        results.collect::<Vec<_>>(),
        ["[EMAIL_XZNDVXQW]", "[EMAIL_DZXKWGLJ]", "to [EMAIL_XZNDVXQW]"]
    );
}

#[test]
fn a_sub_agent_has_the_token_and_its_tool_the_data() {
    let vault = vault();
    let (tool, inputs) = sender(|input| Ok(format!("sent to {}", input["to"])));
    let inner =
        Script::new().calls([call("1", "[EMAIL_XZNDVXQW]")]).says(format!("sent, see {BOB}"));
    let helper = ReActAgent::builder("helper").model(inner.clone()).tool(tool).build().unwrap();
    let task = ToolUse::new("1", "helper", json!({ "task": "write to [EMAIL_XZNDVXQW]" }));
    let outer = Script::new().calls([task]).says("done");
    let agent = ReActAgent::builder("bot").model(outer.clone()).tool(helper.to_tool("Helps."));
    let agent = agent.hook(email(&vault)).build().unwrap();
    said(&agent, "default", MAIL);
    assert_eq!(*inputs.lock().unwrap(), [json!({ "to": MAIL })]);
    assert_eq!(inner.requests()[0].last_text(), "write to [EMAIL_XZNDVXQW]");
    let requests = format!("{:?} {:?}", inner.requests(), outer.requests());
    assert!(
        !requests.contains('@') && requests.contains("sent, see [EMAIL_DZXKWGLJ]"),
        "{requests}"
    );
    assert_eq!(vault.reveal_in(agent.id(), "default", "[EMAIL_DZXKWGLJ]"), BOB);
}

#[test]
fn hooks_of_one_vault_reveal_all_of_its_tokens() {
    let vault = vault();
    let phone = PiiDetection::phone().vault(vault.clone());
    let (tool, inputs) = sender(|input| Ok(input.to_string()));
    let script =
        Script::new().calls([call("1", "[EMAIL_XZNDVXQW] or [PHONE_GVQRBCTB]")]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool);
    let agent = agent.hook(email(&vault)).hook(phone).build().unwrap();
    said(&agent, "default", &format!("{MAIL}, +49 30 901820"));
    let expected = json!({ "to": format!("{MAIL} or +49 30 901820") });
    assert_eq!(*inputs.lock().unwrap(), [expected]);
    let history = format!("{:?}", agent.threads().memory("default").unwrap().messages());
    assert!(!history.contains(MAIL) && !history.contains("901820"), "{history}");
}

#[test]
fn tokens_that_the_model_says_in_parts_stay_tokens() {
    let vault = vault();
    let text = format!("I wrote to [EMAIL_XZNDVXQW] and [EMAIL_9], now {BOB}.");
    let chunks: Vec<_> = text.chars().map(|char| ChatChunk::Text(char.into())).collect();
    for length in [1, 2, 7, 100] {
        let chunks = chunks.chunks(length).map(|part| {
            let text = |chunk: &ChatChunk| match chunk {
                ChatChunk::Text(text) => text.clone(),
                other => unreachable!("{other:?}"),
            };
            ChatChunk::Text(part.iter().map(text).collect())
        });
        let builder = ReActAgent::builder("bot").hook(email(&vault).output(true));
        let shown = block_on(shown_of_call(Spoken::new(chunks.collect()).given_to(builder), MAIL));
        assert!(
            shown.contains("I wrote to [EMAIL_XZNDVXQW] and [EMAIL_9], now [EMAIL_DZXKWGLJ]."),
            "{shown}"
        );
        assert!(!shown.contains('@'), "{shown}");
    }
}

#[test]
fn a_revealed_stream_shows_data_wherever_its_tokens_are_cut() {
    let said = "I wrote to [EMAIL_XZNDVXQW] and [EMAIL_9], [a list] and [EMAIL_";
    let expected = format!("I wrote to {MAIL} and [EMAIL_9], [a list] and [EMAIL_");
    for length in [1, 2, 7, 100] {
        let vault = vault();
        let chars: Vec<_> = said.chars().collect();
        let parts: Vec<String> = chars.chunks(length).map(|part| part.iter().collect()).collect();
        let thoughts = parts.iter().map(|part| ChatChunk::Thinking(part.clone()));
        let texts = parts.iter().map(|part| ChatChunk::Text(part.clone()));
        let model = Spoken::new(thoughts.chain(texts).collect());
        let agent = model.given_to(ReActAgent::builder("bot").hook(email(&vault)));
        let agent = agent.build().unwrap();
        let events = vault.reveal_stream(agent.stream(MAIL));
        let kinds: Vec<_> = block_on(events.map(|event| event.unwrap().kind).collect());

        let (mut thought, mut text) = (String::new(), String::new());
        for kind in &kinds {
            match kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text: part }) => {
                    text.push_str(part);
                }
                AgentEventKind::ReasoningChunk(ContentBlock::Thinking { thinking, .. }) => {
                    thought.push_str(thinking);
                    assert!(text.is_empty(), "what is held back stays in its place");
                }
                AgentEventKind::Reasoned(msg) | AgentEventKind::Finished(msg) => {
                    assert_eq!(msg.text(), expected);
                }
                _ => {}
            }
        }
        assert_eq!((&thought, &text), (&expected, &expected));
        assert!(matches!(kinds.last(), Some(AgentEventKind::Finished(_))));
    }
}

#[test]
fn a_revealed_stream_keeps_tokens_in_what_tools_and_people_are_given() {
    let vault = vault();
    let (tool, inputs) = sender(|_| Ok("sent".into()));
    let script = Script::new().calls([call("1", "[EMAIL_XZNDVXQW]")]).says("[EMAIL_XZNDVXQW]");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(email(&vault));
    let agent = agent.build().unwrap();
    let events = vault.reveal_stream(agent.stream(MAIL));
    let kinds: Vec<_> = block_on(events.map(|event| event.unwrap().kind).collect());
    let started = kinds.iter().find_map(|kind| match kind {
        AgentEventKind::ToolStarted(call) => Some(call.input.clone()),
        _ => None,
    });
    assert_eq!(started, Some(json!({ "to": "[EMAIL_XZNDVXQW]" })));
    assert!(matches!(kinds.last(), Some(AgentEventKind::Finished(msg)) if msg.text() == MAIL));
    assert_eq!(*inputs.lock().unwrap(), [json!({ "to": MAIL })]);
    assert!(!format!("{:?}", agent.memory().messages()).contains(MAIL));
}

#[test]
fn a_call_that_is_dropped_in_its_tool_leaves_the_vault_as_it_was() {
    let vault = vault();
    let hang = FunctionTool::new("send", "Hangs.", async |_: Value| {
        std::future::pending::<()>().await;
        ""
    });
    let script = Script::new().calls([call("1", "[EMAIL_XZNDVXQW]")]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(hang).hook(email(&vault));
    let agent = agent.build().unwrap();
    let mut running = Box::pin(agent.call(MAIL));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..50 {
        assert!(running.as_mut().poll(&mut cx).is_pending());
    }
    drop(running);
    assert_eq!(vault.reveal_in(agent.id(), "default", "[EMAIL_XZNDVXQW]"), MAIL);
    assert!(!format!("{:?}", agent.threads().memory("default").unwrap().messages()).contains('@'));
}

#[test]
fn data_in_arguments_of_the_model_becomes_tokens_and_reaches_the_tool() {
    let vault = vault();
    let (tool, inputs) = sender(|_| Ok("sent".into()));
    let deep = json!({ "to": [{ "a": MAIL }], "n": 4_532_015_112_830_366_u64, "s": "{\"to\":\"ada@example.com\"}" });
    let hook = PiiDetection::all().vault(vault);
    let script = Script::new().calls([send("1", deep.clone())]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook);
    let agent = agent.build().unwrap();
    said(&agent, "default", "go");
    let mut expected = deep;
    // A number that is found is text from then on.
    expected["n"] = json!("4532015112830366");
    assert_eq!(*inputs.lock().unwrap(), [expected]);
    let history = agent.threads().memory("default").unwrap().messages();
    let input = &history[1].tool_uses().next().unwrap().input;
    assert_eq!(input["to"], json!([{ "a": "[EMAIL_XZNDVXQW]" }]));
}
