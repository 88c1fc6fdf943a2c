//! Any conversation: kept, offloaded and summarized together are all, and what is sent is valid.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::context::AutoContext;
use hooks_agent_core::message::unanswered_tool_uses;
use hooks_agent_core::model::ContextSize;
use hooks_agent_core::prelude::*;
use proptest::prelude::*;
use serde_json::json;

use super::{references, tokens};

fn history(parts: &[(u8, usize)]) -> Vec<Msg> {
    let mut all = Vec::new();
    for (place, (kind, size)) in parts.iter().enumerate() {
        let text = |number: usize| format!("<{place}.{number}>{}", "人x".repeat(*size));
        match kind {
            0 => all.push(Msg::user(text(0))),
            1 => all.push(Msg::assistant("bot", text(0))),
            calls => {
                let calls: Vec<_> = (0..usize::from(*calls))
                    .map(|call| ToolUse::new(format!("{place}-{call}"), "log", json!({})))
                    .collect();
                let blocks = calls.iter().cloned().map(ContentBlock::ToolUse).collect();
                all.push(Msg::from_blocks(Role::Assistant, "bot", blocks));
                let results = calls.iter().enumerate();
                all.extend(results.map(|(number, call)| {
                    Msg::tool_result(ToolResult::success(call, text(number)))
                }));
            }
        }
    }
    all
}

/// The marks of all texts, in order.
fn marks(messages: &[Msg]) -> Vec<String> {
    let json: String = messages.iter().map(|msg| serde_json::to_string(msg).unwrap()).collect();
    let marks = json.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
    marks.map(|(mark, _)| mark.to_owned()).collect()
}

proptest! {
    #[test]
    fn kept_offloaded_and_summarized_are_all(
        parts in prop::collection::vec((0..5u8, 0..120usize), 0..14),
        budget in 300..1500u64,
        large in 10..200u64,
        keep in 0..5usize,
        summarizes in any::<bool>(),
    ) {
        let before = history(&parts);
        let summarized = Arc::new(Mutex::new(String::new()));
        let seen = summarized.clone();
        let small = ScriptedModel::new("small", move |request| {
            seen.lock().unwrap().push_str(&request.last_text());
            "SUM"
        });
        let hook = AutoContext::builder()
            .budget(ContextSize::Tokens(budget)).window(budget * 2).large(large).head(0).keep(keep);
        let hook = if summarizes { hook.summarize_with(small) } else { hook };
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let model = ScriptedModel::new("m", move |request| {
            seen.lock().unwrap().push(request.clone());
            "done"
        });
        let agent = ReActAgent::builder("bot").model(model).hook(hook.build().unwrap());
        let agent = agent.build().unwrap();
        agent.memory().replace(before.clone());
        let ended = block_on(agent.call("go"));

        // Memory keeps all.
        let memory: Vec<_> = agent.memory().messages().iter().cloned().collect();
        prop_assert_eq!(&memory[..before.len()], &before[..]);
        // What is sent fits.
        let requests = requests.lock().unwrap();
        prop_assert_eq!(requests.len(), usize::from(ended.is_ok()));
        let Some(request) = requests.first().cloned() else { return Ok(()) };
        prop_assert!(tokens(&request) <= budget * 2);
        prop_assert!(unanswered_tool_uses(&request.messages).is_empty());
        let sent: Vec<_> = request.messages.iter().cloned().collect();
        // A text is sent, or its result has a reference, or it is in the summary: one of the three.
        let summarized = summarized.lock().unwrap().clone();
        let mut all = marks(&sent);
        let results = before.iter().flat_map(Msg::tool_results);
        let by_reference = references(&request.messages);
        let mut offloaded = Vec::new();
        for result in results {
            let own = Msg::tool_result(result.clone());
            let text = result.output.as_str();
            let head = text.split_once('>').unwrap().0.to_owned() + ">";
            if !sent.iter().any(|msg| serde_json::to_string(msg).unwrap().contains(&head))
                && !summarized.contains(&head)
            {
                offloaded.extend(marks(&[own]));
            }
        }
        prop_assert!(offloaded.len() <= by_reference.len());
        all.extend(offloaded);
        all.extend(before.iter().flat_map(|msg| marks(std::slice::from_ref(msg))).filter(|mark| {
            summarized.contains(&format!("<{mark}>"))
        }));
        all.sort();
        let mut expected = marks(&before);
        expected.sort();
        prop_assert_eq!(all, expected);
    }
}
