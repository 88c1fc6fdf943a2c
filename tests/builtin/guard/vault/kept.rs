//! Where data is kept, and who cannot have it.

use futures::executor::block_on;
use hooks_agent_builtin::guard::VaultError;
use hooks_agent_core::event::PreCall;
use hooks_agent_core::message::Messages;
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::ThreadKey;
use hooks_agent_core::testing::Script;
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_core::user::UserAgent;
use serde_json::{Value, json};

use super::{MAIL, echo, email, said, send, sender, vault};

#[test]
fn a_sub_agents_tool_refuses_data_that_was_forgotten() {
    for forgets in [true, false] {
        let vault = vault();
        let (tool, inputs) = sender(|_| Ok("sent".into()));
        let forgetful = vault.clone();
        let forget =
            FunctionTool::with_context("forget", "Forgets.", move |_: Value, cx: ToolContext| {
                let root = cx.call().outermost();
                let is_forgotten = forgets && forgetful.forget(root.agent_id(), root.thread_id());
                async move { is_forgotten.to_string() }
            });
        let to = json!({ "to": "[EMAIL_XZNDVXQW]" });
        // The data comes up in the sub-agent, whose thread has it, too.
        let look = FunctionTool::new("look", "Looks.", async |_: Value| MAIL);
        let inner = Script::new()
            .calls([ToolUse::new("0", "look", json!({}))])
            .calls([ToolUse::new("1", "forget", json!({}))])
            .calls([send("2", to)])
            .says("done");
        let helper =
            ReActAgent::builder("helper").model(inner.clone()).tool(tool).tool(forget).tool(look);
        let helper = helper.build().unwrap();
        let task = ToolUse::new("1", "helper", json!({ "task": "write" }));
        let outer = Script::new().calls([task]).says("done");
        let agent = ReActAgent::builder("bot").model(outer).tool(helper.to_tool("Helps."));
        let agent = agent.hook(email(&vault)).build().unwrap();
        said(&agent, "default", "go");
        let received = inputs.lock().unwrap().clone();
        let last = inner.requests().pop().unwrap();
        let results: Vec<_> = last.messages.iter().flat_map(Msg::tool_results).collect();
        assert_eq!(results[1].output.as_str(), forgets.to_string());
        if forgets {
            assert_eq!(received, [] as [Value; 0]);
            assert!(results[2].output.as_str().contains("names no data"), "{results:?}");
        } else {
            assert_eq!(received, [json!({ "to": MAIL })]);
        }
    }
}

#[test]
fn data_that_was_moved_to_another_thread_cannot_be_opened() {
    let vault = vault();
    let (tool, inputs) = sender(|_| Ok("sent".into()));
    let token = vault.token_of("a", "email", MAIL);
    let script =
        Script::new().says("noted").says("noted").calls([send("1", json!({ "to": token }))]);
    let agent = ReActAgent::builder("bot").model(script.says("done")).tool(tool);
    let agent = agent.hook(email(&vault)).build().unwrap();
    said(&agent, "a", MAIL);
    said(&agent, "b", "hi");
    let of_a = agent.threads().memory("a").unwrap().values();
    agent.threads().memory("b").unwrap().set_values(of_a);
    said(&agent, "b", "send");
    assert_eq!(*inputs.lock().unwrap(), [] as [Value; 0]);
    let history = futures::executor::block_on(agent.threads().history("b")).unwrap();
    let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
    assert!(result.output.as_str().contains("is of another thread"), "{result:?}");
}

#[test]
fn data_of_another_token_of_the_thread_cannot_be_opened() {
    let vault = vault();
    let store = MemoryStore::new();
    let model = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(model).store(store.clone()).hook(email(&vault));
    let agent = agent.build().unwrap();
    let token = said(&agent, "a", MAIL);
    let memory = agent.threads().memory("a").unwrap();
    let other = vault.token_of("a", "email", "eve@example.com");
    let name = |token: &str| format!("vault/{}", token.trim_matches(['[', ']']));
    let mut values = memory.values();
    let sealed = values[&name(&token)].clone();
    values.insert(name(&other), sealed);
    memory.set_values(values);
    assert_eq!(said(&agent, "a", "next"), "next");
    let thread = ThreadKey::new("bot", "a").unwrap();
    let error = block_on(vault.reveal_stored(&store, &thread, &other)).unwrap_err();
    assert!(matches!(&error, VaultError::Damaged { token } if *token == other), "{error}");
}

#[test]
fn a_text_is_blocked_where_its_data_cannot_be_kept() {
    let user = UserAgent::builder("user").input(&b""[..]).build();
    let (vault, cx) = (vault(), user.context(CallOptions::new()));
    assert!(cx.memory().is_none());
    let agent = echo(&vault);
    let mut messages = Messages::from(vec![Msg::user(format!("write to {MAIL}"))]);
    let mut event = HookEvent::PreCall(PreCall::new(&agent, &cx, &mut messages));
    let error = block_on(email(&vault).on_event(&mut event)).unwrap_err();
    let error = format!("{error} {error:?}");
    assert!(error.contains("has no memory") && !error.contains(MAIL), "{error}");
}
