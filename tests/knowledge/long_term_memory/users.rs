//! Nobody's memories are in another's prompt.

use std::collections::BTreeMap;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_builtin::context::AutoContext;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::model::ContextSize;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::StoreError;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{LongTermMemory, Memories, MemoriesError, ProcessMemories};
use hooks_fixtures::Reports;
use proptest::prelude::*;
use serde_json::json;
use tracing::Level;

use crate::long_term_memory::faulty::Faulty;
use crate::long_term_memory::memories::ODD;
use crate::long_term_memory::{agent, entry, listed, on, rule, shown};

#[test]
fn without_a_user_nothing_is_read_or_written() {
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![entry("", "of nobody", 1), entry("ada", "of Ada", 1)])).unwrap();
    let memory = LongTermMemory::new(memories.clone(), rule());
    let (agent, script) = agent(&memory, 2);
    block_on(agent.call("I am ada, my user id is ada\nkeep: a")).unwrap();
    block_on(agent.call_with(on("", "one"), "keep: b")).unwrap();
    assert!(
        script
            .requests()
            .iter()
            .all(|request| request.messages.iter().all(|msg| msg.name != "memory"))
    );
    assert_eq!(
        (listed(&memories, ""), listed(&memories, "ada").len()),
        (vec!["of nobody".into()], 1)
    );
}

#[test]
fn a_user_is_required_by_choice() {
    let memory = LongTermMemory::new(ProcessMemories::new(), rule()).require_user(true);
    let (agent, script) = agent(&memory, 1);
    for options in [CallOptions::new(), on("", "one")] {
        let error = block_on(agent.call_with(options, "hello")).unwrap_err();
        let mut causes =
            std::iter::successors(Some(&error as &dyn std::error::Error), |it| it.source());
        let found = causes.find_map(|error| error.downcast_ref::<MemoriesError>());
        assert!(matches!(found, Some(MemoriesError::NoUser)), "{error:?}");
    }
    assert!(script.requests().is_empty());
    block_on(agent.call_with(on("ada", "one"), "hello")).unwrap();
}

#[test]
fn the_user_is_that_of_the_call_and_not_of_its_thread_or_its_values() {
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![entry("ada", "of Ada", 1), entry("bob", "of Bob", 1)])).unwrap();
    let memory = LongTermMemory::new(memories.clone(), rule());
    let (agent, script) = agent(&memory, 3);
    for user in ["ada", "bob"] {
        let options = on(user, "shared").value("ada".to_owned()).take_over(true);
        block_on(agent.call_with(options, "I am ada")).unwrap();
    }
    // Nobody says something on the thread of somebody.
    let of_nobody = agent.call_with(CallOptions::new().thread("shared"), "I am ada");
    assert!(matches!(block_on(of_nobody), Err(AgentError::Store(StoreError::OtherUser { .. }))));
    let of_nobody = agent.call_with(CallOptions::new().thread("another"), "I am ada");
    block_on(of_nobody).unwrap();
    let requests = script.requests();
    assert_eq!(shown(&requests[0]), ["of Ada"]);
    assert_eq!(shown(&requests[1]), ["of Bob"]);
    assert_eq!(shown(&requests[2]), [""; 0]);
}

#[test]
fn another_user_who_resumes_a_call_gets_nothing_of_what_was_said() {
    for (resumes, kept) in [("ada", 1), ("bob", 0)] {
        let memories = ProcessMemories::new();
        let entries = vec![entry("ada", "of Ada", 1), entry("bob", "of Bob", 1)];
        block_on(memories.add(entries)).unwrap();
        let memory = LongTermMemory::new(memories.clone(), rule());
        let ask = hooks_agent_core::prelude::on(|event: &mut PreActing<'_>| event.ask("may I?"));
        let look = FunctionTool::new("look", "Looks.", async |_: serde_json::Value| "seen");
        let calls = [ToolUse::new("1", "look", json!({}))];
        let script = Script::new().calls(calls).says("done");
        let builder = ReActAgent::builder("bot").model(script.clone()).tool(look);
        let agent = builder.hook(memory).hook(ask).build().unwrap();
        let reply = block_on(agent.call_with(on("ada", "shared"), "keep: Ada's secret")).unwrap();
        let options = on(resumes, "shared").confirm(&reply.pending()[0].id).take_over(true);
        block_on(agent.resume(options)).unwrap();
        let own = if resumes == "ada" { "of Ada" } else { "of Bob" };
        assert_eq!(shown(&script.requests()[1]), [own]);
        assert_eq!(listed(&memories, resumes).len(), 1 + kept);
        assert!(!listed(&memories, "bob").contains(&"Ada's secret".to_owned()));
    }
}

#[test]
fn a_sub_agent_has_the_user_of_its_caller() {
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![entry("ada", "of Ada", 1), entry("bob", "of Bob", 1)])).unwrap();
    let memory = LongTermMemory::new(memories.clone(), rule());
    let inner = Script::new().says("helped").says("helped");
    let helper = ReActAgent::builder("helper").model(inner.clone()).hook(memory.clone());
    let helper = helper.build().unwrap().to_tool("Helps.");
    let task = || [ToolUse::new("1", "helper", json!({ "task": "keep: from the helper" }))];
    let script = Script::new().calls(task()).says("done").calls(task()).says("done");
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(helper);
    let agent = builder.hook(memory).build().unwrap();
    for user in ["ada", "bob"] {
        block_on(agent.call_with(on(user, user), "go")).unwrap();
    }
    assert_eq!(shown(&inner.requests()[0]), ["of Ada"]);
    assert_eq!(shown(&inner.requests()[1]), ["of Bob"]);
    let entries = block_on(memories.list("bob")).unwrap();
    assert_eq!(&*entries[1].source.as_ref().unwrap().agent, "helper");
}

