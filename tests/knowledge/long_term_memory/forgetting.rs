//! Forgotten entries stay forgotten, also those that were not written yet.

use futures::poll;
use hooks_agent_core::prelude::*;
use hooks_agent_knowledge::{Forget, LongTermMemory, Memories, Remembered};

use crate::long_term_memory::faulty::{Fault, Faulty};
use crate::long_term_memory::{agent, listed, on, rule};

#[tokio::test]
async fn what_failed_of_a_forgotten_user_is_not_written_again() {
    let memories = Faulty::new().adds([Some(Fault::Failed); 2]);
    let memory = LongTermMemory::new(memories.clone(), rule());
    let (agent, _) = agent(&memory, 2);
    for user in ["ada", "bob"] {
        agent.call_with(on(user, user), format!("keep: of {user}")).await.unwrap();
    }
    memory.memories().forget_all("ada").await.unwrap();
    assert_eq!(memory.failed().len(), 1);
    assert_eq!(memory.retry_failed().await, 0);
    assert_eq!(listed(&memories, "ada"), [""; 0]);
    assert_eq!(listed(&memories, "bob"), ["of bob"]);
}

#[tokio::test]
async fn a_part_of_what_failed_is_forgotten_by_thread_id_and_time() {
    let memories = Faulty::new().adds([Some(Fault::Failed); 4]);
    let memory = LongTermMemory::new(memories.clone(), rule());
    let (agent, _) = agent(&memory, 4);
    for thread in ["one", "two", "three", "four"] {
        agent.call_with(on("ada", thread), format!("keep: {thread}")).await.unwrap();
    }
    let failed: Vec<Remembered> = memory.failed().into_iter().flat_map(|it| it.entries).collect();
    let kept = memory.memories();
    let forget = |which| kept.forget("ada", which);
    forget(Forget::Thread("one".into())).await.unwrap();
    forget(Forget::Id(failed[1].id.clone())).await.unwrap();
    forget(Forget::At(0..=1)).await.unwrap();
    memory.memories().forget("bob", Forget::All).await.unwrap();
    assert_eq!(memory.retry_failed().await, 0);
    assert_eq!(listed(&memories, "ada"), ["three", "four"]);
}

#[tokio::test]
async fn what_waits_in_the_background_is_forgotten_too() {
    let memories = Faulty::new().closed();
    let memory = LongTermMemory::new(memories.clone(), rule()).in_background(true);
    let (agent, _) = agent(&memory, 1);
    agent.call_with(on("ada", "one"), "keep: a secret").await.unwrap();
    let kept = memory.memories();
    let mut forget = Box::pin(kept.forget_all("ada"));
    let _ = poll!(&mut forget);
    memories.gate.add_permits(1);
    forget.await.unwrap();
    memory.flush().await;
    assert_eq!(listed(&memories, "ada"), [""; 0]);
}
