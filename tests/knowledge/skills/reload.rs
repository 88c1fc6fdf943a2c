//! Skills that change while agents run.

use std::fs;
use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Reports;
use serde_json::json;
use tracing::Level;

use crate::skills::{Folder, lines, offered, only, read, read_call};

#[test]
fn the_next_call_has_what_changed() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "One.", "First.").open();
    assert_eq!(offered(&skills), ["forms: One."]);
    // Of the same length, within the time of the file system.
    folder.skill("forms", "Two.", "Other.");
    assert_eq!(offered(&skills), ["forms: Two."]);
    assert_eq!(read(&skills, json!({ "name": "forms" })).output.as_str(), "Other.");
    folder.skill("tides", "Three.", "");
    assert_eq!(offered(&skills), ["forms: Two.", "tides: Three."]);
    fs::remove_dir_all(folder.join("forms")).unwrap();
    assert_eq!(offered(&skills), ["tides: Three."]);
    fs::rename(folder.join("tides"), folder.join("moon")).unwrap();
    folder.skill("moon", "Four.", "");
    assert_eq!(offered(&skills), ["moon: Four."]);
}

#[test]
fn a_folder_becomes_a_skill_when_its_file_comes() {
    let folder = Folder::new();
    let skills = folder.write("forms/notes.md", "a").open();
    assert_eq!(offered(&skills), [""; 0]);
    folder.skill("forms", "One.", "");
    assert_eq!(offered(&skills), ["forms: One."]);
}

#[test]
fn a_call_keeps_the_version_that_it_began_with() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "One.", "First.").open();
    let folder = Arc::new(folder);
    let edit = {
        let folder = folder.clone();
        on(move |_: &mut PreActing<'_>| {
            folder.skill("forms", "Two.", "Second.");
            fs::remove_dir_all(folder.join("tides")).ok();
        })
    };
    folder.skill("tides", "Three.", "Third.");
    let read = |id: &str, name: &str| ToolUse::new(id, "read_skill", json!({ "name": name }));
    let script = Script::new().calls([read("1", "forms"), read("2", "tides")]).says("done");
    let script = script.says("again");
    let builder = ReActAgent::builder("bot").model(script.clone());
    let agent = builder.hook(skills).hook(edit).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let messages = agent.memory().messages();
    let read: Vec<_> = messages.iter().flat_map(Msg::tool_results).collect();
    assert_eq!(read[0].output.as_str(), "First.");
    assert_eq!(read[1].output.as_str(), "Third.");
    assert_eq!(lines(&script.requests()[1]), ["forms: One.", "tides: Three."]);
    block_on(agent.call("go on")).unwrap();
    assert_eq!(lines(&script.requests()[2]), ["forms: Two."]);
}

#[test]
fn a_broken_edit_keeps_the_last_good_version_and_is_reported_once() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "One.", "First.").open();
    let (subscriber, reports) = Reports::up_to(Level::WARN);
    tracing::subscriber::with_default(subscriber, || {
        folder.write("forms/SKILL.md", "---\nname: forms\n---\n");
        assert_eq!(offered(&skills), ["forms: One."]);
        assert_eq!(offered(&skills), ["forms: One."]);
        assert_eq!(read(&skills, json!({ "name": "forms" })).output.as_str(), "First.");
        // Another edit with the same mistake, and one with another mistake.
        folder.write("forms/SKILL.md", "---\nname: forms\n---\nMore.");
        assert_eq!(offered(&skills), ["forms: One."]);
        assert!(only(&skills.broken()).contains("no `description`"));
        folder.write("forms/SKILL.md", "---\ndescription: Two.\n---\n");
        assert_eq!(offered(&skills), ["forms: One."]);
    });
    let reports = reports.take();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].contains("forms/SKILL.md:1: no `description`"), "{reports:?}");
    assert!(reports[1].contains("no `name`"), "{reports:?}");
    assert!(only(&skills.broken()).contains("no `name`"));
    folder.skill("forms", "Two.", "Second.");
    assert_eq!(offered(&skills), ["forms: Two."]);
    assert_eq!(skills.broken().len(), 0);
}

#[test]
fn a_file_that_is_gone_keeps_its_skill_while_the_folder_is_there() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "One.", "First.").open();
    fs::remove_file(folder.join("forms/SKILL.md")).unwrap();
    assert_eq!(offered(&skills), ["forms: One."]);
    assert!(only(&skills.broken()).contains("forms/SKILL.md cannot be read"));
    folder.skill("forms", "Two.", "");
    assert_eq!(offered(&skills), ["forms: Two."]);
    assert_eq!(skills.broken().len(), 0);
}

#[test]
fn a_folder_that_vanishes_keeps_its_skills_and_one_that_takes_its_place_is_read() {
    let folder = Folder::new();
    folder.write("now/forms/SKILL.md", "---\nname: forms\ndescription: One.\n---\nFirst.");
    folder.write("now/forms/list.md", "First list.");
    let skills = hooks_agent_knowledge::Skills::open([folder.join("now")]).unwrap();
    fs::rename(folder.join("now"), folder.join("before")).unwrap();
    assert_eq!(offered(&skills), ["forms: One."]);
    assert!(only(&skills.broken()).contains("now cannot be read"));
    let list = json!({ "name": "forms", "file": "list.md" });
    assert_eq!(read(&skills, list.clone()).output.as_str(), "First list.");
    // The same lengths and the same times, in another folder.
    folder.write("now/forms/SKILL.md", "---\nname: forms\ndescription: One.\n---\nFirst.");
    folder.write("now/forms/list.md", "Other list.");
    assert_eq!(read(&skills, list).output.as_str(), "Other list.");
    assert_eq!(skills.broken().len(), 0);
}

#[test]
fn a_skill_that_comes_later_does_not_take_the_name_of_another() {
    let (one, two) = (Folder::new(), Folder::new());
    two.skill("forms", "Two.", "");
    let skills = hooks_agent_knowledge::Skills::open([one.path(), two.path()]).unwrap();
    one.skill("forms", "One.", "");
    assert_eq!(offered(&skills), ["forms: Two."]);
    assert!(only(&skills.broken()).starts_with("two skills are named `forms`"));
    fs::remove_dir_all(two.join("forms")).unwrap();
    assert_eq!(offered(&skills), ["forms: One."]);
    assert_eq!(skills.broken().len(), 0);
}

#[test]
fn a_resumed_call_has_the_skills_of_now() {
    let folder = Folder::new();
    let skills = folder.skill("forms", "One.", "First.").open();
    let script = Script::new().calls([read_call(json!({ "name": "forms" }))]).says("done");
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let builder = ReActAgent::builder("bot").model(script.clone());
    let agent = builder.hook(skills).hook(ask).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    folder.skill("forms", "Two.", "Second.");
    let options = CallOptions::new().confirm(&reply.pending()[0].id);
    assert_eq!(block_on(agent.resume(options)).unwrap().text(), "done");
    assert_eq!(lines(&script.requests()[1]), ["forms: Two."]);
    let result = agent.memory().messages();
    let result = result.iter().flat_map(Msg::tool_results).next().unwrap().output.clone();
    assert_eq!(result.as_str(), "Second.");
}
