//! What `AuditLog` writes, and how its files survive.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent::builtin::{AuditError, AuditLog};
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use hooks_agent::testing::{Calls, Script};
use hooks_core::HookRole;
use hooks_tests::Reports;
use serde_json::{Value, json};
use tracing::Level;

/// A folder of its own, removed at the end.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("audit-{}", hooks_agent::call::RunId::random());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It may be gone.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of(records: &[Value], event: &str) -> Value {
    records.iter().find(|record| record["event"] == event).unwrap().clone()
}

fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({ "path": "SECRET-in" }))
}

/// Writes the lines of a call.
pub(crate) fn one_call(log: &AuditLog) {
    let script = Script::new().calls([call("1", "read")]).says("SECRET-end");
    let tool = Calls::new("read").answers("SECRET-out");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(log.clone());
    block_on(agent.build().unwrap().call("SECRET-prompt")).unwrap();
}

#[test]
fn each_step_is_a_line_without_content() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    one_call(&log);
    log.close().unwrap();
    let records = records(&folder.log());
    let events: Vec<_> = records.iter().map(|record| record["event"].as_str().unwrap()).collect();
    let expected =
        "OPENED PRE_CALL POST_REASONING PRE_ACTING POST_ACTING POST_REASONING POST_CALL SETTLED";
    assert_eq!(events.join(" "), expected);
    assert!(!fs::read_to_string(folder.log()).unwrap().contains("SECRET"));
    let result = of(&records, "POST_ACTING");
    assert_eq!((&result["tool"], &result["outcome"]), (&json!("read"), &json!("ok")));
    assert_eq!(result["result"]["bytes"], 10);
    // As `sha256sum` prints it.
    let hash = "d3aaeaf3592b2ff8b28d20e1d7d9cf67be68f88b9b4468b50940a42c857e8264";
    assert_eq!(result["result"]["sha256"], hash);
    assert_eq!(of(&records, "SETTLED")["outcome"], "finished");
    assert!(records.iter().skip(1).all(|record| record["run"] == records[1]["run"]));
    assert!(AuditLog::verify(folder.log()).unwrap().is_sealed());
}

#[test]
fn content_is_written_by_choice_as_earlier_hooks_left_it() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).content(true).open().unwrap();
    let redact = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output.map_text(|text| text.replace("SECRET", "masked"));
    });
    let key = on(|event: &mut PreActing<'_>| event.tool_use_mut().input["key"] = json!("SECRET"));
    let script = Script::new().calls([ToolUse::new("1", "read", json!({ "path": "/a" }))]);
    let agent = ReActAgent::builder("bot")
        .model(script.says("done"))
        .tool(Calls::new("read").answers("SECRET-out"))
        .hook(redact.named("redact"))
        .hook(key.named("key"))
        .hook(log.clone())
        .build()
        .unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(log.role(), Some(HookRole::Observes));
    let lines = records(&folder.log());
    assert_eq!(of(&lines, "POST_ACTING")["result"]["content"], "masked-out");
    assert_eq!(of(&lines, "POST_ACTING")["changed"], json!(["key"]));
    assert_eq!(of(&lines, "POST_REASONING")["tool_calls"][0]["input"]["content"]["path"], "/a");
    assert_eq!(of(&lines, "POST_CALL")["reply"]["content"], "done");
    assert!(!fs::read_to_string(folder.log()).unwrap().contains("SECRET"));
}

