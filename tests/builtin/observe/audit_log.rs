//! The lines of an `AuditLog`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_builtin::observe::AuditLog;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_core::HookRole;
use serde_json::{Value, json};

/// A folder of its own, removed at the end.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("audit-{}", hooks_agent_core::call::RunId::random());
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

pub(crate) fn records(path: &Path) -> Vec<Value> {
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
    let settled = of(&records, "SETTLED");
    assert_eq!(
        (&settled["outcome"], &settled["reason"]),
        (&json!("finished"), &json!("model_stop"))
    );
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

#[tokio::test]
async fn what_a_hook_in_shadow_would_have_done_is_a_line_without_content() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let guard = on(|event: &mut PreActing<'_>| event.refuse("SECRET-why")).named("guard");
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("SECRET-sign"));
    let (guard, sign) = (guard.in_shadow(), sign.named("sign").in_shadow());
    let idle = on(|_: &mut PreActing<'_>| {}).named("idle").in_shadow();
    let script = Script::new().calls([call("1", "read")]).says("SECRET-end");
    let tool = Calls::new("read").answers("SECRET-out");
    let builder = ReActAgent::builder("bot").model(script).tool(tool).hook(log.clone());
    let builder = builder.hook(guard.clone()).hook(sign.clone()).hook(idle.clone());
    builder.build().unwrap().call("SECRET-prompt").await.unwrap();
    for hook in [guard, idle] {
        hook.caught_up().await;
    }
    sign.caught_up().await;
    log.close().unwrap();
    let records = records(&folder.log());
    let shadow: Vec<_> = records.iter().filter(|record| record["event"] == "SHADOW").collect();
    let said = |hook: &str| shadow.iter().find(|record| record["hook"] == hook).unwrap();
    assert_eq!(shadow.len(), 2, "{shadow:#?}");
    let refused = said("guard");
    assert_eq!(
        (&refused["at"], &refused["would"], &refused["tool_call"]),
        (&json!("PRE_ACTING"), &json!("refuse"), &json!("1"))
    );
    assert_eq!(
        (&said("sign")["at"], &said("sign")["would"]),
        (&json!("POST_CALL"), &json!("change"))
    );
    assert_eq!(refused["run"], of(&records, "PRE_CALL")["run"]);
    assert!(!fs::read_to_string(folder.log()).unwrap().contains("SECRET"));
    AuditLog::verify(folder.log()).unwrap();
}
