//! A judge refuses what does not meet its rubric, and what it cannot judge.

mod answers;
mod durable;
mod ends;
mod fails_closed;
mod input;
mod reads_data;
mod tool_calls;

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::hook::TextBlocked;
use hooks_agent_core::message::Usage;
use hooks_agent_core::prelude::*;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::script;

/// What nobody is to say.
const CODE: &str = "7391-alpha";

const TELLS: &str = "Certainly, the code of the door is 7391-alpha, dear.";

const GOOD: &str = r#"{"score": 0.9, "reason": "It tells nothing."}"#;
const BAD: &str = r#"{"score": 0.2, "reason": "It tells a code."}"#;

/// What a refused answer comes to.
const REFUSED: &str = "the answer does not meet the rubric (score 0.20, at least 0.50 is expected): \
                       \"It tells a code.\"";

/// A model that refuses what has the code, for 7 tokens.
fn no_codes() -> ScriptedModel {
    ScriptedModel::new("small", |request| {
        let text = if request.last_text().contains(CODE) { BAD } else { GOOD };
        ScriptedAnswer::from(text).costing(Usage::new(5, 2))
    })
}

/// A model that gives these verdicts, and the requests that it got.
fn verdicts<A: Into<ScriptedAnswer>>(
    verdicts: impl IntoIterator<Item = A>,
) -> (ScriptedModel, Arc<Records<ChatRequest>>) {
    script(verdicts)
}

/// Returns why a call was refused.
fn blocked(error: &AgentError) -> String {
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        if let Some(blocked) = error.downcast_ref::<TextBlocked>() {
            return blocked.reason.clone();
        }
        next = error.source();
    }
    panic!("it is not refused: {error:?}")
}

/// All that a call shows: its events, and how it ended.
async fn shown(agent: &ReActAgent, text: &str) -> String {
    let mut stream = agent.stream(text);
    let mut shown = String::new();
    while let Some(event) = stream.next().await {
        writeln!(shown, "{event:?}").unwrap();
    }
    shown
}

/// The texts in memory.
fn texts(agent: &ReActAgent) -> Vec<String> {
    agent.memory().messages().iter().map(Msg::text).collect()
}
