//! Any conversation, any cut: nothing is lost, doubled, invented or parted.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::context::Summarization;
use hooks_agent_core::message::unanswered_tool_uses;
use hooks_agent_core::model::ContextSize;
use hooks_agent_core::prelude::*;
use proptest::prelude::*;
use serde_json::json;

/// A part of a conversation.
#[derive(Clone, Debug)]
enum Part {
    User,
    Answer,
    /// Tool calls, whose results come one by one or together, and whether ids are used again.
    Tools {
        calls: usize,
        together: bool,
        reuses_ids: bool,
    },
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let tools = (1..9usize, any::<bool>(), any::<bool>());
    let tools =
        tools.prop_map(|(calls, together, reuses_ids)| Part::Tools { calls, together, reuses_ids });
    prop::collection::vec(prop_oneof![Just(Part::User), Just(Part::Answer), tools], 0..14)
}

/// The messages, each text with a mark of its own.
fn history(parts: &[Part]) -> Vec<Msg> {
    let mut messages = Vec::new();
    let mut number = 0;
    let mut mark = || {
        number += 1;
        format!("<{number}>")
    };
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::User => messages.push(Msg::user(mark())),
            Part::Answer => messages.push(Msg::assistant("bot", mark())),
            Part::Tools { calls, together, reuses_ids } => {
                let id = |call| match reuses_ids {
                    true => format!("id{call}"),
                    false => format!("id{place}-{call}"),
                };
                let calls: Vec<_> = (0..*calls)
                    .map(|call| ToolUse::new(id(call), "t", json!({ "mark": mark() })))
                    .collect();
                let blocks = calls.iter().cloned().map(ContentBlock::ToolUse).collect();
                messages.push(Msg::from_blocks(Role::Assistant, "bot", blocks));
                let results = calls.iter().map(|call| ToolResult::success(call, mark()));
                match together {
                    true => {
                        let blocks = results.map(ContentBlock::ToolResult).collect();
                        messages.push(Msg::from_blocks(Role::Tool, "tools", blocks));
                    }
                    false => messages.extend(results.map(Msg::tool_result)),
                }
            }
        }
    }
    messages
}

/// The marks of a text, in order.
fn marks(text: &str) -> Vec<u32> {
    let marks = text.split('<').skip(1).filter_map(|rest| rest.split_once('>')?.0.parse().ok());
    marks.collect()
}

fn marks_of<'a>(messages: impl IntoIterator<Item = &'a Msg>) -> Vec<u32> {
    let json = messages.into_iter().map(|msg| serde_json::to_string(msg).unwrap());
    marks(&json.collect::<String>())
}

proptest! {
    #[test]
    fn kept_and_summarized_are_all(
        parts in parts(),
        keep in prop_oneof![
            (1..30usize).prop_map(ContextSize::Messages),
            (1..200u64).prop_map(ContextSize::Tokens),
        ],
        keeps_first in any::<bool>(),
        max_input in 5..200u64,
    ) {
        let before = history(&parts);
        let read = Arc::new(Mutex::new(String::new()));
        let seen = read.clone();
        let small = ScriptedModel::new("small", move |request| {
            let text = request.last_text();
            let new = text.rsplit("\n\n").next().unwrap();
            seen.lock().unwrap().push_str(new);
            "SUM"
        });
        let hook = Summarization::builder(small)
            .trigger(ContextSize::Messages(1))
            .keep(keep)
            .keep_first_user_message(keeps_first)
            .max_input(max_input)
            .build()
            .unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let model = ScriptedModel::new("m", move |request| {
            seen.lock().unwrap().push(request.clone());
            "done"
        });
        let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
        agent.memory().replace(before.clone());
        block_on(agent.call("<99999>")).unwrap();

        let after = agent.memory().messages();
        let requests = requests.lock().unwrap();
        // Pairs are whole, in memory and in what the model read.
        prop_assert!(unanswered_tool_uses(&after).is_empty());
        prop_assert!(unanswered_tool_uses(&requests[0].messages).is_empty());
        let read = read.lock().unwrap();
        let summaries: Vec<_> =
            after.iter().filter(|msg| msg.text().ends_with("\n\nSUM")).collect();
        prop_assert_eq!(summaries.len(), usize::from(!read.is_empty()));
        // What stays is as it was and in order; no message was invented.
        let kept: Vec<_> =
            after.iter().filter(|msg| !msg.text().ends_with("\n\nSUM")).cloned().collect();
        let mut rest = before.iter();
        for msg in &kept[..kept.len() - 2] {
            prop_assert!(rest.any(|other| other == msg));
        }
        // Kept and summarized together are all, once each and in order.
        let summarized = marks(&read);
        let mut sorted = summarized.clone();
        sorted.sort_unstable();
        prop_assert_eq!(&sorted, &summarized);
        let mut all = summarized;
        all.extend(marks_of(&kept[..kept.len() - 2]));
        all.sort_unstable();
        prop_assert_eq!(all, marks_of(&before));
    }
}