#[test]
fn what_hooks_decided_is_written_with_who_and_why() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let guard = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "delete" => event.refuse("never delete"),
        "pay" => event.ask("pay 5 EUR?"),
        "old" => {
            event.tool_use_mut().name = "new".to_owned();
            Flow::Continue
        }
        _ => Flow::Continue,
    });
    let calls = [call("1", "delete"), call("2", "old"), call("3", "broken"), call("4", "pay")];
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls(calls))
        .tool(Calls::new("delete"))
        .tool(Calls::new("new").answers("ok"))
        .tool(Calls::new("broken").fails("SECRET"))
        .tool(Calls::new("pay"))
        .hook(guard.named("guard"))
        .hook(log.clone())
        .build()
        .unwrap();
    block_on(agent.call("go")).unwrap();
    let lines = records(&folder.log());
    let results: Vec<_> = lines.iter().filter(|line| line["event"] == "POST_ACTING").collect();
    let [refused, renamed, failed] = &*results else { panic!("{results:?}") };
    assert_eq!(refused["outcome"], "refused");
    assert_eq!((&refused["by"], &refused["why"]), (&json!("guard"), &json!("never delete")));
    assert_eq!((&renamed["tool"], &renamed["asked_tool"]), (&json!("new"), &json!("old")));
    assert_eq!((&failed["outcome"], &failed["why"]), (&json!("error"), &Value::Null));
    assert_eq!(of(&lines, "ERROR")["error"], "Failed");
    let asks = lines.iter().rfind(|line| line["event"] == "PRE_ACTING").unwrap();
    assert_eq!(asks["decisions"], json!(["ask"]));
    let end = of(&lines, "POST_CALL");
    let pending = json!([{ "tool_call": "4", "tool": "pay", "by": "guard", "why": "permission",
        "question": "pay 5 EUR?" }]);
    assert_eq!((&end["reason"], &end["pending"]), (&json!("permission_asking"), &pending));
    assert!(!fs::read_to_string(folder.log()).unwrap().contains("SECRET"));
}

#[test]
fn stops_answers_errors_and_limits_are_written() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let builder = |name: &str| ReActAgent::builder(name.to_owned()).hook(log.clone());
    let cached = on(|event: &mut PreReasoning<'_>| event.answer(Msg::assistant("bot", "cached")));
    block_on(builder("cached").model(Script::new()).hook(cached).build().unwrap().call("go"))
        .unwrap();
    let stop = on(|event: &mut PreReasoning<'_>| event.stop());
    block_on(builder("stopped").model(Script::new()).hook(stop).build().unwrap().call("go"))
        .unwrap();
    let broken = on(|_: &mut PostReasoning<'_>| -> HookResult { Err("SECRET")? }).named("broken");
    let model = Script::new().says("hi");
    block_on(builder("broken").model(model).hook(broken).build().unwrap().call("go")).unwrap_err();
    let model = Script::new().calls([call("1", "read")]).fails(ModelError::status("SECRET", 503));
    let limited =
        builder("limited").model(model).tool(Calls::new("read").answers("x")).max_iters(1);
    block_on(limited.build().unwrap().call("go")).unwrap_err();

    let lines = records(&folder.log());
    let of_agent = |agent: &str, event: &str| {
        let found = lines.iter().find(|line| line["agent"] == agent && line["event"] == event);
        found.unwrap_or_else(|| panic!("{agent} {event}: {lines:#?}")).clone()
    };
    assert_eq!(of_agent("cached", "POST_REASONING")["is_answer_of_hook"], true);
    assert_eq!(of_agent("stopped", "PRE_REASONING")["decisions"], json!(["stop"]));
    let error = of_agent("broken", "ERROR");
    assert_eq!((&error["error"], &error["by"]), (&json!("Hook"), &json!("broken")));
    assert_eq!(of_agent("limited", "PRE_SUMMARY")["limit"], 1);
    assert_eq!(of_agent("limited", "ERROR")["phase"], "summary");
    assert_eq!(of_agent("limited", "SETTLED")["outcome"], "failed");
    assert!(!fs::read_to_string(folder.log()).unwrap().contains("SECRET"));
}

#[test]
fn a_log_is_continued_when_it_is_opened_again() {
    let folder = Folder::new();
    for _ in 0..3 {
        one_call(&AuditLog::builder(folder.log()).key("k").open().unwrap());
    }
    let verified = AuditLog::verify_with_key(folder.log(), "k").unwrap();
    assert_eq!((verified.lines, verified.sealed, verified.recoveries), (24, 24, 0));
}

#[test]
fn two_logs_do_not_write_to_one_file() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let second = AuditLog::builder(folder.log()).open();
    assert!(matches!(second, Err(AuditError::InUse { .. })), "{second:?}");
    drop(log);
    AuditLog::builder(folder.log()).open().unwrap();
}

#[test]
fn a_line_that_a_kill_tore_is_cut_off_and_the_chain_goes_on() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let whole = fs::read(folder.log()).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // Whatever the place; the head is of an earlier end.
    for cut in (last_line + 1..whole.len()).step_by(7) {
        fs::write(folder.log(), &whole[..cut]).unwrap();
        fs::remove_file(folder.0.join("audit.jsonl.head")).unwrap();
        let torn = AuditLog::verify(folder.log()).unwrap();
        assert_eq!((torn.lines, torn.torn_bytes), (7, (cut - last_line) as u64));
        assert!(!torn.is_sealed());
        one_call(&AuditLog::builder(folder.log()).open().unwrap());
        let verified = AuditLog::verify(folder.log()).unwrap();
        assert_eq!((verified.lines, verified.recoveries, verified.torn_bytes), (15, 1, 0));
        assert!(verified.is_sealed());
    }
}

