//! Where spans are.

use std::sync::Arc;

use futures::future::join_all;
use hooks_agent_core::model::ChatStream;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::Calls;
use opentelemetry::Context;
use opentelemetry::context::FutureExt;
use opentelemetry::trace::{TraceContextExt, Tracer, TracerProvider};
use opentelemetry_sdk::trace::SdkTracer;
use serde_json::Value;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;

use crate::recorded::Recorded;
use crate::spans::tool_then_text;

const SUB_AGENT: &str = "\
invoke_agent a
  chat m
  execute_tool t
    invoke_agent t
      chat poet
  chat m
";

fn poet() -> ReActAgentBuilder {
    ReActAgent::builder("t").model(ScriptedModel::new("poet", |_| "A poem."))
}

/// A tool that calls an agent for itself, in the task of the call or in one of its own.
fn calling(poet: ReActAgent, spawns: bool) -> FunctionTool {
    let poet = Arc::new(poet);
    FunctionTool::with_context("t", "Writes.", move |_: Value, cx: ToolContext| {
        let call = poet.clone().call_owned(CallOptions::new().child_of(cx.call()), "Go");
        async move {
            let call = call.in_current_span();
            let reply = if spawns { tokio::spawn(call).await.unwrap() } else { call.await };
            reply.unwrap().text()
        }
    })
}

/// The tree of a call with a sub-agent, below a span of the program.
fn below(outer: &str) -> String {
    let lines = SUB_AGENT.lines().map(|line| format!("\n  {line}"));
    format!("{outer}{}\n", lines.collect::<Vec<_>>().concat())
}

fn tracer(recorded: &Recorded) -> SdkTracer {
    recorded.tracers.tracer("program")
}

/// The context of a new span of the program.
fn outer(recorded: &Recorded) -> Context {
    Context::new().with_span(tracer(recorded).start_with_context("outer", &Context::new()))
}

// OT-09
#[tokio::test]
async fn a_sub_agent_is_below_the_tool_call_that_runs_it() {
    let recorded = Recorded::new();
    let sub_agent = poet().build().unwrap().to_tool("Writes poems");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(sub_agent);
    agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
    assert_eq!(recorded.tree(), SUB_AGENT);
}

// OT-09
#[tokio::test]
async fn a_sub_agent_in_a_task_of_its_own_is_below_the_tool_call_too() {
    for spawns in [false, true] {
        let recorded = Recorded::new();
        let tool = calling(poet().build().unwrap(), spawns);
        let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
        agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
        assert_eq!(recorded.tree(), SUB_AGENT);
    }
}

#[tokio::test]
async fn the_same_hook_on_both_agents_records_once() {
    let recorded = Recorded::new();
    let hook = recorded.hook();
    let guard = on(|event: &mut PreCall<'_>| event.messages_mut().push(Msg::user("please")));
    let sub_agent = poet().hook(guard).hook(hook.clone()).build().unwrap().to_tool("Writes");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(sub_agent);
    agent.hook(hook).build().unwrap().call("Go").await.unwrap();
    assert_eq!(recorded.tree(), SUB_AGENT);
    assert_eq!(recorded.span("invoke_agent t").events.len(), 1);
    assert_eq!(recorded.metrics()["hooks.decisions"][0].count, 1);
    let durations = &recorded.metrics()["gen_ai.client.operation.duration"];
    assert_eq!(durations.iter().map(|point| point.count).sum::<u64>(), 3);
}

#[tokio::test]
async fn of_two_hooks_the_first_records_the_call() {
    let (first, second) = (Recorded::new(), Recorded::new());
    let agent =
        ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t").answers("ok"));
    let agent = agent.hook(first.hook()).hook(second.hook().named("second")).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(first.spans().len(), 4);
    assert_eq!(second.spans().len(), 0);
    assert!(second.metrics().values().all(Vec::is_empty));
}

#[tokio::test]
async fn a_sub_agent_of_another_hook_is_in_the_same_tree() {
    let recorded = Recorded::new();
    let sub_agent = poet().hook(recorded.hook()).build().unwrap().to_tool("Writes");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(sub_agent);
    let agent = agent.hook(recorded.hook().inherited(false)).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(recorded.tree(), SUB_AGENT);
}

// OT-13
#[tokio::test]
async fn the_span_that_is_active_at_the_call_is_the_parent() {
    for spawns in [false, true] {
        let recorded = Recorded::new();
        let tool = calling(poet().build().unwrap(), spawns);
        let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
        let agent = agent.hook(recorded.hook()).build().unwrap();
        let outer = outer(&recorded);
        agent.call("Go").with_context(outer.clone()).await.unwrap();
        outer.span().end();
        assert_eq!(recorded.tree(), below("outer"));
    }
}

// OT-13
#[tokio::test]
async fn the_current_span_of_tracing_is_the_parent() {
    for activates in [false, true] {
        for spawns in [false, true] {
            let recorded = Recorded::new();
            let layer = tracing_opentelemetry::layer()
                .with_tracer(tracer(&recorded))
                .with_context_activation(activates);
            let subscriber = tracing_subscriber::registry().with(LevelFilter::INFO).with(layer);
            let tool = calling(poet().build().unwrap(), spawns);
            let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
            let agent = agent.hook(recorded.hook()).build().unwrap();
            async {
                let outer = tracing::info_span!("outer");
                agent.call("Go").instrument(outer).await.unwrap();
            }
            .with_subscriber(subscriber)
            .await;
            assert_eq!(recorded.tree(), below("outer"), "{activates} {spawns}");
        }
    }
}

#[tokio::test]
async fn spans_of_a_tool_and_of_a_model_are_below_theirs() {
    struct Traced(SdkTracer);

    impl ChatModel for Traced {
        fn name(&self) -> &'static str {
            "m"
        }

        fn stream(&self, request: ChatRequest) -> ChatStream {
            drop(self.0.start("http"));
            tool_then_text().stream(request)
        }
    }

    let recorded = Recorded::new();
    let of_tool = tracer(&recorded);
    let tool = FunctionTool::new("t", "Asks a database.", move |_: Value| {
        let tracer = of_tool.clone();
        async move {
            tokio::task::yield_now().await;
            drop(tracer.start("database"));
            "ok"
        }
    });
    let agent = ReActAgent::builder("a").model(Traced(tracer(&recorded))).tool(tool);
    let agent = agent.hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    let expected = "\
invoke_agent a
  chat m
    http
  execute_tool t
    database
  chat m
    http
";
    assert_eq!(recorded.tree(), expected);
    assert!(!Context::current().has_active_span(), "nothing stays active");
}

