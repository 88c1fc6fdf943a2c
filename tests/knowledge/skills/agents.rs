//! Skills in agents.

use std::sync::Arc;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::Skills;
use serde_json::json;

use crate::skills::{Folder, lines, read, read_call};

#[test]
fn the_prompt_has_names_and_descriptions_and_the_tool_the_instructions() {
    let folder = Folder::new();
    folder.skill("tides", "\"Says when\\nit is high tide.\"", "Ask the moon.");
    let skills = folder.skill("forms", "Fills forms.", "Do it.").open();
    let script = Script::new().calls([read_call(json!({ "name": "tides" }))]).says("done");
    let builder = ReActAgent::builder("bot").system_prompt("Be brief.").model(script.clone());
    let agent = builder.hook(skills).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let requests = script.requests();
    let system = requests[0].messages[0].text();
    assert!(system.starts_with("Be brief.\n# Skills\n"), "{system}");
    assert!(!system.contains("Ask the moon."));
    let offered = ["forms: Fills forms.", "tides: Says when it is high tide."];
    assert_eq!(lines(&requests[0]), offered);
    assert_eq!(lines(&requests[1]), offered);
    assert_eq!(
        requests[0].tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["read_skill"]
    );
    assert!(
        requests[1].messages.last().unwrap().tool_results().next().unwrap().output
            == "Ask the moon."
    );
    assert!(agent.memory().messages().iter().all(|msg| !msg.text().contains("# Skills")));
}

#[test]
fn no_skills_are_no_prompt() {
    let folder = Folder::new();
    let script = Script::new().says("done");
    let agent =
        ReActAgent::builder("bot").model(script.clone()).hook(folder.open()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(script.requests()[0].messages.len(), 1);
}

#[test]
fn an_unknown_skill_is_answered_with_the_names() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "Fills.", "").skill("tides", "Tides.", "").open();
    let result = read(&skills, json!({ "name": "form" }));
    assert!(result.is_error);
    assert_eq!(result.output.as_str(), "no skill named `form`, there are: forms, tides");
    let result = read(&skills, json!({}));
    assert!(result.output.as_str().contains("missing field `name`"), "{}", result.output);
    let result = read(&skills, json!({ "name": "forms", "file": "" }));
    assert!(!result.is_error);
}

#[test]
fn two_agents_share_the_skills_and_many_calls_run_at_once() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "Fills.", "Do it.").open();
    let model = || {
        ScriptedModel::new("reader", |request| -> ScriptedAnswer {
            match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                Some(result) => result.output.as_str().into(),
                None => read_call(json!({ "name": "forms" })).into(),
            }
        })
    };
    let agents: Vec<_> = ["one", "two"]
        .iter()
        .map(|name| ReActAgent::builder(*name).model(model()).hook(skills.clone()).build().unwrap())
        .collect();
    let calls = (0..64).map(|number| {
        let on_thread = CallOptions::new().thread(number.to_string());
        agents[number % 2].call_with(on_thread, "go")
    });
    for reply in block_on(join_all(calls)) {
        assert_eq!(reply.unwrap().text(), "Do it.");
    }
}

#[test]
fn calls_on_threads_see_whole_versions_while_skills_change() {
    let folder = Arc::new(Folder::new());
    let skills = folder.skill("forms", "0.", "0").open();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let result = read(&skills, json!({ "name": "forms" }));
                    assert!(!result.is_error && !result.output.as_str().is_empty());
                }
            });
        }
        for number in 0..50 {
            let text = format!("---\nname: forms\ndescription: {number}.\n---\n{number}\n");
            folder.write("next", text);
            std::fs::rename(folder.join("next"), folder.join("forms/SKILL.md")).unwrap();
        }
    });
    assert_eq!(skills.skills()[0].body(), "49");
    assert_eq!(skills.broken().len(), 0);
}

#[test]
fn a_sub_agent_has_no_skills_unless_it_gets_the_hook() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "Fills.", "Do it.").open();
    let helper = |script: &Script, hook: Option<Skills>| {
        let builder = ReActAgent::builder("helper").model(script.clone());
        hook.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build().unwrap()
    };
    for (hook, expected) in [(None, 0), (Some(skills.clone()), 1)] {
        let inner = Script::new().says("helped");
        let task = ToolUse::new("1", "helper", json!({ "task": "help" }));
        let outer = Script::new().calls([task]).says("done");
        let builder = ReActAgent::builder("bot").model(outer);
        let tool = helper(&inner, hook).to_tool("Helps.");
        let agent = builder.tool(tool).hook(skills.clone()).build().unwrap();
        block_on(agent.call("go")).unwrap();
        assert_eq!(inner.requests()[0].tools.len(), expected);
    }
}

#[test]
fn the_hook_runs_after_rules_and_before_hooks_of_the_program() {
    let folder = Folder::new();
    let skills = folder.open();
    assert_eq!((skills.priority(), skills.inherit(), Skills::PRIORITY), (82, false, 82));
    assert_eq!(format!("{skills:?}"), "Skills { skills: [], .. }");
}