#[test]
fn a_whole_line_without_its_line_feed_is_kept() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let whole = fs::read(folder.log()).unwrap();
    fs::write(folder.log(), &whole[..whole.len() - 1]).unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
    drop(AuditLog::builder(folder.log()).open().unwrap());
    let verified = AuditLog::verify(folder.log()).unwrap();
    assert_eq!((verified.lines, verified.recoveries), (9, 0));
}

#[test]
fn a_file_with_only_a_part_of_its_first_line_begins_anew() {
    let folder = Folder::new();
    fs::write(folder.log(), r#"{"seq":1,"ti"#).unwrap();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let verified = AuditLog::verify(folder.log()).unwrap();
    assert_eq!((verified.lines, verified.recoveries), (8, 1));
}

#[test]
fn files_are_rotated_and_verified_in_order() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(2000).open().unwrap();
    for _ in 0..5 {
        one_call(&log);
    }
    drop(log);
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(2000).open().unwrap();
    one_call(&log);
    drop(log);
    let verified = AuditLog::verify_with_key(folder.log(), "k").unwrap();
    assert_eq!((verified.lines, verified.is_sealed()), (1 + 7 * 6 + 1, true));
    let rotated = |number: usize| folder.0.join(format!("audit.jsonl.{number}"));
    let count = (1..).take_while(|number| rotated(*number).exists()).count();
    assert!(count > 4);
    for number in 1..=count {
        assert!(fs::metadata(rotated(number)).unwrap().len() <= 2000);
    }
    let last = records(&rotated(1)).last().unwrap()["hash"].clone();
    assert_eq!(records(&rotated(2))[0]["prev"], last);

    let mut files: Vec<_> = (1..=count).map(rotated).collect();
    files.push(folder.log());
    assert_eq!(AuditLog::verify_files(&files, Some(b"k")).unwrap(), verified);
    files.swap(0, 1);
    assert!(AuditLog::verify_files(&files, Some(b"k")).is_err());
    // A file that is gone.
    fs::rename(rotated(2), folder.0.join("away")).unwrap();
    let removed = AuditLog::verify_with_key(folder.log(), "k").unwrap_err();
    assert!(matches!(removed, AuditError::Removed { line: 1, .. }), "{removed}");

    // The log goes on behind its last file, and overwrites none.
    fs::remove_file(rotated(1)).unwrap();
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(1000).open().unwrap();
    one_call(&log);
    assert!(!rotated(1).exists() && !rotated(2).exists() && rotated(count + 1).exists());
}

#[test]
fn a_kill_between_two_files_loses_nothing() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    fs::rename(folder.log(), folder.0.join("audit.jsonl.1")).unwrap();
    assert!(AuditLog::verify(folder.log()).unwrap().is_sealed());
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 16);
}

#[test]
fn a_file_of_something_else_is_not_continued() {
    let folder = Folder::new();
    fs::write(folder.log(), "hello\nworld\n").unwrap();
    let error = AuditLog::builder(folder.log()).open().unwrap_err();
    assert!(matches!(error, AuditError::Changed { line: 2, .. }), "{error}");
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "hello\nworld\n");
    one_call(&AuditLog::builder(folder.0.join("keyed")).key("a").open().unwrap());
    assert!(AuditLog::builder(folder.0.join("keyed")).key("b").open().is_err());
    assert!(matches!(AuditLog::builder(folder.log()).key("").open(), Err(AuditError::EmptyKey)));
}

