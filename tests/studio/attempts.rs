//! Attempts to have an answer of a model, and why they failed.

use hooks_agent_builtin::recover::ModelRetry;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Browser, MAIL, open, says};

/// The entries of the newest run that are about attempts: their types and data.
async fn attempts(browser: &Browser) -> Vec<(String, Value)> {
    let run = browser.newest().await;
    let entries = run["entries"].as_array().unwrap().clone();
    let of_models =
        entries.into_iter().filter(|entry| entry["type"].as_str().unwrap().starts_with("model_"));
    of_models.map(|it| (it["type"].as_str().unwrap().to_owned(), it["data"].clone())).collect()
}

/// A model that is busy twice, and then answers.
fn busy_twice() -> ScriptedModel {
    let asked = std::sync::atomic::AtomicU64::new(0);
    ScriptedModel::new("busy", move |_| -> ScriptedAnswer {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 | 1 => ModelError::status("busy", 503).into(),
            _ => "Done.".into(),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn each_attempt_begins_and_ends_and_says_why_it_failed() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(busy_twice()).hook(ModelRetry::new());
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let seen = attempts(&browser).await;
    let kinds: Vec<_> =
        seen.iter().map(|(kind, data)| (kind.as_str(), data["attempt"].clone())).collect();
    let [one, two, three] = [json!(1), json!(2), json!(3)];
    assert_eq!(
        kinds,
        [
            ("model_started", one.clone()),
            ("model_failed", one),
            ("model_started", two.clone()),
            ("model_failed", two),
            ("model_started", three.clone()),
            ("model_first", three.clone()),
            ("model_finished", three),
        ]
    );
    assert_eq!(
        seen[1].1,
        json!({ "attempt": 1, "model": "busy", "kind": "status", "status": 503 })
    );
    let run = browser.newest().await["runs"][0].clone();
    assert_eq!(run["retries"], 2);
    let of_model = &run["models"][0];
    assert_eq!(
        (&of_model["model"], &of_model["calls"], &of_model["failed"]),
        (&json!("busy"), &json!(3), &json!(2))
    );
}

#[tokio::test]
async fn an_attempt_that_nobody_waits_for_was_cancelled() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(AroundModelAttempt);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    let mut call = Box::pin(agent.call("Go"));
    for _ in 0..20 {
        let poll = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::future::Future::poll(call.as_mut(), cx).is_pending())
        });
        assert!(poll.await);
    }
    drop(call);
    let seen = attempts(&browser).await;
    let last = &seen.last().unwrap();
    assert_eq!((last.0.as_str(), &last.1["kind"]), ("model_failed", &json!("cancelled")));
}

/// Never lets an attempt end.
struct AroundModelAttempt;

#[hooks_agent_core::agent_hook(name = "hangs", priority = 2_000)]
impl AroundModelAttempt {
    async fn around_model_attempt(
        &self,
        _: hooks_agent_core::hook::ModelAttempt<'_>,
        _: hooks_agent_core::hook::NextAttempt<'_>,
    ) -> Result<hooks_agent_core::model::ModelAnswer, AgentError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_text_of_an_error_is_shown_where_the_program_allows_it() {
    for shows in [false, true] {
        let studio = Studio::new().show_errors(shows);
        let reason = format!("not {MAIL}");
        let fails = ScriptedModel::new("m", move |_| ModelError::Failed {
            model: "m".to_owned(),
            reason: reason.clone(),
        });
        let agent = ReActAgent::builder("clerk").model(fails).hook(studio.hook()).build().unwrap();
        let browser = open(&studio).await;
        agent.call("Go").await.unwrap_err();
        let run = browser.newest().await;
        assert_eq!(run.to_string().contains(MAIL), shows, "{run:#}");
        let failure = &run["runs"][0]["failure"];
        assert_eq!(failure["kind"], "model");
        assert_eq!(failure["text"].as_str().is_some_and(|text| text.contains(MAIL)), shows);
    }
    // Where content is not shown, no text is.
    let studio = Studio::new().show_errors(true).show_content(false);
    let fails = ScriptedModel::new("m", |_| ModelError::Failed {
        model: "m".to_owned(),
        reason: format!("not {MAIL}"),
    });
    let agent = ReActAgent::builder("clerk").model(fails).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap_err();
    assert!(!browser.newest().await.to_string().contains(MAIL));
}
