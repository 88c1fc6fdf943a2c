//! Where arguments came from: what may run, what is asked about, and what nobody gets around.

mod apart;
mod attacked;
mod calls;
mod contents;
mod destinations;
mod evasion;
mod named;
mod origins;
mod threads;
mod told;
mod words;

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_core::message::{PendingReason, ToolOutput};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{Provenance, Sink};
use serde_json::{Value, json};

/// A tool that others write into, its argument, and what it returns.
type Read<'a> = (&'a str, Value, ToolOutput);

/// What a case has: what the user says, what is read, and the call that is traced.
struct Case<'a> {
    user: &'a str,
    system: &'a str,
    reads: Vec<Read<'a>>,
    guard: Provenance,
}

fn guard() -> Provenance {
    Provenance::new()
        .untrusted(["read_*", "search", "list"])
        .and_then(|it| it.trusted(["contacts"]))
        .and_then(|it| it.sink("pay", Sink::new().destination(["to"]).content(["euros", "note"])))
        .and_then(|it| {
            it.sink("send_mail", Sink::new().destination(["to"]).content(["subject", "body"]))
        })
        .and_then(|it| it.sink("fetch", Sink::new().destination(["url"])))
        .and_then(|it| it.sink("delete_file", Sink::new().destination(["file_id"])))
        .and_then(|it| it.sink("change_password", Sink::new().destination(["password"])))
        .unwrap()
}

fn user(user: &str) -> Case<'_> {
    Case { user, system: "", reads: Vec::new(), guard: guard() }
}

impl<'a> Case<'a> {
    fn system(mut self, system: &'a str) -> Self {
        self.system = system;
        self
    }

    fn guard(mut self, guard: Provenance) -> Self {
        self.guard = guard;
        self
    }

    fn reads(mut self, tool: &'a str, args: Value, output: impl Into<ToolOutput>) -> Self {
        self.reads.push((tool, args, output.into()));
        self
    }

    /// A mail with this text.
    fn mail(self, text: &str) -> Self {
        self.reads("read_mail", json!({}), text)
    }

    /// Returns what is asked about the call; nothing if it runs.
    fn call(self, tool: &str, args: Value) -> String {
        let Self { user, system, reads, guard } = self;
        let mut script = Script::new();
        let mut builder = ReActAgent::builder("bot").system_prompt(system).hook(guard);
        let mut names: Vec<_> = reads.iter().map(|(tool, ..)| *tool).chain([tool]).collect();
        names.sort_unstable();
        names.dedup();
        let mut tools: Vec<_> = names.into_iter().map(Calls::new).collect();
        for (number, (name, args, output)) in reads.into_iter().enumerate() {
            script = script.calls([ToolUse::new(format!("read-{number}"), name, args)]);
            let tool = tools.iter_mut().find(|it| it.name() == name).unwrap();
            *tool = tool.clone().answers(output);
        }
        let traced = tools.iter_mut().find(|it| it.name() == tool).unwrap();
        *traced = traced.clone().answers("done");
        script = script.calls([ToolUse::new("traced", tool, args)]).says("The end.");
        for tool in tools {
            builder = builder.tool(tool);
        }
        let agent = builder.model(script).build().unwrap();
        let reply = block_on(agent.call(user)).unwrap();
        match reply.pending() {
            [] => String::new(),
            [pending, ..] => match &pending.why {
                PendingReason::Permission(why) => why.clone(),
                why => panic!("{why:?}"),
            },
        }
    }

    #[track_caller]
    fn runs(self, tool: &str, args: Value) {
        assert_eq!(self.call(tool, args), "");
    }

    /// Expects a question with this text in it.
    #[track_caller]
    fn asks(self, tool: &str, args: Value, expected: &str) {
        let why = self.call(tool, args);
        assert!(why.contains(expected), "{why:?}");
    }
}

/// Returns an agent whose model follows a script.
fn agent(script: Script, tools: &[Calls], guard: Provenance) -> ReActAgent {
    let builder = ReActAgent::builder("bot").model(script).hook(guard);
    let builder = tools.iter().cloned().fold(builder, ReActAgentBuilder::tool);
    builder.build().unwrap()
}

fn call(id: &str, tool: &str, args: Value) -> ToolUse {
    ToolUse::new(id, tool, args)
}

fn stored(
    script: Script,
    tools: &[Calls],
    store: &Arc<hooks_agent_core::thread::MemoryStore>,
) -> ReActAgent {
    let builder = ReActAgent::builder("bot").model(script).hook(guard()).store(store.clone());
    let builder = tools.iter().cloned().fold(builder, ReActAgentBuilder::tool);
    builder.build().unwrap()
}

fn pay(to: &str) -> Value {
    json!({ "to": to, "euros": 10, "note": "" })
}