/// A log that cannot be written to until `audit.jsonl.1` is gone.
fn full(folder: &Folder, fail_fast: bool) -> AuditLog {
    let log = AuditLog::builder(folder.log()).fail_fast(fail_fast).rotate_at(1).open().unwrap();
    // The next line needs a new file, whose name is taken.
    fs::create_dir(folder.0.join("audit.jsonl.1")).unwrap();
    File::create(folder.0.join("audit.jsonl.1/x")).unwrap();
    log
}

#[test]
fn a_line_that_cannot_be_written_fails_the_call_before_anything_happens() {
    let folder = Folder::new();
    let log = full(&folder, true);
    let model = Script::new().says("never");
    let agent = ReActAgent::builder("bot").model(model.clone()).hook(log).build().unwrap();
    let error = block_on(agent.call("go")).unwrap_err();
    assert!(error.to_string().contains("AuditLog"), "{error}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_line_that_cannot_be_written_is_reported_by_choice_and_the_chain_goes_on() {
    let folder = Folder::new();
    let log = full(&folder, false);
    let (reports, reported) = Reports::up_to(Level::WARN);
    tracing::subscriber::with_default(reports, || one_call(&log));
    assert_eq!(reported.take().iter().filter(|it| it.contains("audit log")).count(), 7);
    fs::remove_dir_all(folder.0.join("audit.jsonl.1")).unwrap();
    one_call(&log);
    log.close().unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
}

#[test]
fn a_closed_log_fails_calls() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    log.close().unwrap();
    log.close().unwrap();
    let agent = ReActAgent::builder("bot").model(Script::new().says("never")).hook(log);
    assert!(block_on(agent.build().unwrap().call("go")).is_err());
    assert!(AuditLog::verify(folder.log()).unwrap().is_sealed());
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_calls_at_once_are_in_order() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(20_000).open().unwrap();
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let is_answered = request.messages.last().is_some_and(|msg| msg.role == Role::Tool);
        let calls = ["1", "2", "3"].map(|id| ContentBlock::ToolUse(call(id, "read")));
        if is_answered { "done".into() } else { calls.to_vec().into() }
    });
    let read = FunctionTool::new("read", "Reads.", async |_: Value| {
        tokio::task::yield_now().await;
        "text"
    });
    let builder = ReActAgent::builder("bot").model(model).tool(read).parallel_tools(true);
    let agent = Arc::new(builder.hook(log.clone()).build().unwrap());
    let start = |number: u32| {
        let options = CallOptions::new().thread(number.to_string());
        tokio::spawn(agent.clone().call_owned(options, "go"))
    };
    for ended in join_all((0..64).map(start)).await {
        ended.unwrap().unwrap();
    }
    log.close().unwrap();
    let verified = AuditLog::verify_with_key(folder.log(), "k").unwrap();
    assert_eq!((verified.lines, verified.is_sealed()), (1 + 64 * 11, true));
}

#[test]
fn a_cancelled_call_has_its_end_in_the_log() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let hang = FunctionTool::new("read", "Hangs.", async |_: Value| -> String {
        std::future::pending().await
    });
    let script = Script::new().calls([call("1", "read")]);
    let agent = ReActAgent::builder("bot").model(script).tool(hang).hook(log).build().unwrap();
    block_on(async {
        let mut running = Box::pin(agent.call("go"));
        assert!(futures::poll!(&mut running).is_pending());
    });
    let lines = records(&folder.log());
    assert_eq!(lines.last().unwrap()["outcome"], "cancelled");
    assert_eq!(lines[lines.len() - 2]["event"], "PRE_ACTING");
}

#[test]
fn nothing_of_the_key_or_the_content_is_in_debug() {
    let folder = Folder::new();
    let builder = AuditLog::builder(folder.log()).key("SECRET");
    let text = format!("{builder:?}");
    assert!(!text.contains("SECRET"));
    assert!(!format!("{:?}", builder.open().unwrap()).contains("SECRET"));
}

#[test]
fn every_line_is_on_the_disk_by_choice() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).sync_every_line(true).rotate_at(3000).open().unwrap();
    one_call(&log);
    log.close().unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
    // Not a line of the log.
    File::options().append(true).open(folder.log()).unwrap().write_all(b"x").unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().torn_bytes, 1);
}