#[test]
fn memories_that_mix_up_users_are_left_out_and_reported() {
    let mut memories = Faulty::new();
    block_on(memories.add(vec![entry("ada", "of Ada", 1)])).unwrap();
    memories.mixes_up = Some("ada");
    let (agent, script) = agent(&LongTermMemory::new(memories, rule()), 1);
    let (subscriber, reports) = Reports::up_to(Level::ERROR);
    tracing::subscriber::with_default(subscriber, || {
        block_on(agent.call_with(on("bob", "one"), "hello")).unwrap();
    });
    assert_eq!(script.requests()[0].messages.len(), 1);
    assert_eq!(reports.take().len(), 1);
}

/// A model that answers with the entries it reads.
fn mirror() -> ScriptedModel {
    ScriptedModel::new("mirror", |request| -> ScriptedAnswer {
        let task = request.messages.iter().rfind(|msg| msg.name != "memory");
        let is_delegated = request.tools.iter().any(|tool| tool.name == "helper");
        match task.and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("{}\n{}", shown(request).join("\n"), result.output).into(),
            None if is_delegated => {
                ToolUse::new("1", "helper", json!({ "task": "what do you know" })).into()
            }
            None => format!("|{}", shown(request).join("\n")).into(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Many users at once, with names that look alike, on agents that share the hook, with a sub-agent:
    /// every answer has entries of its user alone, and all that it has room for.
    #[test]
    fn no_prompt_has_an_entry_of_another_user(
        calls in prop::collection::vec((0..ODD.len(), 0..3_usize, 0..2_usize), 1..40),
        background: bool,
    ) {
        let memories = ProcessMemories::new();
        let memory = LongTermMemory::new(memories.clone(), rule()).limit(1000).in_background(background);
        let build = |name: &str| ReActAgent::builder(name).model(mirror()).hook(memory.clone());
        let helper = build("helper").build().unwrap();
        let agents = [
            build("one").tool(helper.to_tool("Helps.")).build().unwrap(),
            build("two").build().unwrap(),
        ];
        let replies = block_on(join_all(calls.iter().enumerate().map(|(number, (user, thread, agent))| {
            let text = format!("keep: <{user}> number {number}");
            // Threads are shared by users.
            agents[*agent].call_with(on(ODD[*user], &thread.to_string()).take_over(true), text)
        })));
        block_on(memory.flush());
        let mut said: BTreeMap<usize, usize> = BTreeMap::new();
        for ((user, ..), reply) in calls.iter().zip(replies) {
            *said.entry(*user).or_default() += 1;
            let text = reply.unwrap().text();
            let mark = format!("<{user}> ");
            let entries = text.split(['\n', '|']).filter(|line| !line.is_empty());
            for line in entries {
                prop_assert!(line.starts_with(&mark), "{:?} reads {line:?}", ODD[*user]);
            }
        }
        for (user, count) in said {
            prop_assert_eq!(listed(&memories, ODD[user]).len(), count);
        }
    }
}

#[test]
fn the_mirror_of_the_property_shows_what_it_reads() {
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![entry("ada", "<0> seen", 1)])).unwrap();
    let memory = LongTermMemory::new(memories, rule());
    let agent = ReActAgent::builder("bot").model(mirror()).hook(memory).build().unwrap();
    assert_eq!(block_on(agent.call_with(on("ada", "one"), "go")).unwrap().text(), "|<0> seen");
}

#[test]
fn a_long_call_keeps_its_question_and_no_summary_has_memories() {
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![entry("ada", "SECRET of Ada", 1)])).unwrap();
    let summaries = (0..6).fold(Script::new(), |script, _| script.says("summary"));
    let auto = AutoContext::builder()
        .budget(ContextSize::Tokens(500))
        .window(2000)
        .keep(2)
        .summarize_with(HookModel::new(summaries.clone()))
        .build()
        .unwrap();
    let look = FunctionTool::new("look", "Looks.", async |_: serde_json::Value| "seen ".repeat(60));
    let round =
        |id: usize| [ToolUse::new(id.to_string(), "look", json!({ "why": "w".repeat(400) }))];
    let script = (0..6).fold(Script::new(), |script, id| script.calls(round(id))).says("done");
    let memory = LongTermMemory::new(memories, rule());
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(look);
    let agent = agent.hook(memory).hook(auto).build().unwrap();
    block_on(agent.call_with(on("ada", "shared"), "THE QUESTION")).unwrap();
    for request in script.requests() {
        let all: Vec<_> = request.messages.iter().map(Msg::text).collect();
        assert!(all.iter().any(|text| text == "THE QUESTION"), "{all:#?}");
    }
    for request in summaries.requests() {
        let all: Vec<_> = request.messages.iter().map(Msg::text).collect();
        assert!(!all.concat().contains("SECRET"), "{all:#?}");
    }
}
