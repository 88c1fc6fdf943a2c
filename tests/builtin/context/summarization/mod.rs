//! Tests of `Summarization`.
//!
//! Vectors of D 3.4 that end otherwise:
//!
//! | vector | there | here |
//! |---|---|---|
//! | no trigger | never | 0.8 of the context window |
//! | a fraction and an unknown window | an error of the constructor | an error of the call: the window is the agent's model's |
//! | safe cut of `[H, AI(1), T1, T2(orphan), H]` at 3 | 4, forward | 1: a cut moves back, and forward only if nothing else is left |
//! | a failed summary | a text in place of the history (SAA), an error (LC) | the history stays, or an error by choice |
//! | the first user message in the kept tail | twice (SAA) | once |
//! | nothing but the first user message before the cut | a summary of nothing (SAA) | no summary |
//! | usage that another provider reported | not counted | counted: what was reported is what was read |

mod cuts;
mod failures;
mod in_stores;
mod random;
mod requests;
mod sizes;
mod vectors;

use hooks_agent_builtin::context::{Summarization, SummarizationBuilder};
use hooks_agent_core::message::Messages;
use hooks_agent_core::model::{ContextSize, TokenCounter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;

/// A hook with this trigger, without a first message that stays.
fn at(trigger: ContextSize, keep: ContextSize, small: &Script) -> SummarizationBuilder {
    let builder = Summarization::builder(small.clone()).trigger(trigger).keep(keep);
    builder.keep_first_user_message(false)
}

fn messages(trigger: usize, keep: usize, small: &Script) -> SummarizationBuilder {
    at(ContextSize::Messages(trigger), ContextSize::Messages(keep), small)
}

/// An agent with these messages in memory and this hook.
fn agent(hook: SummarizationBuilder, before: impl Into<Messages>) -> ReActAgent {
    let model = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(model).hook(hook.build().unwrap());
    let agent = agent.build().unwrap();
    agent.memory().replace(before);
    agent
}

/// What memory has: texts, with the text of a summary as `S(text)`.
fn texts(agent: &ReActAgent) -> Vec<String> {
    let text = |msg: &Msg| match msg.text().split_once("to date:\n\n") {
        Some((_, summary)) => format!("S({summary})"),
        None => msg.text(),
    };
    agent.memory().messages().iter().map(text).collect()
}

/// User messages with these texts.
fn users<const N: usize>(texts: [&str; N]) -> Messages {
    texts.map(Msg::user).into()
}

/// Counts this many tokens for each message that is not empty.
fn each(tokens: u64) -> TokenCounter {
    TokenCounter::of(move |text| if text.is_empty() { 0 } else { tokens })
}
