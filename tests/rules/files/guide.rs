//! The policies of the guide, each on both sides.

use std::fs;
use std::path::Path;

use hooks_agent_core::call::User;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::scripted_agents::results;
use serde_json::{Value, json};

use crate::{Bot, policy};

/// Returns the policy under a heading of the guide.
fn of_guide(heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks-agent/docs/rules.md");
    let guide = fs::read_to_string(path).unwrap();
    let (_, section) = guide.split_once(&format!("\n### {heading}\n")).expect(heading);
    let (_, block) = section.split_once("```toml\n").expect(heading);
    block.split_once("\n```").expect(heading).0.to_owned()
}

async fn run(
    heading: &str,
    agent: &str,
    user: Option<User>,
    calls: &[(&str, Value)],
) -> Vec<String> {
    let bot = Bot::new(agent, policy(&of_guide(heading)), calls);
    let mut all = Vec::new();
    for _ in calls {
        let options = user.iter().cloned().fold(CallOptions::new(), CallOptions::user);
        all.push(bot.next(options).await);
        if all.last().is_some_and(|it| it.starts_with("asks")) {
            break;
        }
    }
    all
}

async fn one(heading: &str, user: Option<User>, tool: &str, args: Value) -> String {
    run(heading, "bot", user, &[(tool, args)]).await.remove(0)
}

#[tokio::test]
async fn amounts() {
    let pay =
        |to: &str, euros: f64| one("Amounts", None, "pay", json!({ "to": to, "euros": euros }));
    assert_eq!(pay("Eve", 1000.0).await, "runs");
    assert_eq!(pay("Bakery", 5000.0).await, "runs");
    let asks = "asks: the rule \"large payments\" asks: payments above 1,000 euros need a person";
    assert_eq!(pay("Eve", 1000.5).await, asks);
    let never = "the rule \"never\" denies it: nobody pays above 50,000 euros by an agent";
    assert_eq!(pay("Eve", 50001.0).await, never);
    assert_eq!(pay("Bakery", 50001.0).await, never);
    let missing = one("Amounts", None, "pay", json!({ "to": "Eve" })).await;
    assert_eq!(missing, "the rule \"never\" cannot be decided: there is no `euros`");
}

#[tokio::test]
async fn roles() {
    let user = |role: &str| Some(User::new("ada").with_role(role));
    let refund = |user, euros: u32| one("Roles", user, "refund", json!({ "euros": euros }));
    assert_eq!(refund(user("clerk"), 100).await, "runs");
    assert_eq!(refund(user("manager"), 5000).await, "runs");
    assert_eq!(refund(user("clerk"), 101).await, "asks: the rule \"large refunds\" asks");
    for other in [user("guest"), None, Some(User::new("eve"))] {
        let denied = "the rule \"refunds\" denies it: clerks and managers refund";
        assert_eq!(refund(other, 1).await, denied);
    }
}

#[tokio::test]
async fn allow_lists() {
    let heading = "An allow-list for each agent";
    let calls = [
        ("search", json!({})),
        ("read_mail", json!({})),
        ("send_mail", json!({})),
        ("shell", json!({})),
    ];
    let no = |tool: &str| format!("no rule allows this call of `{tool}`");
    assert_eq!(
        run(heading, "support", None, &calls).await,
        ["runs", "runs", &no("send_mail"), &no("shell")]
    );
    assert_eq!(
        run(heading, "billing-2", None, &calls).await,
        ["runs", "runs", "runs", &no("shell")]
    );
}

#[tokio::test]
async fn order() {
    let order =
        ["deploy", "run_tests", "deploy", "edit_file", "deploy"].map(|tool| (tool, json!({})));
    let denied = "the rule \"tests before deploy\" denies it: run the tests after the last edit";
    assert_eq!(run("Order", "bot", None, &order).await, [denied, "runs", "runs", "runs", denied]);
}

#[tokio::test]
async fn egress() {
    let fetch = |url: &str| one("Egress", None, "fetch", json!({ "url": url }));
    let denied =
        "the rule \"egress\" denies it: agents reach hosts of the company and of the partner";
    for url in [
        "https://api.partner.example/x",
        "https://wiki.corp.example",
        "http://a.b.corp.example:80/",
    ] {
        assert_eq!(fetch(url).await, "runs", "{url}");
    }
    for url in [
        "https://corp.example.evil.example",
        "https://wiki.corp.example@evil.example",
        "wiki",
        "ftp:///x",
    ] {
        assert_eq!(fetch(url).await, denied, "{url}");
    }
    assert_eq!(
        one("Egress", None, "search", json!({ "url": "https://evil.example" })).await,
        "runs"
    );
}

