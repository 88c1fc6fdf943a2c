//! Texts that hooks redact are not in the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_builtin::guard::{
    PiiDetection, Sanitize, SensitiveWords, Vault, VaultKey, WordList,
};
use hooks_agent_builtin::limit::{Budget, Exit, ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent_builtin::recover::{ModelRetry, RetryPolicy};
use hooks_agent_core::call::RunId;
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::model::{Finding, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use serde_json::{Value, json};

use hooks_fixtures::journaled::{World, results, run};

const SECRET: &str = "ada@example.org";

/// An agent whose model and tools all say the secret: in answers, results and errors.
fn leaky() -> ReActAgentBuilder {
    let model = ScriptedModel::new("leaky", |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).next() {
            Some(_) => format!("It is {SECRET}.").into(),
            None => {
                let call = |id: &str, tool: &str| {
                    let input = json!({ "to": SECRET });
                    ContentBlock::ToolUse(ToolUse::new(id, tool, input))
                };
                let text = ContentBlock::text(format!("I ask {SECRET}."));
                vec![text, call("1", "tells"), call("2", "fails")].into()
            }
        }
    });
    let tells = FunctionTool::new("tells", "Tells.", async |_: Value| format!("from {SECRET}"));
    let fails = FunctionTool::new("fails", "Fails.", async |_: Value| {
        Err::<String, _>(format!("no mail box {SECRET}"))
    });
    ReActAgent::builder("above").model(model).tool(tells).tool(fails)
}

/// Everything that a journal has of a call that has ended, as JSON.
fn kept(journal: &MemoryJournal) -> String {
    let records = journal.keys().into_iter().map(|key| journal.record(&key).unwrap());
    let records = serde_json::to_string(&records.collect::<Vec<_>>()).unwrap();
    records + &serde_json::to_string(&journal.ended().unwrap()).unwrap()
}

async fn redacted(hook: impl AgentHook) -> String {
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let agent = leaky().hook(hook).build().unwrap();
    let first = run(&agent, &journal, id).await.unwrap();
    let text = kept(&journal);
    assert_eq!(journal.keys().len(), 4);
    assert_eq!(run(&agent, &journal, id).await.unwrap(), first);
    assert_eq!(kept(&journal), text);
    text
}

