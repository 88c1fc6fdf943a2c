//! The agents of a worker. Their models do what the user says: `slow look then pay` calls two tools at
//! once and then a third, and the answer has what the tools said.

use std::time::Duration;

use hooks_agent::agent::AgentReplyArgs;
use hooks_agent::builtin::people::{Gate, HumanInTheLoop};
use hooks_agent::message::DecisionKind;
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_restate::{Agents, Limits, Run};
use restate_sdk::endpoint::ServiceOptions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::worker::World;

/// The file whose existence lets a slow tool end.
pub(crate) const GO: &str = "go";

/// The file whose existence lets a model work that is down.
pub(crate) const WELL: &str = "well";

/// The limits of the build `small`.
pub(crate) const LIMITS: Limits = Limits {
    step_bytes: 20_000,
    journal_bytes: 60_000,
    journal_entries: 30,
    history_bytes: 4_000,
    runs_without_step: 5,
};

/// What tools take.
#[derive(Deserialize, JsonSchema)]
struct Input {
    /// What it is about.
    of: String,
}

/// Notes when it is dropped before the tool has ended.
struct Dropped<'a> {
    world: &'a World,
    of: &'a str,
    is_done: bool,
}

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        let end = if self.is_done { "done" } else { "dropped" };
        self.world.note("ends", &format!("{end} {}", self.of));
    }
}

impl World {
    /// The agents of a build.
    pub(crate) fn agents(&self, build: &str) -> Agents {
        let gone = (build == "old").then(|| self.obedient("gone"));
        let agents = [
            self.steps(),
            self.obedient("clerk"),
            self.gated("asks", Gate::new()),
            self.gated("hasty", Gate::new().expires_after(Duration::from_secs(1))),
            self.gated("strict", Gate::new().allow([DecisionKind::Approve]).unwrap()),
            self.boss(),
            self.failing("down", |world| {
                let is_well = world.0.join(WELL).exists();
                (!is_well).then(|| ModelError::status("down", 503))
            }),
            self.failing("broken", |_| Some(ModelError::status("broken", 400))),
            self.panicking(),
            self.deployed(build),
        ];
        let limits = if build == "small" { LIMITS } else { Limits::default() };
        let run = Run::new().limits(limits).build(build);
        let agents = Agents::new(agents.into_iter().chain(gone));
        if build != "impatient" {
            return agents.run(run);
        }
        // The engine ends what seems idle after a second.
        let second = Duration::from_secs(1);
        let options = ServiceOptions::new().inactivity_timeout(second).abort_timeout(second);
        agents.run(run.beat(second / 4)).options(options)
    }

    /// A model that calls the tools that the user names, all at once.
    fn model(&self, name: &str, fails: fn(&World) -> Option<ModelError>) -> ScriptedModel {
        let (world, agent) = (self.clone(), name.to_owned());
        ScriptedModel::new(name, move |request| -> ScriptedAnswer {
            let messages: Vec<_> = request.messages.iter().collect();
            let asked = messages.iter().rposition(|msg| msg.role == Role::User).unwrap();
            let text = messages[asked].text();
            let round = messages[asked..].iter().filter(|it| it.role == Role::Assistant).count();
            world.note("models", &format!("{agent} {text} {round}"));
            if (round > 0 || text == "fail")
                && let Some(error) = fails(&world)
            {
                world.note("failures", &World::now().to_string());
                return ScriptedAnswer::Stream(vec![Err(error)]);
            }
            let results = messages[asked..].iter().flat_map(|msg| msg.tool_results());
            let results: Vec<_> = results.map(|result| result.output.as_str()).collect();
            let known = |word: &&str| request.tools.iter().any(|tool| tool.name == **word);
            let rounds: Vec<_> = text.split(" then ").collect();
            let words = rounds.get(round).copied().unwrap_or_default().split(' ');
            let calls = words.filter(known).enumerate().map(|(number, tool)| {
                let of = format!("{text} {round}{number}");
                // A sub-agent is told what follows its name.
                let task = text.split_once(tool).map(|(_, task)| task.trim()).unwrap_or_default();
                let input = json!({ "of": of, "task": task });
                ContentBlock::ToolUse(ToolUse::new(format!("c{round}{number}"), tool, input))
            });
            let check = || ToolUse::new("check", "check", json!({ "of": text.as_str() }));
            let mut calls: Vec<_> = calls.collect();
            if round == rounds.len() && known(&"check") {
                calls.push(ContentBlock::ToolUse(check()));
            }
            if calls.is_empty() {
                return format!("said: {}", results.join("; ")).into();
            }
            calls.into()
        })
    }

