//! Tests of `LongTermMemory`.

mod backend;
mod background;
mod calls;
mod choosing;
mod databases;
mod faulty;
mod forgetting;
mod kills;
mod memories;
mod users;

use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{Keep, LongTermMemory, Memories, Remembered};

/// Keeps each line of the user that begins with `keep: `.
fn rule() -> Keep {
    Keep::by_rule(|said| {
        let lines = said.user.lines().filter_map(|line| line.strip_prefix("keep: "));
        lines.map(str::to_owned).collect()
    })
}

fn entry(user: &str, text: &str, at: u64) -> Remembered {
    Remembered::new(user, text).at(at)
}

fn texts(entries: &[Remembered]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

/// The texts of a user, the oldest first.
fn listed(memories: &dyn Memories, user: &str) -> Vec<String> {
    let entries = block_on(memories.list(user)).unwrap();
    entries.into_iter().map(|entry| entry.text).collect()
}

/// The entries in the memory message of a request. None if there is no such message.
fn shown(request: &ChatRequest) -> Vec<String> {
    let found = request.messages.iter().find(|msg| msg.name == "memory");
    let text = found.map(Msg::text).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

/// An agent with the memory, whose model says "done" this often.
fn agent(memory: &LongTermMemory, calls: usize) -> (ReActAgent, Script) {
    let script = (0..calls).fold(Script::new(), |script, _| script.says("done"));
    let builder = ReActAgent::builder("bot").model(script.clone()).hook(memory.clone());
    (builder.build().unwrap(), script)
}

fn on(user: &str, thread: &str) -> CallOptions {
    CallOptions::new().user(user).thread(thread)
}
