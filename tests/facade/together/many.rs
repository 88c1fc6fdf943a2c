//! Many tasks on several threads of the runtime and of conversation, with all hooks: totals are exact.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use hooks_agent::builtin::guard::Vault;
use hooks_agent::builtin::limit::{Budget, ModelCallLimit, RateLimit};
use hooks_agent::builtin::observe::{AuditLog, Monitoring};
use hooks_agent::builtin::recover::{CircuitBreaker, CircuitState};
use hooks_agent::message::Usage;
use hooks_agent::model::{ChatRequest, ModelError};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::check_history;
use serde_json::{Value, json};

use crate::agents::{ADDRESS, MINUTE, SECRET, counts, guards, limits, observers, recovery};

const TASKS: u64 = 64;
const THREADS: u64 = 3;

/// A model that fails every fifth time, calls two tools, and answers.
fn model(name: &'static str, asked: &Arc<AtomicU64>, failed: &Arc<AtomicU64>) -> ScriptedModel {
    let (asked, failed) = (asked.clone(), failed.clone());
    ScriptedModel::new(name, move |request: &ChatRequest| -> ScriptedAnswer {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        if name == "script" && number % 5 == 4 {
            failed.fetch_add(1, Ordering::Relaxed);
            return ModelError::status("script", 503).into();
        }
        let asked = request.messages.iter().rfind(|msg| msg.role == Role::User).unwrap().text();
        let token = asked.trim_start_matches("write to ");
        let answer: ScriptedAnswer =
            if request.messages.last().is_some_and(|msg| msg.role == Role::Tool) {
                format!("I wrote to {token}.").into()
            } else {
                let send = ToolUse::new("1", "send", json!({ "to": token }));
                let look = ToolUse::new("2", "look", json!({}));
                vec![ContentBlock::ToolUse(send), ContentBlock::ToolUse(look)].into()
            };
        answer.costing(Usage::new(7, 3))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn totals_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let (asked, failed, others) = (Arc::default(), Arc::default(), Arc::default());
    let (sent, looked) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (vault, monitoring) = (Vault::new(), Monitoring::new());
    let audit = AuditLog::builder(&path).open().unwrap();
    let sends = sent.clone();
    let mail: Arc<dyn Tool> = Arc::new(FunctionTool::new("send", "Sends.", move |input: Value| {
        assert_eq!(input, json!({ "to": ADDRESS, "token": SECRET }));
        sends.fetch_add(1, Ordering::Relaxed);
        async {
            tokio::task::yield_now().await;
            "sent"
        }
    }));
    // Fails once for each call.
    let looks = looked.clone();
    let look = FunctionTool::new("look", "Looks.", move |_: Value| {
        let number = looks.fetch_add(1, Ordering::Relaxed);
        async move { if number % 2 == 0 { Err("locked") } else { Ok("seen") } }
    });
    let look: Arc<dyn Tool> = Arc::new(look.idempotent());
    let budget = Budget::builder().day_tokens(1 << 40).counter("day").build().unwrap();
    let breaker = CircuitBreaker::for_model("shared").failures(1_000_000);
    let agent = || {
        let builder = ReActAgent::builder("bot").model(model("script", &asked, &failed));
        let builder = builder.shared_tool(mail.clone()).shared_tool(look.clone());
        let builder = builder.parallel_tools(true);
        let other = model("other", &others, &failed);
        let builder = recovery(limits(guards(builder, &vault)), other);
        let builder = observers(builder, io::empty(), &monitoring).hook(audit.clone());
        let builder = builder.hook(budget.clone().named("day")).hook(breaker.clone());
        builder.build().unwrap()
    };
    let agents: [_; 2] = std::array::from_fn(|_| Arc::new(agent()));
    let tasks = (0..TASKS).map(|number| {
        let agent = agents[usize::try_from(number % 2).unwrap()].clone();
        tokio::spawn(async move {
            let options = CallOptions::new().thread((number % THREADS).to_string());
            agent.call_with(options, format!("write to {ADDRESS}")).await
        })
    });
    for ended in join_all(tasks).await {
        let text = ended.unwrap().unwrap().text();
        assert!(text.starts_with("I wrote to [EMAIL_") && !text.contains('@'), "{text}");
    }
    let load = |count: &Arc<AtomicU64>| count.load(Ordering::Relaxed);
    // Each call has two answers, whoever wrote them.
    assert_eq!(load(&asked), TASKS * 2);
    assert_eq!(load(&failed), TASKS * 2 / 5);
    assert_eq!(load(&others), load(&failed));
    assert_eq!(load(&sent), TASKS);
    assert!(load(&looked) >= TASKS);
    let sum = |name: &str| -> u64 {
        let each = |thread: u64| agents.iter().map(move |agent| (agent, thread.to_string()));
        let all = (0..THREADS).flat_map(each);
        all.map(|(agent, thread)| counts(agent, &thread, name).0).sum()
    };
    assert_eq!(sum("ModelCallLimit"), TASKS * 2);
    assert_eq!((sum("ToolCallLimit"), sum("ToolCallLimit[send]")), (TASKS * 2, TASKS));
    assert_eq!(budget.spent_today("").tokens, TASKS * 20);
    let snapshot = monitoring.snapshot();
    assert_eq!((snapshot.calls, snapshot.finished, snapshot.in_flight), (TASKS, TASKS, 0));
    assert_eq!((snapshot.model_calls, snapshot.tool_calls), (TASKS * 2, TASKS * 2));
    assert_eq!(snapshot.total_tokens(), TASKS * 20);
    assert_eq!(breaker.state(), CircuitState::Closed);
    for agent in &agents {
        for thread in 0..THREADS {
            let memory = agent.threads().memory(&thread.to_string()).unwrap();
            check_history(&memory);
            let all = format!("{:?} {:?}", memory.messages(), memory.values());
            assert!(!all.contains(ADDRESS) && !all.contains(SECRET));
            let [tokens] = ["Budget"].map(|name| memory.values()[name]["thread"]["tokens"].clone());
            assert_eq!(tokens.as_u64().unwrap() % 20, 0);
        }
    }
    audit.close().unwrap();
    AuditLog::verify(&path).unwrap();
}

/// Calls an agent with these hooks in many tasks, and returns how often its model was asked.
async fn asked_with(
    hooks: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> (ReActAgent, u64) {
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    let model = ScriptedModel::new("m", move |_: &ChatRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        "done"
    });
    let agent = Arc::new(hooks(ReActAgent::builder("bot").model(model)).build().unwrap());
    let tasks = (0..TASKS).map(|number| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let options = CallOptions::new().thread((number % THREADS).to_string());
            agent.call_with(options, "go").await.is_ok_and(|reply| reply.text() == "done")
        })
    });
    let ended = join_all(tasks).await;
    let answered = ended.into_iter().filter(|ended| *ended.as_ref().unwrap()).count() as u64;
    assert_eq!(answered, asked.load(Ordering::Relaxed));
    (Arc::into_inner(agent).unwrap(), answered)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_limit_on_many_tasks_is_neither_one_too_many_nor_one_too_few() {
    let calls = |limit| ModelCallLimit::builder().thread(limit).build().unwrap();
    let rate = |count| {
        let rate = RateLimit::of_models().requests(count, MINUTE).clock(|| Duration::ZERO);
        rate.by(|_| "all".to_owned()).build().unwrap()
    };
    let (agent, asked) = asked_with(|it| it.hook(rate(40)).hook(calls(1000))).await;
    assert_eq!(asked, 40);
    let sum = |agent: &ReActAgent| -> u64 {
        (0..THREADS).map(|thread| counts(agent, &thread.to_string(), "ModelCallLimit").0).sum()
    };
    assert_eq!(sum(&agent), 40, "what is refused outside of a limit is not counted");
    let (agent, asked) = asked_with(|it| it.hook(calls(15)).hook(rate(1000))).await;
    assert_eq!((asked, sum(&agent)), (45, 45));
}
