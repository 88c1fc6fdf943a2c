//! Processes that are killed.

use std::collections::HashMap;
use std::time::Duration;

use hooks_fixtures::tell;
use serde_json::json;

use crate::engine::{Engine, free_port};
use crate::worker::{World, start};

/// How many kills there are, unless the variable says another number.
const KILLS: usize = 40;

/// The variable with the number of kills.
const VARIABLE: &str = "RESTATE_KILLS";

/// A number that looks random, of a seed.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_although_workers_and_the_server_are_killed_at_random_moments() {
    let Some(mut engine) = Engine::start().await else { return };
    let kills = std::env::var(VARIABLE).ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS);
    let folder = tempfile::tempdir().unwrap();
    let world = World(folder.path().into());
    let port = free_port();
    let mut workers = [start(port, folder.path()).await, start(port, folder.path()).await];
    engine.register(port).await;
    let mut seed: u64 = 7;
    let mut invocations = Vec::new();
    let mut sent = 0;
    for kill in 0..kills {
        // Some calls are always at work.
        for _ in 0..3 {
            let (key, text) = (format!("steps/t{}", sent % 20), format!("m{sent}"));
            let body = json!({ "text": text });
            invocations.push((text, engine.send(&key, &body).await));
            sent += 1;
        }
        tokio::time::sleep(Duration::from_millis(next(&mut seed) % 150)).await;
        if kill % 4 == 3 {
            engine.kill().await;
            engine.restart().await;
        } else {
            let number = usize::try_from(next(&mut seed)).unwrap() % workers.len();
            workers[number].kill().await.unwrap();
            workers[number] = start(port, folder.path()).await;
        }
    }
    for (text, invocation) in &invocations {
        let (status, reply) = engine.attach(invocation).await;
        assert_eq!(status, 200, "{text}: {reply}");
        assert_eq!(reply["content"][0]["text"], json!(format!("{text} is done.")), "{reply}");
    }
    // Effects by their idempotency keys: each happened, and has one key.
    let mut effects: HashMap<String, Vec<String>> = HashMap::new();
    let lines = world.lines("effects");
    for line in &lines {
        let (of, key) = line.rsplit_once(' ').unwrap();
        effects.entry(of.to_owned()).or_default().push(key.to_owned());
    }
    assert_eq!(effects.len(), 6 * invocations.len(), "an effect is missing");
    for (of, keys) in &effects {
        assert!(keys.iter().all(|key| *key == keys[0]), "{of} has several keys: {keys:?}");
    }
    let models = world.lines("models");
    let asked: std::collections::HashSet<_> = models.iter().collect();
    assert_eq!(asked.len(), 4 * invocations.len());
    tell(format!(
        "{kills} kills, {} calls: {} effects, {} of them again without the use of their idempotency \
         keys; {} model calls, {} of them again because no answer was in the journal",
        invocations.len(),
        effects.len(),
        lines.len() - effects.len(),
        asked.len(),
        models.len() - asked.len(),
    ));
}