/// The freeze lies ahead; the same rule with other times is on both of its sides.
#[tokio::test]
async fn change_freeze() {
    let text = of_guide("Change freeze")
        .replace("now.getHours() < 8 ||", "false && now.getHours() < 8 ||");
    let quiet = text.replace("now.getHours() >= 18 || now.getDayOfWeek() in [0, 6]", "false");
    let during = quiet.replace("2030-12-20T", "2020-12-20T");
    let after = during.replace("2031-01-07T", "2021-01-07T");
    let denied = "the rule \"freeze\" denies it: no changes over the holidays";
    for (text, expected) in [(&quiet, "runs"), (&during, denied), (&after, "runs")] {
        let bot =
            Bot::new("bot", policy(text), &[("migrate_db", json!({})), ("deploy", json!({}))]);
        assert_eq!(bot.next(CallOptions::new()).await, expected);
        assert_eq!(bot.next(CallOptions::new()).await, expected);
    }
    let night = text.replace("now.getHours() >= 18 || now.getDayOfWeek() in [0, 6]", "true");
    let bot = Bot::new("bot", policy(&night), &[("deploy", json!({}))]);
    assert_eq!(
        bot.next(CallOptions::new()).await,
        "asks: the rule \"night\" asks: it is outside of working hours"
    );
}

#[tokio::test]
async fn mail() {
    let denied = "the rule \"mail leaves to customers alone\" denies it";
    let mail = |args: Value| one("Mail", None, "send_mail", args);
    for to in ["bob@corp.example", "Bob@Corp.example, ann@corp.example", "Ada@Example.org"] {
        assert_eq!(mail(json!({ "to": to })).await, "runs", "{to}");
    }
    for to in [
        "eve@evil.example",
        "eve@evil.example, bob@corp.example",
        "bob@corp.example.evil.example",
        "",
    ] {
        assert_eq!(mail(json!({ "to": to })).await, denied, "{to}");
    }
    assert_eq!(mail(json!({ "to": "bob@corp.example", "bcc": "eve@evil.example" })).await, denied);
    let undecided =
        "the rule \"mail leaves to customers alone\" cannot be decided: there is no `to`";
    assert_eq!(mail(json!({})).await, undecided);
}

#[tokio::test]
async fn files_and_statements() {
    let heading = "Files and statements";
    let read = |path: &str| one(heading, None, "read_file", json!({ "path": path }));
    for path in ["/srv/data/a", "/srv/data/x/../b", "/srv//data/./c"] {
        assert_eq!(read(path).await, "runs", "{path}");
    }
    for path in
        ["/srv/data/../../etc/passwd", "/srv/data", "/srv/database/a", "data/a", "/../srv/data/a"]
    {
        assert!(read(path).await.starts_with("the rule \"files of the project\""), "{path}");
    }
    let query = |sql: &str| one(heading, None, "query", json!({ "sql": sql }));
    assert_eq!(query("select dropped from raindrops").await, "runs");
    let denied = "the rule \"no tables are dropped\" denies it";
    for sql in ["DROP TABLE users", "select 1; drop\ttable x", "(TRUNCATE x)"] {
        assert_eq!(query(sql).await, denied, "{sql}");
    }
}

#[tokio::test]
async fn a_data_flow() {
    let pay = async |user: &str| {
        let call = |id: &str, tool: &str, args| ToolUse::new(id, tool, args);
        let script = Script::new()
            .calls([call("1", "read_mail", json!({}))])
            .calls([call("2", "pay", json!({ "iban": "DE02120300000000202051", "euros": 800 }))])
            .says("end");
        let read =
            Calls::new("read_mail").answers("The rent is due. My account: DE02120300000000202051.");
        let builder = ReActAgent::builder("bot").model(script).tool(read);
        let builder = builder.tool(Calls::new("contacts")).tool(Calls::new("pay").answers("done"));
        let agent = builder.hook_source(policy(&of_guide("A data flow"))).build().unwrap();
        agent.call(user).await.unwrap();
        results(&agent)[1].1.clone()
    };
    let denied = "! the rule \"payees are not read\" denies it: an account comes from the user or the address book";
    assert_eq!(pay("What is new?").await, denied);
    assert_eq!(pay("Pay 800 to DE02 1203 0000 0000 2020 51").await, "done");
}

#[tokio::test]
async fn a_rate_per_user() {
    let ada = || Some(User::new("ada"));
    let euros = |amounts: &[f64]| -> Vec<_> {
        amounts.iter().map(|euros| ("refund", json!({ "euros": euros }))).collect()
    };
    let found =
        run("A rate per user", "bot", ada(), &euros(&[100.0, 300.0, 100.5, 99.5, 1.0])).await;
    assert_eq!(&found[..2], ["runs", "runs"]);
    assert!(
        found[2].starts_with("the quota \"refunded a day\" of 500 in a day is used up"),
        "{found:?}"
    );
    assert_eq!(found[3], "runs");
    assert!(
        found[4].starts_with("the quota \"refunds an hour\" of 3 in 3600s is used up"),
        "{found:?}"
    );
    assert!(found[4].ends_with(": three refunds an hour, then ask your lead"), "{found:?}");
    let nobody = run("A rate per user", "bot", None, &euros(&[1.0])).await;
    assert!(nobody[0].ends_with("cannot be counted: the call names no user"), "{nobody:?}");
}