    /// The builder of an agent with all tools.
    fn builder(&self, name: &str, fails: fn(&World) -> Option<ModelError>) -> ReActAgentBuilder {
        let (look, pay, slow, big) = (self.clone(), self.clone(), self.clone(), self.clone());
        let (alone, abort) = (self.clone(), self.clone());
        let note =
            |world: &World, what: &str, of: &str| world.note("tools", &format!("{what} {of}"));
        ReActAgent::builder(name)
            .model(self.model(name, fails))
            .parallel_tools(true)
            .max_iters(100)
            .tool(FunctionTool::new("look", "Looks.", move |input: Input| {
                note(&look, "look", &input.of);
                async move { format!("looked at {}", input.of) }
            }))
            .tool(FunctionTool::new("pay", "Pays.", move |input: Input| {
                note(&pay, "pay", &input.of);
                async move { format!("paid {}", input.of) }
            }))
            .tool(FunctionTool::new("big", "Says much.", move |input: Input| {
                note(&big, "big", &input.of);
                async move { random_text(30_000) }
            }))
            .tool(FunctionTool::new("some", "Says something.", move |input: Input| {
                drop(input);
                async move { random_text(6_000) }
            }))
            .tool(FunctionTool::new("abort", "Ends the process.", move |input: Input| {
                note(&abort, "abort", &input.of);
                async move { std::process::abort() as String }
            }))
            .tool(FunctionTool::new("alone", "Notes when it runs.", move |input: Input| {
                let world = alone.clone();
                async move {
                    world.note("alone", &format!("enter {}", input.of));
                    tokio::time::sleep(Duration::from_millis(15)).await;
                    world.note("alone", &format!("leave {}", input.of));
                    "was alone".to_owned()
                }
            }))
            .tool(FunctionTool::new("slow", "Waits until it may end.", move |input: Input| {
                let world = slow.clone();
                async move {
                    note(&world, "slow", &input.of);
                    let mut dropped = Dropped { world: &world, of: &input.of, is_done: false };
                    while !world.0.join(GO).exists() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    dropped.is_done = true;
                    format!("slowly did {}", input.of)
                }
            }))
    }

    /// An agent without hooks, whose model calls the tools that the message names.
    fn obedient(&self, name: &str) -> ReActAgent {
        self.builder(name, |_| None).build().unwrap()
    }

    /// An agent that asks before it pays.
    fn gated(&self, name: &str, gate: Gate) -> ReActAgent {
        let hook = HumanInTheLoop::new().ask_with("pay", gate);
        self.builder(name, |_| None).hook(hook).build().unwrap()
    }

    /// An agent with a sub-agent that asks before it pays.
    fn boss(&self) -> ReActAgent {
        let asks = self.gated("asks", Gate::new()).to_tool("Pays for you.");
        ReActAgent::builder("boss").model(self.model("boss", |_| None)).tool(asks).build().unwrap()
    }

    fn failing(&self, name: &str, fails: fn(&World) -> Option<ModelError>) -> ReActAgent {
        self.builder(name, fails).build().unwrap()
    }

    /// An agent with a hook that panics before the reply, if the user says so.
    fn panicking(&self) -> ReActAgent {
        let agent = self.obedient("panics");
        agent.register_instance_hook(
            ReActAgent::PRE_REPLY,
            "clumsy",
            |_: &ReActAgent, args: &mut AgentReplyArgs| {
                assert!(args.messages[0].text() != "panic", "the vase fell down");
            },
        );
        agent
    }

    /// An agent whose new build checks once more before it answers, and whose old one has another tool.
    fn deployed(&self, build: &str) -> ReActAgent {
        let (world, build) = (self.clone(), build.to_owned());
        let name = if build == "old" { "legacy" } else { "check" };
        let tool = FunctionTool::new(name, "Is of one build.", move |input: Input| {
            world.note("tools", &format!("{build} {}", input.of));
            let build = build.clone();
            async move { format!("{build} was here") }
        });
        self.builder("deployed", |_| None).tool(tool).build().unwrap()
    }
}

/// Text that cannot be compressed to much less.
fn random_text(bytes: usize) -> String {
    let mut seed: u64 = 1;
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from((seed >> 33) % 90).unwrap())
    };
    std::iter::repeat_with(next).take(bytes).collect()
}
