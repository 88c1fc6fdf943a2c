//! Rules of several layers, and how a plan shows them.

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{Policy, PolicyFile};
use serde_json::json;

use crate::Bot;

fn two(managed: &str, project: &str) -> Policy {
    let managed = PolicyFile::text("managed.toml", format!("version = 1\n{managed}"));
    let project = PolicyFile::text("project.toml", format!("version = 1\n{project}"));
    Policy::builder().managed(managed).project(project).open().unwrap()
}

const ALLOW: &str = "[[rule]]\nname = \"all\"\nthen = \"allow\"\n";

#[tokio::test]
async fn a_lower_layer_lifts_nothing() {
    let deny = "[[rule]]\nname = \"all\"\nthen = \"deny\"\n";
    let bot = Bot::new("bot", two(deny, ALLOW), &[("pay", json!({}))]);
    assert_eq!(bot.next(CallOptions::new()).await, "the rule \"all\" denies it");
    // Nor the default of a higher one.
    let bot = Bot::new("bot", two("[rules]\ndefault = \"deny\"\n", ALLOW), &[("pay", json!({}))]);
    assert_eq!(bot.next(CallOptions::new()).await, "no rule allows this call of `pay`");
}

#[tokio::test]
async fn variables_are_those_of_their_file_alone() {
    let managed = "vars = { payees = [\"Bakery\"] }\n[[rule]]\nname = \"known\"\nthen = \"deny\"\n\
                   when = \"!(args.to in vars.payees)\"\n";
    let project = "vars = { payees = [\"Eve\"] }\n";
    let bot = Bot::new("bot", two(managed, project), &[("pay", json!({ "to": "Eve" }))]);
    assert_eq!(bot.next(CallOptions::new()).await, "the rule \"known\" denies it");
}

#[tokio::test]
async fn what_ran_is_kept_for_each_file() {
    let order = |name: &str| {
        format!(
            "[[rule]]\nname = \"{name}\"\nthen = \"deny\"\ntools = [\"deploy\"]\nrequires = {{ tool = \"test\" }}\n"
        )
    };
    let policy = two(&order("one"), &order("other"));
    let calls = [("deploy", json!({})), ("test", json!({})), ("deploy", json!({}))];
    let bot = Bot::new("bot", policy, &calls);
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(bot.next(CallOptions::new()).await);
    }
    assert!(all[0].starts_with("the rule \"one\" denies it"), "{all:?}");
    assert_eq!(all[1..], ["runs", "runs"]);
}

#[test]
fn a_plan_lists_rules_with_their_places() {
    let managed = r#"
[rules]
default = "ask"

[[rule]]
name = "large payments"
tools = ["pay", "transfer_*"]
when = """
  args.euros > 1000
  && !(args.to in vars.payees)"""
then = "ask"
users = { roles = ["clerk"] }

[vars]
payees = ["Bakery"]
"#;
    let project = "[[rule]]\nname = \"new\"\nthen = \"deny\"\nmode = \"shadow\"\n";
    let merged = two(managed, project).merged();
    assert_eq!(
        merged.to_string(),
        "files, highest layer first\n\
         \x20 managed managed.toml\n\
         \x20 project project.toml\n\
         hooks, in the order in which they run\n\
         \x20   25 rules of managed.toml (rules), managed (managed.toml:3)\n\
         \x20   25 rules of project.toml (rules), project (project.toml:2)\n\
         rules: of all that match, the strictest holds\n\
         \x20 ask   large payments, managed (managed.toml:6)\n\
         \x20       tools = pay, transfer_*\n\
         \x20       when = args.euros > 1000 && !(args.to in vars.payees)\n\
         \x20       users = { roles = [\"clerk\"] }\n\
         \x20       warning: a call without a user has no roles, so the rule does not hold for it; `not_roles` \
         names those for whom it does not\n\
         \x20 deny  new, project (project.toml:2), in shadow\n\
         \x20       mode = shadow\n\
         \x20 ask what no rule of the file speaks of, managed (managed.toml:4)\n\
         limits: none\n"
    );
    let rule = &merged.rules()[0];
    assert_eq!((rule.name(), rule.then(), rule.is_shadow()), ("large payments", "ask", false));
    assert!(rule.warning().is_some() && merged.rules()[1].warning().is_none());
}
