//! A store that fails once, at each of its operations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use hooks_agent_core::error::InputError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, StoreError, ThreadKey};
use serde_json::{Value, json};

use crate::open::{address, messages, open};
use crate::watched::{Moment, Operation, Watch, Watched};

/// A lease that a failed release leaves ends soon.
const LEASE: Duration = Duration::from_millis(300);

/// A fault of a store.
#[derive(Debug)]
struct Fault {
    number: usize,
    moment: Moment,
    is_transient: bool,
    has_happened: AtomicBool,
}

impl Watch for Fault {
    fn hear(&self, _: Operation, number: usize, moment: Moment) -> Result<(), StoreError> {
        if (number, moment) != (self.number, self.moment) {
            return Ok(());
        }
        self.has_happened.store(true, Ordering::Relaxed);
        let cause = "a fault of the test".into();
        let error = if self.is_transient { StoreError::Unavailable } else { StoreError::Failed };
        Err(error(cause))
    }
}

/// How many times each tool ran.
#[derive(Default)]
struct Ran {
    log: AtomicUsize,
    pay: AtomicUsize,
}

fn agent(store: impl Store, ran: &Arc<Ran>, at_once: bool) -> ReActAgent {
    let tool = |name: &'static str, count: fn(&Ran) -> &AtomicUsize| {
        let ran = ran.clone();
        FunctionTool::new(name, "Counts.", move |_: Value| {
            count(&ran).fetch_add(1, Ordering::Relaxed);
            std::future::ready("ran")
        })
    };
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None if request.last_text() == "ping" => "pong".into(),
            None => vec![
                ContentBlock::ToolUse(ToolUse::new("1", "log", json!({}))),
                ContentBlock::ToolUse(ToolUse::new("2", "pay", json!({}))),
            ]
            .into(),
        }
    });
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "pay" => event.ask("money leaves"),
        _ => Flow::Continue,
    });
    ReActAgent::builder("clerk")
        .model(model)
        .tool(tool("log", |ran| &ran.log))
        .tool(tool("pay", |ran| &ran.pay))
        .hook(ask)
        .parallel_tools(at_once)
        .store(store)
        .build()
        .unwrap()
}

/// Calls until the task is done, as a program does that tries again after an error. Returns how many
/// calls failed.
async fn finish(agent: &ReActAgent, store: &dyn Store) -> usize {
    let mut failed = 0;
    let mut options = CallOptions::new();
    for _ in 0..8 {
        // A call that fails at its end may have written its answer.
        let messages = messages(store, &ThreadKey::new("clerk", "default").unwrap()).await;
        if messages.last().is_some_and(|msg| msg.text() == "done") {
            return failed;
        }
        let decided = std::mem::take(&mut options);
        let reply = if messages.is_empty() {
            agent.call_with(decided, "go").await
        } else {
            agent.resume(decided).await
        };
        match reply {
            Err(AgentError::Store(_)) => failed += 1,
            Err(error) => panic!("{error:?}"),
            Ok(reply) if reply.reason == Some(GenerateReason::PermissionAsking) => {}
            Ok(reply) => assert_eq!(reply.text(), "done"),
        }
        match store.waiting(Filter::agent("clerk")).await {
            Err(_) => failed += 1,
            Ok(waiting) => {
                for question in waiting {
                    options = options.decide(question.id, Decision::Approve);
                }
            }
        }
    }
    panic!("the task does not end: {:?}", agent.memory().messages());
}

/// What became of the tool calls, by what the model reads of them.
type Outcomes = BTreeMap<String, usize>;

async fn check(fault: &Fault, ran: &Ran, messages: &Messages, outcomes: &mut Outcomes) {
    let context = || format!("{fault:?}: {}", serde_json::to_string(messages).unwrap());
    InputError::check_history(messages).unwrap_or_else(|error| panic!("{error}: {}", context()));
    let texts = messages.iter().filter(|msg| msg.role == Role::User).map(Msg::text);
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["go", "ping", "ping"], "{}", context());
    for result in messages.iter().flat_map(Msg::tool_results) {
        let ran = match &*result.name {
            "log" => &ran.log,
            _ => &ran.pay,
        };
        let ran = ran.load(Ordering::Relaxed);
        let text = result.output.as_str();
        match text {
            "ran" => assert_eq!(ran, 1, "{text}: {}", context()),
            _ if text.contains("unknown") => assert!(ran <= 1, "{text}: {}", context()),
            _ => assert_eq!(ran, 0, "{text}: {}", context()),
        }
        *outcomes.entry(format!("{}: {text}", result.name)).or_default() += 1;
    }
}

/// Lets the store fail at the first, the second, .. operation, until no operation is left.
async fn each(moment: Moment, is_transient: bool, at_once: bool) -> (usize, usize, Outcomes) {
    let (mut failed, mut outcomes) = (0, Outcomes::new());
    let key = ThreadKey::new("clerk", "default").unwrap();
    for number in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&address(folder.path()), LEASE).await;
        let has_happened = AtomicBool::new(false);
        let fault = Arc::new(Fault { number, moment, is_transient, has_happened });
        let watched = Watched::new(store.clone(), fault.clone());
        let ran = Arc::new(Ran::default());
        let agent = agent(watched.clone(), &ran, at_once);
        failed += finish(&agent, &watched).await;
        while let Err(error) = agent.call("ping").await {
            assert!(matches!(error, AgentError::Store(_)), "{error:?}");
            failed += 1;
            if messages(&*store, &key).await.last().is_some_and(|msg| msg.text() == "pong") {
                break;
            }
        }
        drop(agent);
        let agent = self::agent(store.clone(), &ran, at_once);
        assert_eq!(agent.call("ping").await.unwrap().text(), "pong");
        let stored = messages(&*store, &key).await;
        assert_eq!(stored, agent.memory().messages(), "{fault:?}");
        check(&fault, &ran, &stored, &mut outcomes).await;
        if !fault.has_happened.load(Ordering::Relaxed) {
            return (number - 1, failed, outcomes);
        }
    }
    (0, failed, outcomes)
}

async fn faults(at_once: bool) {
    let kinds = [
        (Moment::Before, true),
        (Moment::Before, false),
        (Moment::After, true),
        (Moment::After, false),
    ];
    let each = kinds.map(|(moment, is_transient)| each(moment, is_transient, at_once));
    for ((moment, is_transient), ended) in kinds.iter().zip(join_all(each).await) {
        let (faults, failed, outcomes) = ended;
        println!(
            "{moment:?}, transient: {is_transient}, at once: {at_once}: {faults} faults, {failed} calls \
             failed, {outcomes:?}"
        );
        assert!(faults > 10);
    }
}

#[tokio::test]
async fn a_fault_in_any_operation_loses_nothing_and_runs_nothing_twice() {
    faults(false).await;
}

#[tokio::test]
async fn a_fault_in_any_operation_with_tools_at_once_loses_nothing_and_runs_nothing_twice() {
    faults(true).await;
}
