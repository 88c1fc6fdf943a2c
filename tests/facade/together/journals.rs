//! The built-in observers over several runs of a call.

use std::io::Write;
use std::sync::{Arc, Mutex};

use hooks_agent::builtin::answer::Streaming;
use hooks_agent::builtin::connect::Studio;
use hooks_agent::builtin::observe::{AuditLog, JsonlTrace, Logging, Monitoring, OpenTelemetry};
use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::call::RunId;
use hooks_agent::journal::MemoryJournal;
use hooks_agent::prelude::*;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::Value;

use hooks_fixtures::journaled::{World, approve, run};

/// A page that everybody writes to.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a call in three processes, since it asks people twice, with a hook of each process.
async fn in_three_processes<H: AgentHook>(hook: impl Fn() -> H) -> (World, MemoryJournal) {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let mut decided = 0;
    for _ in 0..3 {
        let people = HumanInTheLoop::new().ask("right");
        let agent = world.builder().hook(people).hook(hook()).build().unwrap();
        let _ = run(&agent, &journal, id).await;
        approve(&journal, &mut decided);
    }
    assert!(journal.ended().unwrap().reply.is_some());
    (world, journal)
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

/// How often events come to a call that asks people twice: `(event, count)`.
const ONCE: [(&str, usize); 6] = [
    ("PRE_CALL", 1),
    ("PRE_REASONING", 4),
    ("POST_REASONING", 4),
    ("POST_ACTING", 5),
    ("POST_CALL", 1),
    // Each run has its end.
    ("SETTLED", 3),
];

#[tokio::test]
async fn a_log_and_a_trace_have_each_event_once() {
    let page = Page::default();
    in_three_processes(|| Logging::to_writer(page.clone())).await;
    for (event, expected) in ONCE {
        assert_eq!(count(&page.lines(), &format!("event={event} ")), expected, "{event}");
    }
    let page = Page::default();
    in_three_processes(|| JsonlTrace::to_writer(page.clone()).open().unwrap()).await;
    let lines: Vec<Value> =
        page.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (event, expected) in ONCE {
        let of_event = lines.iter().filter(|line| line["event_type"] == event).count();
        assert_eq!(of_event, expected, "{event}");
    }
    // The numbers of the steps go on where the earlier run wrote its last event before its end.
    let of_call = |line: &&Value| line["event_type"] != "SETTLED" && line["event_type"] != "ERROR";
    let steps = lines.iter().filter(of_call).map(|line| line["step_id"].as_u64().unwrap());
    let steps: Vec<_> = steps.collect();
    assert!(steps.is_sorted() && steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
}

#[tokio::test]
async fn an_audit_log_verifies_and_has_each_event_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::builder(&path).key(*b"a key of 32 bytes, kept elsewhere").open().unwrap();
    in_three_processes(|| log.clone()).await;
    log.close().unwrap();
    AuditLog::verify_with_key(&path, b"a key of 32 bytes, kept elsewhere").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    // A round that no hook changes has no line before the model.
    for (event, expected) in ONCE.into_iter().filter(|(event, _)| *event != "PRE_REASONING") {
        assert_eq!(count(&lines, &format!("\"event\":\"{event}\"")), expected, "{event}");
    }
}

#[tokio::test]
async fn an_audit_log_knows_the_answer_that_an_earlier_run_has_written() {
    let folder = tempfile::tempdir().unwrap();
    let log = AuditLog::builder(folder.path().join("audit.jsonl")).open().unwrap();
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let change = || {
        on(|event: &mut PreActing<'_>| {
            if event.tool_use().name == "right" {
                event.tool_use_mut().input["secret"] = 1.into();
            }
        })
    };
    let whole = world.agent();
    run(&whole, &journal, id).await.unwrap();
    // The model's answer and the first tool are recorded, the second tool is not.
    journal.cut(2);
    let agent = world.builder().parallel_tools(false).hook(change()).hook(log.clone());
    run(&agent.build().unwrap(), &journal, id).await.unwrap();
    log.close().unwrap();
    let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let changed = text.lines().filter(|line| line.contains("\"changed\":[\"secret\"]")).count();
    // Two tool calls, before and after they run.
    assert_eq!(changed, 4, "{text}");
}

#[tokio::test]
async fn metrics_count_runs_and_each_step_once() {
    let monitoring = Monitoring::new();
    in_three_processes(|| monitoring.clone()).await;
    let counts = monitoring.snapshot();
    assert_eq!((counts.calls, counts.finished, counts.failed, counts.in_flight), (3, 1, 2, 0));
    assert_eq!((counts.model_calls, counts.tool_calls), (4, 5));
}

#[tokio::test]
async fn a_stream_hook_passes_each_event_on_once() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    in_three_processes(|| {
        let seen = seen.clone();
        Streaming::to_callback(move |event| {
            let line = match event.kind {
                AgentEventKind::ToolStarted(call) => {
                    assert!(call.input.is_object());
                    format!("started {}", call.name)
                }
                AgentEventKind::ToolFinished(result) => format!("finished {}", result.name),
                AgentEventKind::Finished(reply) => format!("reply {}", reply.text()),
                _ => return,
            };
            seen.lock().unwrap().push(line);
        })
    })
    .await;
    let seen = seen.lock().unwrap();
    let tools = [("left", 2), ("right", 2), ("below", 1), ("inner", 1)];
    for (tool, expected) in tools {
        assert_eq!(count(&seen, &format!("started {tool}")), expected, "{tool}: {seen:?}");
        assert_eq!(count(&seen, &format!("finished {tool}")), expected, "{tool}: {seen:?}");
    }
    assert_eq!(count(&seen, "reply above"), 1);
}

#[tokio::test]
async fn spans_of_each_run_have_the_steps_that_it_ran() {
    let exporter = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let meters = SdkMeterProvider::default();
    let (world, _) = in_three_processes(|| {
        let hook = OpenTelemetry::builder().environment(|_| None);
        hook.tracer_provider(&tracers).meter_provider(&meters).build()
    })
    .await;
    let spans = exporter.get_finished_spans().unwrap();
    let of = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let calls = of("invoke_agent above");
    assert_eq!(calls.len(), 3);
    assert_eq!(of("chat above").len() + of("chat below").len(), world.models().len());
    for (tool, expected) in [("left", 2), ("right", 2), ("inner", 1)] {
        assert_eq!(of(&format!("execute_tool {tool}")).len(), expected, "{tool}");
    }
    // Each is below a span that there is.
    for span in &spans {
        let is_call = span.name == "invoke_agent above";
        let has_parent =
            spans.iter().any(|other| other.span_context.span_id() == span.parent_span_id);
        assert_eq!(has_parent, !is_call, "{}", span.name);
    }
}

#[tokio::test]
async fn a_studio_watches_runs_of_one_call() {
    let studio = Studio::new();
    let (world, _) = in_three_processes(|| studio.hook()).await;
    assert_eq!(world.effects.lock().unwrap().len(), 5);
}