/// Runs a call with a tool and a sub-agent on each of eight threads at once.
async fn eight_at_once(recorded: &Recorded) {
    let sub_agent = poet().build().unwrap().to_tool("Writes poems");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(sub_agent);
    let agent = Arc::new(agent.hook(recorded.hook()).build().unwrap());
    let calls = (0..8).map(|thread| {
        let options = CallOptions::new().thread(format!("thread-{thread}"));
        tokio::spawn(agent.clone().call_owned(options, "Go"))
    });
    for call in join_all(calls).await {
        call.unwrap().unwrap();
    }
    let spans = recorded.spans();
    let mut traces: Vec<_> = spans.iter().map(|span| span.span_context.trace_id()).collect();
    traces.sort_by_key(|id| id.to_bytes());
    traces.dedup();
    assert_eq!(traces.len(), 8);
    let mut roots = recorded.tree();
    for _ in 0..8 {
        assert!(roots.contains(SUB_AGENT));
        roots = roots.replacen(SUB_AGENT, "", 1);
    }
    assert_eq!(roots, "");
}

// OT-10
#[tokio::test]
async fn eight_calls_at_once_have_eight_trees() {
    eight_at_once(&Recorded::new()).await;
}

// OT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_calls_at_once_have_eight_trees_on_several_threads() {
    eight_at_once(&Recorded::new()).await;
}

#[tokio::test]
async fn tools_that_run_at_once_have_a_span_each() {
    let recorded = Recorded::new();
    let call = |id: &str| ToolUse::new(id, "t", serde_json::json!({}));
    let script =
        hooks_agent_core::testing::Script::new().calls([call("1"), call("2")]).says("done");
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let tool = FunctionTool::new("t", "Meets the other.", move |_: Value| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            "ok"
        }
    });
    let agent = ReActAgent::builder("a").model(script).tool(tool).parallel_tools(true);
    agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
    let expected = "\
invoke_agent a
  chat script
  execute_tool t
  execute_tool t
  chat script
";
    assert_eq!(recorded.tree(), expected);
}

#[tokio::test]
async fn where_telemetry_is_suppressed_nothing_is_recorded() {
    let recorded = Recorded::new();
    let tool = calling(poet().build().unwrap(), false);
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
    let agent = agent.hook(recorded.hook()).build().unwrap();
    let suppressed = Context::new().with_telemetry_suppressed();
    agent.call("Go").with_context(suppressed).await.unwrap();
    assert_eq!(recorded.tree(), "");
}

#[tokio::test]
async fn a_tool_that_suppresses_telemetry_hides_the_agent_that_it_calls() {
    let recorded = Recorded::new();
    let poet = Arc::new(poet().hook(recorded.hook()).build().unwrap());
    let tool = FunctionTool::with_context("t", "Writes.", move |_: Value, cx: ToolContext| {
        let call = poet.clone().call_owned(CallOptions::new().child_of(cx.call()), "Go");
        async move {
            let suppressed = Context::new().with_telemetry_suppressed();
            call.with_context(suppressed).await.unwrap().text()
        }
    });
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
    agent.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n  execute_tool t\n  chat m\n");
}

#[tokio::test]
async fn a_hook_of_all_agents_of_a_type_and_of_one_records_once() {
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("of a class").model(ScriptedModel::new("m", |_| "Done."));
    let agent = agent.hook(recorded.hook()).build().unwrap();
    let class = recorded.hook().named("class otel");
    ReActAgent::register_class_agent_hook(class);
    agent.call("Go").await.unwrap();
    ReActAgent::remove_class_agent_hook("class otel").unwrap();
    assert_eq!(recorded.tree(), "invoke_agent of a class\n  chat m\n");
}
