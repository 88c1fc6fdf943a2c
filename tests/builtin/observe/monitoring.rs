//! Tests of `Monitoring`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_builtin::observe::Monitoring;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::Reports;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use serde_json::{Value, json};
use tracing::Level;

use hooks_fixtures::MetricsPage;

fn monitored(page: &MetricsPage) -> Monitoring {
    Monitoring::new().recorder(page.clone())
}

fn tool(id: &str, name: &str) -> ToolUse {
    ToolUse::new(id, name, json!({}))
}

const IN_FLIGHT: &str = "hooks_agent.calls_in_flight{gen_ai.agent.name=bot}";

fn calls(outcome: &str) -> String {
    format!("hooks_agent.calls{{gen_ai.agent.name=bot,outcome={outcome}}}")
}

fn tools(name: &str, outcome: &str) -> String {
    format!("hooks_agent.tool_calls{{gen_ai.tool.name={name},outcome={outcome}}}")
}

/// A tool that never ends.
fn hanging_tool() -> FunctionTool {
    FunctionTool::new("hang", "Hangs.", async |_: Value| -> String { std::future::pending().await })
}

#[test]
fn calls_tokens_tools_and_durations_are_counted_by_their_labels() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let answers = Mutex::new(vec![
        "end".into(),
        vec![
            ContentBlock::ToolUse(tool("1", "good")),
            ContentBlock::ToolUse(tool("2", "bad")),
            ContentBlock::ToolUse(tool("3", "guarded")),
            ContentBlock::ToolUse(tool("4", "cached")),
            ContentBlock::ToolUse(tool("5", "made-up")),
        ]
        .into(),
    ]);
    let model = ScriptedModel::new("m", move |_| -> ScriptedAnswer {
        let answer: ScriptedAnswer = answers.lock().unwrap().pop().unwrap();
        answer.costing(Usage::new(10, 3))
    });
    let guard = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "guarded" => event.refuse("never"),
        "cached" => event.answer("old"),
        _ => Flow::Continue,
    });
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(Calls::new("good").answers("fine"))
        .tool(Calls::new("bad").fails("broken"))
        .tool(Calls::new("guarded"))
        .tool(Calls::new("cached"))
        .hook(guard)
        .hook(monitoring.clone())
        .build()
        .unwrap();
    block_on(agent.call("go")).unwrap();

    let labels = "gen_ai.agent.name=bot,gen_ai.response.model=m,gen_ai.operation.name=chat";
    let tokens = |kind| format!("gen_ai.client.token.usage{{{labels},gen_ai.token.type={kind}}}");
    let expected = [
        (calls("finished"), 1.0),
        (IN_FLIGHT.to_owned(), 0.0),
        (tokens("input"), 20.0),
        (tokens("output"), 6.0),
        (tools("good", "ok"), 1.0),
        (tools("bad", "error"), 1.0),
        (tools("guarded", "refused"), 1.0),
        (tools("cached", "answered"), 1.0),
        (tools("other", "refused"), 1.0),
        ("hooks_agent.errors{gen_ai.agent.name=bot,error.type=Failed}".to_owned(), 1.0),
        ("hooks_agent.errors{gen_ai.agent.name=bot,error.type=Unknown}".to_owned(), 1.0),
        ("gen_ai.invoke_agent.duration{gen_ai.agent.name=bot,outcome=finished}".to_owned(), 1.0),
        (format!("gen_ai.client.operation.duration{{{labels}}}"), 2.0),
        (format!("gen_ai.client.operation.time_to_first_chunk{{{labels}}}"), 2.0),
        ("gen_ai.execute_tool.duration{gen_ai.tool.name=good,outcome=ok}".to_owned(), 1.0),
        ("gen_ai.execute_tool.duration{gen_ai.tool.name=bad,outcome=error}".to_owned(), 1.0),
    ];
    for (name, sum) in &expected {
        assert!(
            (page.sum(name) - sum).abs() < 0.1,
            "{name}: {} in {:#?}",
            page.sum(name),
            page.sums
        );
    }
    assert_eq!(page.names().len(), expected.len(), "{:#?}", page.names());

    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.finished, counts.in_flight), (1, 1, 0));
    assert_eq!((counts.tool_calls, counts.tool_errors, counts.tools_refused), (5, 1, 2));
    assert_eq!((counts.model_calls, counts.errors), (2, 2));
    assert_eq!((counts.input_tokens, counts.output_tokens, counts.total_tokens()), (20, 6, 26));
}

#[test]
fn every_metric_has_a_unit() {
    let page = MetricsPage::default();
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    block_on(agent.hook(monitored(&page)).build().unwrap().call("go")).unwrap();
    let units = page.units.lock().unwrap();
    assert_eq!(units.len(), 10);
    for (name, unit) in &*units {
        let is_time = name.contains("duration") || name.contains("time_to");
        let expected = if is_time { Unit::Seconds } else { Unit::Count };
        assert_eq!(*unit, Some(expected), "{name}");
    }
    assert!(page.names().iter().all(|it| units.contains_key(it.split('{').next().unwrap())));
}

