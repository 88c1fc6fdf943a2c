//! A question to a person stands where nothing refuses the call: no event comes after the answer.

use serde_json::Value;

use crate::program::{guarded, guarded_by};

const PAY: &str = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "mcp__bank__pay",
    "tool_input": {"euros": 12, "to": "ann@example.com"}}"#;

const ASK: &str =
    "[[hook]]\nuse = \"human_in_the_loop\"\nwith = { tools = [\"mcp__bank__pay\"] }\n";

fn decision(output: &std::process::Output) -> (String, String) {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let specific = &answer["hookSpecificOutput"];
    let text = |name: &str| specific[name].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn what_refuses_a_call_refuses_it_though_another_hook_asks_first() {
    let rule = |then: &str| {
        format!("[[rule]]\nname = \"r\"\ntools = [\"mcp__bank__pay\"]\nthen = \"{then}\"\n")
    };
    let limit = "[[hook]]\nuse = \"tool_call_limit\"\nwith = { run = 0 }\n";
    let denied = "[limits]\ndeny_tools = [\"mcp__bank__pay\"]\n";
    let command = "[[command]]\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n";
    for (managed, project) in [
        (rule("deny"), rule("ask")),
        (rule("deny"), ASK.to_owned()),
        (denied.to_owned(), rule("ask")),
        (denied.to_owned(), ASK.to_owned()),
        (limit.to_owned(), ASK.to_owned()),
        (command.to_owned(), ASK.to_owned()),
        (String::new(), format!("{ASK}{denied}")),
        (String::new(), format!("{ASK}{}", rule("deny"))),
        (String::new(), format!("{limit}{ASK}")),
    ] {
        let (answer, why) = decision(&guarded_by(&managed, &project, PAY));
        assert_eq!(answer, "deny", "{why}:\n{managed}\n{project}");
    }
}

#[test]
fn a_question_stays_one_where_nothing_refuses_the_call() {
    let two =
        format!("{ASK}[[rule]]\nname = \"r\"\ntools = [\"mcp__bank__pay\"]\nthen = \"ask\"\n");
    for policy in [ASK, &two] {
        let (answer, why) = decision(&guarded(&format!("version = 1\n{policy}"), PAY));
        assert_eq!(answer, "ask", "{why}:\n{policy}");
        assert!(!why.is_empty());
    }
}

#[test]
fn a_question_that_some_users_alone_may_answer_is_a_deny() {
    let of = |approvers: &str| {
        format!(
            "[[rule]]\nname = \"r\"\ntools = [\"mcp__bank__pay\"]\nthen = \"ask\"\napprovers = {approvers}\n"
        )
    };
    let roles = of("{ roles = [\"manager\"] }");
    for (policy, who) in [
        (roles.clone(), "Only users with the role manager may answer this"),
        (of("{ not_self = true }"), "Only users who are authenticated may answer this"),
        (format!("{ASK}{roles}"), "the role manager"),
    ] {
        let (answer, why) = decision(&guarded(&format!("version = 1\n{policy}"), PAY));
        assert_eq!(answer, "deny", "{policy}");
        assert!(why.contains(who), "{why}");
    }
    // Asked first by one whom everybody may answer.
    let (answer, why) = decision(&guarded_by(&roles, ASK, PAY));
    assert_eq!(answer, "deny", "{why}");
}

#[test]
fn a_question_about_arguments_that_another_hook_changes_is_a_deny() {
    let output =
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"euros": 1}}}"#;
    let rewrites =
        format!("[[command]]\nevent = \"PreToolUse\"\ncommand = '''echo '{output}''''\n");
    let (answer, why) = decision(&guarded_by(&rewrites, "", PAY));
    assert_eq!(answer, "", "it passes with other arguments: {why}");
    let (answer, why) = decision(&guarded_by(&rewrites, ASK, PAY));
    assert_eq!(answer, "deny", "{why}");
}
