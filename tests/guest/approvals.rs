//! `hooks-agent approvals`, over a store with one approval.

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{ApprovalRule, Decision, Filter, Reach, Store, Verdict};
use hooks_agent_sql::store::SqliteStore;
use serde_json::{Value, json};

use crate::program::run;

fn text(output: &[u8]) -> &str {
    std::str::from_utf8(output).unwrap()
}

#[tokio::test]
async fn approvals_are_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents.db");
    let path = file.to_str().unwrap();
    let missing = run(&["approvals", "--store", path, "list"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(!file.exists(), "a store is not made");

    let store = SqliteStore::open(&file).await.unwrap();
    let model = ScriptedModel::new("payer", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(_) => "Done.".into(),
            None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
        }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let agent = ReActAgent::builder("clerk").model(model).tool(pay).store(store.clone());
    let agent = agent.hook(HumanInTheLoop::new().ask("pay")).build().unwrap();
    let on_ada = || CallOptions::new().thread("monday").user("ada");
    agent.call_with(on_ada(), "Pay").await.unwrap();
    let id = store.waiting(Filter::all()).await.unwrap()[0].id.clone();
    let yes = Verdict::new(id, Decision::Approve).by("eve");
    let yes = yes.remember(Reach::Thread, ApprovalRule::exact().uses(4));
    agent.resume(on_ada().verdict(yes)).await.unwrap();
    agent.call_with(on_ada(), "Pay").await.unwrap();

    let listed = run(&["approvals", "--store", path, "list", "--agent", "clerk"], "");
    let lines: Vec<_> = text(&listed.stdout).lines().collect();
    let id = lines[0].split_once(' ').unwrap().0;
    assert_eq!(
        lines,
        [
            &*format!("{id}  `pay` on this thread, by eve: exactly these arguments; 4 calls"),
            "    agent clerk, thread monday, user ada",
            "    shown: {\"euros\":12}",
            "    used 1 of 4; expires in 29 days",
        ]
    );
    let none = run(&["approvals", "--store", path, "list", "--user", "bob"], "");
    assert_eq!(text(&none.stdout), "no approval is remembered\n");

    let revoke = |id: &str| run(&["approvals", "--store", path, "revoke", id, "--by", "bob"], "");
    let revoked = revoke(id);
    assert_eq!(
        (text(&revoked.stdout), revoked.status.code()),
        (&*format!("revoked {id}\n"), Some(0))
    );
    assert_eq!(revoke(id).status.code(), Some(1));
    let reply = agent.call_with(on_ada(), "Pay").await.unwrap();
    assert_eq!(reply.pending().len(), 1);
    let all = run(&["approvals", "--store", path, "list", "--all"], "");
    assert!(text(&all.stdout).contains("used 1 of 4; revoked by bob"));
}
