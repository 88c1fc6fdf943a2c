//! Rules in policy files.

mod guide;
mod layers;
mod mistakes;
mod quotas;
mod variables;

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_policy::policy::{Policy, PolicyFile};
// The hook that files use is linked with the crate.
use hooks_agent_rules as _;
use hooks_fixtures::scripted_agents::results;
use serde_json::Value;

fn policy(text: &str) -> Policy {
    let opened = Policy::builder().project(PolicyFile::text("policy.toml", text)).open();
    opened.unwrap_or_else(|errors| panic!("{errors}"))
}

/// An agent with a policy that makes one tool call in each call.
struct Bot {
    agent: ReActAgent,
}

impl Bot {
    fn new(name: &str, policy: Policy, calls: &[(&str, Value)]) -> Self {
        let (mut script, mut tools) = (Script::new(), Vec::<Calls>::new());
        for (index, (tool, args)) in calls.iter().enumerate() {
            let call = ToolUse::new(index.to_string(), *tool, args.clone());
            script = script.calls([call]).says("end");
            tools.push(calls_of(tool));
        }
        let builder = ReActAgent::builder(name).model(script).hook_source(policy);
        let mut names: Vec<_> = calls.iter().map(|(tool, _)| *tool).collect();
        names.sort_unstable();
        names.dedup();
        let builder = names.into_iter().fold(builder, |it, tool| it.tool(calls_of(tool)));
        Self { agent: builder.build().unwrap() }
    }

    /// Makes the next tool call, and returns what became of it: `runs`, `asks`, or the reason that the model read.
    async fn next(&self, options: CallOptions) -> String {
        let before = results(&self.agent).len();
        let reply = self.agent.call_with(options, "Go").await.unwrap();
        if let [pending, ..] = reply.pending() {
            let reasons: Vec<_> = pending.askers.iter().map(|it| it.reason.clone()).collect();
            return format!("asks: {}", reasons.join("; "));
        }
        match results(&self.agent)[before..] {
            [(_, ref text)] if text == "done" => "runs".to_owned(),
            ref results => results[0].1.trim_start_matches("! ").to_owned(),
        }
    }
}

fn calls_of(tool: &str) -> Calls {
    (0..8).fold(Calls::new(tool), |tool, _| tool.answers("done"))
}
