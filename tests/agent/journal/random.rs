//! Random scripts, cut at random places.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::{Journal, JournalStep, MemoryJournal, StepKey, StepKind};
use hooks_agent_core::prelude::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use hooks_fixtures::journaled::run;

/// How many tools each round has, and what each of them does.
type Script = Vec<Vec<Does>>;

#[derive(Clone, Copy, Debug)]
enum Does {
    Returns,
    Fails,
    Waits,
}

fn script() -> impl Strategy<Value = Script> {
    let does = prop_oneof![Just(Does::Returns), Just(Does::Fails), Just(Does::Waits)];
    proptest::collection::vec(proptest::collection::vec(does, 1..4), 0..4)
}

/// The steps that ran: the rounds of the model, and the tool calls.
type Ran = Arc<Mutex<Vec<String>>>;

fn agent(script: &Script, ran: &Ran) -> ReActAgent {
    let (rounds, asked) = (script.clone(), ran.clone());
    let model = ScriptedModel::new("random", move |request| -> ScriptedAnswer {
        let round = request.messages.iter().filter(|msg| msg.role == Role::Assistant).count();
        asked.lock().unwrap().push(format!("model/{}/1", round + 1));
        let Some(tools) = rounds.get(round) else { return "Done.".into() };
        let calls = tools.iter().enumerate().map(|(number, does)| {
            let input = json!({ "round": round + 1, "does": format!("{does:?}") });
            ContentBlock::ToolUse(ToolUse::new(format!("c{number}"), "act", input))
        });
        calls.collect::<Vec<_>>().into()
    });
    let ran = ran.clone();
    let act = FunctionTool::with_context("act", "Acts.", move |input: Value, cx: ToolContext| {
        let id = cx.tool_use().id.clone();
        ran.lock().unwrap().push(format!("tool/{}/{id}/1", input["round"]));
        async move {
            match input["does"].as_str() {
                Some("Fails") => Err(format!("{id} failed")),
                Some("Waits") => {
                    tokio::task::yield_now().await;
                    Ok(format!("{id} waited"))
                }
                _ => Ok(format!("{id} returned")),
            }
        }
    });
    ReActAgent::builder("above").model(model).tool(act).parallel_tools(true).build().unwrap()
}

fn kind(key: &str) -> StepKind {
    let parts: Vec<_> = key.split('/').collect();
    let number = |index: usize| parts[index].parse().unwrap();
    match parts[0] {
        "model" => StepKind::Model { round: number(1), attempt: number(2) },
        _ => StepKind::Tool { round: number(1), id: parts[2].into(), attempt: number(3) },
    }
}

/// The steps of `whole` that `keep` chooses, each with all steps of the rounds before it and the model of
/// its own.
fn closed(whole: &[String], keep: &[bool]) -> BTreeSet<String> {
    let chosen = whole.iter().zip(keep.iter().cycle()).filter(|(_, keep)| **keep);
    let chosen: Vec<_> = chosen.map(|(key, _)| key).collect();
    let round = |key: &str| match kind(key) {
        StepKind::Model { round, .. } | StepKind::Tool { round, .. } => round,
        _ => unreachable!("no compression"),
    };
    let needs = |key: &String| {
        chosen.iter().any(|chosen| {
            let is_model = key.starts_with("model/");
            *chosen == key || round(key) < round(chosen) || is_model && round(key) == round(chosen)
        })
    };
    whole.iter().filter(|key| needs(key)).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_call_comes_to_the_same_from_any_steps_that_were_kept(
        script in script(),
        keep in proptest::collection::vec(any::<bool>(), 1..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (id, whole, ran) = (RunId::random(), MemoryJournal::new(), Ran::default());
            let reply = run(&agent(&script, &ran), &whole, id).await.unwrap();
            let all: BTreeSet<_> = ran.lock().unwrap().drain(..).collect();
            assert_eq!(all, whole.keys().into_iter().collect());

            let (kept, journal) = (closed(&whole.keys(), &keep), MemoryJournal::new());
            for key in whole.keys().iter().filter(|key| kept.contains(*key)) {
                let step = StepKey::new("", kind(key));
                let JournalStep::Run(ticket) = journal.step(&step).await.unwrap() else {
                    unreachable!("each key comes once")
                };
                ticket.complete(whole.record(key).unwrap()).await.unwrap();
            }
            assert_eq!(run(&agent(&script, &ran), &journal, id).await.unwrap(), reply);
            let again: Vec<_> = ran.lock().unwrap().clone();
            let expected: BTreeSet<_> = all.difference(&kept).cloned().collect();
            assert_eq!(again.len(), expected.len());
            assert_eq!(again.into_iter().collect::<BTreeSet<_>>(), expected);
            let threads = |journal: &MemoryJournal| {
                serde_json::to_value(journal.ended().unwrap().threads).unwrap()
            };
            assert_eq!(threads(&journal), threads(&whole));
        });
    }
}
