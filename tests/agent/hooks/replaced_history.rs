//! `PreReasoning::replace_history`.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::message::Messages;
use hooks_agent_core::prelude::*;
use serde_json::json;

/// A hook that replaces the history by what the closure returns, and what became of it.
struct Replace<F> {
    shorter: F,
    ended: Ended,
}

impl<F: Fn(&Messages) -> Messages + Send + Sync + 'static> AgentHook for Replace<F> {
    fn events(&self) -> EventMask {
        EventKind::PreReasoning.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PreReasoning(event) = event else { return Ok(Flow::Continue) };
        let history = event.history();
        let ended = event.replace_history(&history, (self.shorter)(&history)).await;
        self.ended.lock().unwrap().push(ended);
        Ok(Flow::Continue)
    }
}

/// What became of each replacement.
type Ended = Arc<Mutex<Vec<Result<(), AgentError>>>>;

/// What a model read.
type Read = Arc<Mutex<Vec<String>>>;

fn agent(
    before: impl Into<Messages>,
    first: Option<Box<dyn DynAgentHook>>,
    shorter: impl Fn(&Messages) -> Messages + Send + Sync + 'static,
) -> (ReActAgent, Read, Ended) {
    let (read, ended) = (Read::default(), Arc::default());
    let seen = read.clone();
    let model = ScriptedModel::new("m", move |request| {
        *seen.lock().unwrap() = request.messages.iter().map(Msg::text).collect();
        "done"
    });
    let mut builder = ReActAgent::builder("bot").model(model);
    if let Some(first) = first {
        builder = builder.hook(first);
    }
    let agent = builder.hook(Replace { shorter, ended: Arc::clone(&ended) }).build().unwrap();
    agent.memory().replace(before);
    (agent, read, ended)
}

fn texts(agent: &ReActAgent) -> Vec<String> {
    agent.memory().messages().iter().map(Msg::text).collect()
}

fn users<const N: usize>(texts: [&str; N]) -> Messages {
    texts.map(Msg::user).into()
}

fn last_two(history: &Messages) -> Messages {
    let all: Vec<Arc<Msg>> = history.clone().into_iter().collect();
    all[all.len() - 2..].to_vec().into()
}

#[test]
fn memory_and_the_round_have_the_shorter_conversation() {
    let (agent, read, _) = agent(users(["1", "2", "3"]), None, last_two);
    block_on(agent.call("4")).unwrap();
    assert_eq!(*read.lock().unwrap(), ["3", "4"]);
    assert_eq!(texts(&agent), ["3", "4", "done"]);
}

#[test]
fn messages_that_stay_keep_what_earlier_hooks_made_of_them() {
    let redact = on(|event: &mut PreReasoning<'_>| {
        for msg in event.messages_mut().iter_mut().filter(|msg| msg.text() == "3") {
            *msg = Msg::user("***");
        }
    });
    let (agent, read, _) = agent(users(["1", "2", "3"]), Some(Box::new(redact)), last_two);
    block_on(agent.call("4")).unwrap();
    assert_eq!(*read.lock().unwrap(), ["***", "4"]);
    assert_eq!(texts(&agent), ["3", "4", "done"]);
}

#[test]
fn a_round_to_which_an_earlier_hook_added_messages_keeps_them_all() {
    let add = on(|event: &mut PreReasoning<'_>| event.messages_mut().insert(0, Msg::user("0")));
    let (agent, read, ended) = agent(users(["1", "2", "3"]), Some(Box::new(add)), last_two);
    block_on(agent.call("4")).unwrap();
    assert!(ended.lock().unwrap()[0].is_ok());
    assert_eq!(*read.lock().unwrap(), ["0", "1", "2", "3", "4"]);
    assert_eq!(texts(&agent), ["3", "4", "done"]);
}

#[test]
fn a_conversation_that_is_not_valid_is_refused_and_the_thread_stays() {
    let call = ToolUse::new("1", "t", json!({}));
    let ask =
        || Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let result = || Msg::tool_result(ToolResult::success(&call, "r"));
    let invalid: [(Messages, bool); 4] = [
        (ask().into(), true),
        (result().into(), true),
        ([result(), ask()].into(), true),
        (Msg::system("s").into(), false),
    ];
    for (shorter, is_compression) in invalid {
        let before = [Msg::user("u"), ask(), result()];
        let (agent, read, ended) = agent(before, None, move |_| shorter.clone());
        block_on(agent.call("go")).unwrap();
        let ended = ended.lock().unwrap().remove(0);
        match ended.unwrap_err() {
            AgentError::Compression(_) => assert!(is_compression),
            AgentError::Input(InputError::SystemMessage) => assert!(!is_compression),
            error => panic!("{error}"),
        }
        assert_eq!(read.lock().unwrap().len(), 4);
        assert_eq!(agent.memory().messages().len(), 5);
    }
}

#[test]
fn a_conversation_of_other_messages_is_refused() {
    let memory = Arc::new(Mutex::new(None::<Arc<hooks_agent_core::memory::Memory>>));
    let replaced = memory.clone();
    let (agent, read, ended) = agent(users(["1", "2", "3"]), None, move |history| {
        // Somebody else replaces the messages meanwhile.
        replaced.lock().unwrap().as_ref().unwrap().replace(users(["other"]));
        last_two(history)
    });
    *memory.lock().unwrap() = agent.threads().memory(CallContext::DEFAULT_THREAD);
    block_on(agent.call("4")).unwrap();
    let error = ended.lock().unwrap().remove(0).unwrap_err();
    assert!(matches!(error, AgentError::Compression(_)), "{error}");
    assert_eq!(texts(&agent), ["other", "done"]);
    assert_eq!(*read.lock().unwrap(), ["1", "2", "3", "4"]);
}