#[tokio::test]
async fn without_a_redactor_the_journal_has_what_was_said() {
    assert!(redacted(on(|_: &PreCall<'_>| {})).await.contains(SECRET));
}

#[tokio::test]
async fn what_pii_detection_removes_is_nowhere_in_the_journal() {
    for strategy in [PiiStrategy::Redact, PiiStrategy::Mask, PiiStrategy::Hash] {
        let text = redacted(PiiDetection::all().strategy(strategy).everywhere()).await;
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn what_sensitive_words_removes_is_nowhere_in_the_journal() {
    let words = WordList::new([SECRET]).unwrap();
    let hook = SensitiveWords::new(words).tool_results(true).tool_arguments(true);
    let text = redacted(hook).await;
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn what_sanitize_removes_of_results_is_in_no_record_of_a_tool() {
    let hook = Sanitize::new("ada@[a-z.]*", "someone").unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let agent = leaky().hook(hook).build().unwrap();
    run(&agent, &journal, id).await.unwrap();
    for key in journal.keys().iter().filter(|key| key.starts_with("tool/")) {
        let record = serde_json::to_value(journal.record(key).unwrap()).unwrap();
        let came = serde_json::to_string(&record["tool"]).unwrap()
            + &serde_json::to_string(&record["error"]).unwrap();
        assert!(!came.contains(SECRET), "{key}: {came}");
    }
    assert!(results(&journal).iter().all(|result| !result.contains(SECRET)));
}

#[tokio::test]
async fn what_a_rewrite_removes_is_nowhere_in_the_journal() {
    let hook = Rewrite::new(SECRET.len(), |text, from| {
        let start = from + text[from..].find(SECRET)?;
        Some(Finding::Replace { range: start..start + SECRET.len(), text: "***".to_owned() })
    });
    let text = redacted(hook.tool_results(true).tool_arguments(true)).await;
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn what_a_vault_hides_reaches_the_tool_and_not_the_journal() {
    let (journal, id, vault) =
        (MemoryJournal::new(), RunId::random(), Vault::stored(VaultKey::new("test", [7; 32])));
    let mails = Arc::new(AtomicUsize::new(0));
    let agent = || {
        let (mails, token) = (mails.clone(), vault.token_of("t", "email", SECRET));
        let send = FunctionTool::new("send", "Sends.", move |input: Value| {
            assert_eq!(input["to"], SECRET);
            mails.fetch_add(1, Ordering::Relaxed);
            async { Err::<String, _>(format!("no mail box {SECRET}")) }
        });
        let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                Some(_) => format!("I wrote to {token}.").into(),
                None => ToolUse::new("1", "send", json!({ "to": token })).into(),
            }
        });
        let hook = PiiDetection::email().vault(vault.clone());
        ReActAgent::builder("above").model(model).tool(send).hook(hook).build().unwrap()
    };
    let options = || CallOptions::new().thread("t").run_id(id).journal(journal.again());
    let asked = format!("write to {SECRET}");
    let first = agent().call_with(options(), &*asked).await.unwrap();
    assert!(!kept(&journal).contains(SECRET), "{}", kept(&journal));
    let second = agent().call_with(options(), &*asked).await.unwrap();
    assert_eq!((first, mails.load(Ordering::Relaxed)), (second, 1));
}

#[tokio::test]
async fn limits_count_the_steps_that_are_replayed() {
    let limited: [fn(ReActAgentBuilder) -> ReActAgentBuilder; 4] = [
        |agent| agent.hook(ModelCallLimit::builder().run(2).build().unwrap()),
        |agent| agent.hook(ToolCallLimit::all().run(3).exit(Exit::End).build().unwrap()),
        |agent| agent.hook(ToolCallLimit::of("left").run(1).build().unwrap()),
        |agent| agent.hook(Budget::builder().run_tokens(60).build().unwrap()),
    ];
    for (number, limit) in limited.into_iter().enumerate() {
        let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
        let agent = || limit(world.builder()).build().unwrap();
        let first = run(&agent(), &journal, id).await.unwrap();
        let threads = serde_json::to_value(journal.ended().unwrap().threads).unwrap();
        let models = world.models().len();
        assert!(
            models < 6 || world.effects.lock().unwrap().len() < 5,
            "limit {number} is not reached"
        );
        for kept in 0..=journal.keys().len() {
            let keys = journal.keys();
            journal.cut(kept);
            let replayed = journal.keys().iter().filter(|key| key.contains("model/")).count();
            let asked = world.models().len();
            assert_eq!(
                run(&agent(), &journal, id).await.unwrap(),
                first,
                "limit {number}, cut after {kept}"
            );
            let again = serde_json::to_value(journal.ended().unwrap().threads).unwrap();
            assert_eq!(again, threads, "limit {number}, cut after {kept}");
            assert!(
                world.models().len() - asked <= models.saturating_sub(replayed),
                "limit {number}"
            );
            assert_eq!(journal.keys().len(), keys.len());
        }
    }
}

#[tokio::test]
async fn a_rate_limit_loses_no_call_and_does_not_count_what_is_replayed() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let hours = Arc::new(AtomicUsize::new(0));
    let clock = hours.clone();
    let hour = Duration::from_hours(1);
    let limit = RateLimit::of_models().requests(2, hour).fail();
    let limit = limit.clock(move || hour * u32::try_from(clock.load(Ordering::Relaxed)).unwrap());
    let limit = limit.build().unwrap();
    let agent = || world.builder().hook(limit.clone()).build().unwrap();
    let mut ended = None;
    for _ in 0..3 {
        ended = Some(run(&agent(), &journal, id).await);
        hours.fetch_add(1, Ordering::Relaxed);
    }
    assert_eq!(ended.unwrap().unwrap().text(), "above is done.");
    assert_eq!((world.models().len(), world.effects.lock().unwrap().len()), (6, 5));
}

#[tokio::test]
async fn a_model_step_that_succeeded_at_the_second_attempt_is_one_record() {
    let (journal, id, asked) =
        (MemoryJournal::new(), RunId::random(), Arc::new(AtomicUsize::new(0)));
    let agent = || {
        let asked = asked.clone();
        let model = ScriptedModel::new("busy", move |_| -> ScriptedAnswer {
            match asked.fetch_add(1, Ordering::Relaxed) {
                0 => ModelError::status("busy", 503).into(),
                _ => "Done.".into(),
            }
        });
        let retry = ModelRetry::with(RetryPolicy::new().initial_delay(Duration::ZERO)).unwrap();
        ReActAgent::builder("above").model(model).hook(retry).build().unwrap()
    };
    for _ in 0..2 {
        assert_eq!(run(&agent(), &journal, id).await.unwrap().text(), "Done.");
        assert_eq!(
            (journal.keys(), asked.load(Ordering::Relaxed)),
            (vec!["model/1/1".to_owned()], 2)
        );
    }
}