#[test]
fn a_failed_call_is_counted_once_with_the_kind_of_its_error() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let script = Script::new().fails(ModelError::status("SECRET", 503));
    let agent = ReActAgent::builder("bot").model(script).hook(monitoring.clone()).build().unwrap();
    block_on(agent.call("go")).unwrap_err();
    assert!((page.sum(&calls("failed")) - 1.0).abs() < 0.1 && page.sum(IN_FLIGHT).abs() < 0.1);
    let errors = "hooks_agent.errors{gen_ai.agent.name=bot,error.type=Model}";
    assert!((page.sum(errors) - 1.0).abs() < 0.1);
    assert!(page.names().iter().all(|name| !name.contains("SECRET")));
    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.failed, counts.model_calls, counts.errors), (1, 1, 1, 1));
}

#[tokio::test]
async fn the_calls_in_flight_are_right_after_any_end() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let panics = on(|event: &mut PreActing<'_>| assert!(event.tool_use().name == "hang"));
    let model = ScriptedModel::new("m", |request| tool("1", &request.last_text()));
    let builder = ReActAgent::builder("bot").model(model).tool(hanging_tool()).hook(panics);
    let agent = builder.hook(monitoring.clone()).build().unwrap();

    let interrupt = Interrupt::new();
    let thread = |id: &str| CallOptions::new().thread(id);
    let mut cancelled = Box::pin(agent.call_with(thread("a"), "hang"));
    let mut interrupted =
        Box::pin(agent.call_with(thread("b").interrupt(interrupt.clone()), "hang"));
    assert!(futures::poll!(&mut cancelled).is_pending());
    assert!(futures::poll!(&mut interrupted).is_pending());
    assert_eq!(monitoring.snapshot().in_flight, 2);
    assert!((page.sum(IN_FLIGHT) - 2.0).abs() < 0.1);
    drop(cancelled);
    interrupt.interrupt();
    interrupted.await.unwrap();
    let panicking = std::panic::AssertUnwindSafe(agent.call_with(thread("c"), "panic"));
    futures::FutureExt::catch_unwind(panicking).await.unwrap_err();

    let counts = monitoring.snapshot();
    assert_eq!((counts.cancelled, counts.interrupted, counts.panicked), (1, 1, 1));
    assert_eq!((counts.calls, counts.in_flight), (3, 0));
    assert!(page.sum(IN_FLIGHT).abs() < 0.1);
    for outcome in ["cancelled", "interrupted", "panicked"] {
        assert!((page.sum(&calls(outcome)) - 1.0).abs() < 0.1, "{outcome}");
    }
}

#[test]
fn a_reply_without_an_end_leaves_no_call_in_flight() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    let agent = agent.hook(monitoring.clone()).build().unwrap();
    // The method behind a call, which does not settle.
    let cx = agent.context(CallOptions::new());
    block_on(agent.reply(cx, Msg::user("go").into())).unwrap();
    assert_eq!(monitoring.snapshot().in_flight, 0);
    assert!(page.sum(IN_FLIGHT).abs() < 0.1);
}

#[test]
fn the_values_of_a_label_are_bounded() {
    let page = MetricsPage::default();
    let monitoring = Monitoring::new().label_values(3).recorder(page.clone());
    for number in 0..10 {
        let model = ScriptedModel::new(format!("model-{number}"), |_| "done");
        let agent = ReActAgent::builder(format!("agent-{number}")).model(model);
        block_on(agent.hook(monitoring.clone()).build().unwrap().call("go")).unwrap();
    }
    let names = page.names();
    let of_calls = names.iter().filter(|name| name.starts_with("hooks_agent.calls{"));
    assert_eq!(of_calls.count(), 4);
    let other = "hooks_agent.calls{gen_ai.agent.name=other,outcome=finished}";
    assert!((page.sum(other) - 7.0).abs() < 0.1);
    assert!(names.iter().any(|name| name.contains("gen_ai.response.model=other")));
}

#[test]
fn tools_that_a_model_makes_up_have_no_name() {
    let page = MetricsPage::default();
    let script = Script::new().calls((0..200).map(|id| tool(&id.to_string(), &format!("x{id}"))));
    let agent = ReActAgent::builder("bot").model(script.says("done")).tool(Calls::new("real"));
    block_on(agent.hook(monitored(&page)).build().unwrap().call("go")).unwrap();
    assert!((page.sum(&tools("other", "refused")) - 200.0).abs() < 0.1);
}

#[test]
fn a_round_that_a_hook_answers_counts_no_model_call_and_no_tokens() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let cached = on(|event: &mut PreReasoning<'_>| {
        let mut msg = Msg::assistant("bot", "cached");
        msg.usage = Some(Usage::new(5, 5));
        event.answer(msg)
    });
    let agent = ReActAgent::builder("bot").model(Script::new()).hook(cached);
    block_on(agent.hook(monitoring.clone()).build().unwrap().call("go")).unwrap();
    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.model_calls, counts.total_tokens()), (1, 0, 0));
}

