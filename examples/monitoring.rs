//! Metrics of an agent as a page that Prometheus reads.
//!
//! `cargo run --example monitoring --features metrics` makes some calls, serves the page on a free
//! port of the loopback interface, reads it as Prometheus would, and prints what is on it.

use std::error::Error;

use axum::Router;
use axum::routing::get;
use hooks_agent::builtin::observe::{Monitoring, Timing};
use hooks_agent::message::Usage;
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Looks the weather up once, then answers; fails if the question is too hard.
fn forecaster(request: &ChatRequest) -> ScriptedAnswer {
    let is_answered = request.messages.last().is_some_and(|msg| msg.role == Role::Tool);
    let question = request.last_text();
    let answer: ScriptedAnswer = if is_answered {
        "It is sunny.".into()
    } else if question.contains("next year") {
        return ModelError::status("forecast", 503).into();
    } else {
        ToolUse::new("1", "weather", json!({ "city": question })).into()
    };
    answer.costing(Usage::new(40, 8))
}

fn agent(monitoring: Monitoring) -> Result<ReActAgent, AgentError> {
    let weather =
        FunctionTool::new("weather", "Says how the weather is.", async |_: Value| "sunny");
    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().input["city"].as_str() {
        Some("Atlantis") => event.refuse("no such city"),
        _ => Flow::Continue,
    });
    let builder = ReActAgent::builder("forecaster")
        .model(ScriptedModel::new("forecast", forecaster))
        .tool(weather)
        .hook(guard)
        .hook(Timing::new())
        .hook(monitoring);
    Ok(builder.build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // A program installs the recorder for all its metrics: `metrics::set_global_recorder`.
    let recorder = PrometheusBuilder::new().build_recorder();
    let prometheus = recorder.handle();
    let monitoring = Monitoring::new().recorder(recorder);
    let agent = agent(monitoring.clone())?;

    for city in ["Lisbon", "Oslo", "Atlantis"] {
        let options = CallOptions::new().thread(city);
        let reply = agent.call_with(options, city).await?;
        let took = Timing::of(&reply).ok_or("the call is not measured")?;
        println!("{city}: {} {} rounds in {:?}", reply.text(), took.rounds.len(), took.total);
    }
    assert!(agent.call("How will it be next year?").await.is_err());

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/metrics", listener.local_addr()?);
    let page = move || async move { prometheus.render() };
    let server = axum::serve(listener, Router::new().route("/metrics", get(page)));
    let server = tokio::spawn(server.into_future());
    let page = reqwest::get(&url).await?.error_for_status()?.text().await?;
    server.abort();

    println!("\n{url}:");
    for line in
        page.lines().filter(|line| line.starts_with("hooks_agent") || line.contains("_sum{"))
    {
        println!("  {line}");
    }
    for line in [
        r#"hooks_agent_calls{gen_ai_agent_name="forecaster",outcome="finished"} 3"#,
        r#"hooks_agent_calls{gen_ai_agent_name="forecaster",outcome="failed"} 1"#,
        r#"hooks_agent_calls_in_flight{gen_ai_agent_name="forecaster"} 0"#,
        r#"hooks_agent_tool_calls{gen_ai_tool_name="weather",outcome="ok"} 2"#,
        r#"hooks_agent_tool_calls{gen_ai_tool_name="weather",outcome="refused"} 1"#,
        r#"hooks_agent_errors{gen_ai_agent_name="forecaster",error_type="Model"} 1"#,
        "# TYPE gen_ai_client_token_usage",
    ] {
        assert!(page.lines().any(|found| found.starts_with(line)), "{line} is not on\n{page}");
    }
    let counts = monitoring.snapshot();
    println!("\n{} calls, {} tokens", counts.calls, counts.total_tokens());
    assert_eq!((counts.calls, counts.total_tokens()), (4, 6 * 48));
    Ok(())
}
