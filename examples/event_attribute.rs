//! Event hooks by attribute: each method takes the event that it is about, and the hook asks for
//! those events alone.
//!
//! `cargo run --example event_attribute`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hooks_agent::prelude::*;
use hooks_agent::tool::Tools;
use serde_json::{Value, json};

/// Tells the model what day it is, and gives it a clock.
struct Clock;

#[agent_hook(priority = priority::PREPROCESSING, tools = Self::tools_of)]
impl Clock {
    async fn remind(&self, event: &mut PreReasoning<'_>) {
        event.append_system("Today is a good day.");
    }

    fn tools_of(&self) -> Tools {
        vec![std::sync::Arc::new(FunctionTool::new(
            "clock",
            "Tells the time.",
            async |_: Value| "noon",
        ))]
    }
}

/// Sends answers back that are too short, and supplies one where the model fails.
struct Quality {
    min_words: usize,
}

#[agent_hook(name = "quality")]
impl Quality {
    async fn check(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let message = event.message();
        let is_answer = message.tool_uses().next().is_none();
        if is_answer && message.text().split_whitespace().count() < self.min_words {
            println!("quality: \"{}\" is too short, once more", message.text());
            return Ok(event.jump_to_model(Msg::user("In a whole sentence, please."))?);
        }
        Ok(Flow::Continue)
    }

    fn save(&self, event: &ErrorEvent<'_>) -> Flow {
        println!("quality: {}", event.error());
        match event.phase() {
            ErrorPhase::Reasoning => {
                event.recover(Msg::assistant("quality", "The model is not well today."))
            }
            _ => Flow::Continue,
        }
    }
}

/// Takes the time of calls; a sync handler allocates nothing.
#[derive(Default)]
struct Timing {
    calls: AtomicUsize,
}

#[agent_hook(priority = priority::METRICS)]
impl Timing {
    fn start(&self, event: &PreCall<'_>) {
        event.context().insert(Instant::now());
    }

    fn stop(&self, event: &Settled<'_>) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        println!(
            "timing: call {number} {} in less than {} s",
            event.outcome(),
            seconds(event.context())
        );
    }
}

fn seconds(cx: &CallContext) -> u64 {
    cx.get::<Instant>().map_or(0, |start| start.elapsed().as_secs() + 1)
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let model = ScriptedModel::new("terse", |request| -> ScriptedAnswer {
        let last = request.messages.last().expect("somebody asks");
        match (last.tool_results().next(), last.text().as_str()) {
            (Some(result), _) => result.output.as_str().into(),
            (None, "In a whole sentence, please.") => "It is noon on a good day.".into(),
            (None, "Fail") => {
                let reason = "the lights went out".to_owned();
                hooks_agent::model::ModelError::Failed { model: "terse".to_owned(), reason }.into()
            }
            _ => ToolUse::new("1", "clock", json!({})).into(),
        }
    });
    let agent = ReActAgent::builder("assistant")
        .model(model)
        .hook(Clock)
        .hook(Quality { min_words: 3 })
        .hook(Timing::default())
        .build()?;
    println!("{}", agent.hook_plan());
    for question in ["What time is it?", "Fail"] {
        println!("{question} -> {}\n", agent.call(Msg::user(question)).await?.text());
    }
    Ok(())
}