/// A recorder that panics.
struct Broken(Arc<AtomicU64>);

impl Recorder for Broken {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a bug")
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("a bug")
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("a bug")
    }
}

#[test]
fn a_recorder_that_panics_does_not_break_the_call_and_is_reported_once() {
    let (reports, records) = Reports::up_to(Level::WARN);
    let counted = Arc::new(AtomicU64::new(0));
    let monitoring = Monitoring::new().recorder(Broken(counted.clone()));
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    let agent = agent.hook(monitoring.clone()).build().unwrap();
    let reply = tracing::subscriber::with_default(reports, || block_on(agent.call("go"))).unwrap();
    assert_eq!(reply.text(), "done");
    assert!(counted.load(Ordering::Relaxed) == 1 && monitoring.failures() > 2);
    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.finished, counts.in_flight), (1, 1, 0));
    assert_eq!(records.take().iter().filter(|line| line.contains("recorder")).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_are_all_counted() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let is_answered = request.messages.last().is_some_and(|msg| msg.role == Role::Tool);
        let calls = ["1", "2"].map(|id| ContentBlock::ToolUse(tool(id, "echo")));
        let answer: ScriptedAnswer =
            if is_answered { "done".into() } else { calls.to_vec().into() };
        answer.costing(Usage::new(2, 1))
    });
    let echo = FunctionTool::new("echo", "Echoes.", async |_: Value| {
        tokio::task::yield_now().await;
        "done"
    });
    let builder = ReActAgent::builder("bot").model(model).tool(echo);
    let builder = builder.parallel_tools(true).hook(monitoring.clone());
    let agent = Arc::new(builder.build().unwrap());
    let call = |number: u32| {
        let options = CallOptions::new().thread(number.to_string());
        tokio::spawn(agent.clone().call_owned(options, "go"))
    };
    for ended in join_all((0..64).map(call)).await {
        ended.unwrap().unwrap();
    }
    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.in_flight, counts.tool_calls), (64, 0, 128));
    assert_eq!((counts.model_calls, counts.input_tokens, counts.output_tokens), (128, 256, 128));
    assert!(
        (page.sum(&tools("echo", "ok")) - 128.0).abs() < 0.1 && page.sum(IN_FLIGHT).abs() < 0.1
    );
}

#[test]
fn a_sub_agent_is_counted_by_its_own_name_if_inherited() {
    let page = MetricsPage::default();
    let helper = ReActAgent::builder("helper").model(Script::new().says("help")).build().unwrap();
    let task = ToolUse::new("1", "helper", json!({ "task": "help" }));
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([task]).says("done"))
        .tool(helper.to_tool("Helps."))
        .hook(monitored(&page).inherited(true))
        .build()
        .unwrap();
    block_on(agent.call("go")).unwrap();
    let of_helper = "hooks_agent.calls{gen_ai.agent.name=helper,outcome=finished}";
    assert!(
        (page.sum(of_helper) - 1.0).abs() < 0.1 && (page.sum(&calls("finished")) - 1.0).abs() < 0.1
    );
}

#[test]
fn without_a_recorder_of_its_own_the_current_one_is_used() {
    let page = MetricsPage::default();
    let agent = ReActAgent::builder("bot").model(Script::new().says("done"));
    let agent = agent.hook(Monitoring::new()).build().unwrap();
    metrics::with_local_recorder(&page, || block_on(agent.call("go"))).unwrap();
    assert!((page.sum(&calls("finished")) - 1.0).abs() < 0.1);
    assert!(page.units.lock().unwrap().contains_key("hooks_agent.calls"));
}

#[tokio::test]
async fn what_hooks_in_shadow_would_have_done_is_counted() {
    let page = MetricsPage::default();
    let monitoring = monitored(&page);
    let script =
        Script::new().calls([ToolUse::new("1", "pay", json!({ "euros": 1 }))]).says("done");
    let guard = on(|event: &mut PreActing<'_>| event.refuse("never")).named("guard").in_shadow();
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("!"));
    let sign = sign.named("sign").in_shadow();
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("pay").answers("paid"));
    let builder = builder.hook(guard.clone()).hook(sign.clone()).hook(monitoring.clone());
    let reply = builder.build().unwrap().call("go").await.unwrap();
    assert_eq!(reply.text(), "done");
    guard.caught_up().await;
    sign.caught_up().await;
    let shadow = |hook, outcome| {
        format!("hooks_agent.shadow{{gen_ai.agent.name=bot,hook={hook},outcome={outcome}}}")
    };
    for name in [shadow("guard", "refuse"), shadow("sign", "change")] {
        assert!((page.sum(&name) - 1.0).abs() < 0.1, "{name} in {:#?}", page.sums);
    }
    assert_eq!(monitoring.snapshot().shadow, 2);
}
