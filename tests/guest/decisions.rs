//! Decisions of hooks about the events of another agent.

use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_builtin::guard::{InjectPrompt, PiiDetection, RuleOfTwo};
use hooks_agent_builtin::limit::ToolCallLimit;
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::event::{PostActing, PostReasoning, PreActing, PreCall};
use hooks_agent_core::hook::on;
use hooks_agent_core::message::Msg;
use hooks_agent_guest::{Guard, GuestThread};
use hooks_agent_policy::command::{HookDecision, Output, PermissionDecision};
use hooks_agent_rules::{Rules, Then, ToolRule};
use hooks_core::HookResult;
use serde_json::json;

use crate::sources::{decide, event, guard, permission, post_tool_use, pre_tool_use};

#[tokio::test]
async fn a_tool_call_that_passes_has_no_decision() {
    let guard = guard(on(|_: &mut PreActing<'_>| {}));
    let output = decide(&guard, &pre_tool_use("1", "Bash", json!({ "command": "ls" }))).await;
    assert_eq!(output, Output::default());
}

#[tokio::test]
async fn a_refused_tool_call_is_denied_with_its_reason() {
    let guard = guard(on(|event: &mut PreActing<'_>| event.refuse("no shell")));
    let output = decide(&guard, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(permission(&output), Some((PermissionDecision::Deny, "no shell".into())));
}

#[tokio::test]
async fn an_answer_in_place_of_the_tool_is_denied_with_the_answer() {
    let guard = guard(on(|event: &mut PreActing<'_>| event.answer("42")));
    let (decision, reason) =
        permission(&decide(&guard, &pre_tool_use("1", "Bash", json!({}))).await).unwrap();
    assert_eq!(decision, PermissionDecision::Deny);
    assert!(reason.ends_with("42"), "{reason}");
}

#[tokio::test]
async fn hooks_that_ask_or_stop_make_the_agent_ask() {
    let asks = guard(on(|event: &mut PreActing<'_>| event.ask("is it safe?")));
    let output = decide(&asks, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(permission(&output), Some((PermissionDecision::Ask, "is it safe?".into())));

    let stops = guard(on(|event: &mut PreActing<'_>| event.stop()));
    let output = decide(&stops, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(permission(&output).unwrap().0, PermissionDecision::Ask);

    let people = guard(HumanInTheLoop::new().ask("Bash"));
    let output = decide(&people, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(permission(&output).unwrap().0, PermissionDecision::Ask);
    let output = decide(&people, &pre_tool_use("1", "Read", json!({}))).await;
    assert_eq!(output, Output::default());
}

#[tokio::test]
async fn changed_arguments_are_passed_on_without_a_decision() {
    let guard = guard(on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input["path"] = json!("b");
    }));
    let output = decide(&guard, &pre_tool_use("1", "Write", json!({ "path": "a" }))).await;
    let specific = output.hook_specific_output.clone().unwrap();
    assert_eq!(specific.updated_input.unwrap()["path"], "b");
    assert_eq!(permission(&output), None);
}

#[tokio::test]
async fn another_tool_or_arguments_of_no_object_are_denied() {
    let renames = guard(on(|event: &mut PreActing<'_>| event.tool_use_mut().name = "rm".into()));
    let spoils = guard(on(|event: &mut PreActing<'_>| event.tool_use_mut().input = json!([1])));
    for guard in [renames, spoils] {
        let output = decide(&guard, &pre_tool_use("1", "Write", json!({}))).await;
        assert_eq!(permission(&output).unwrap().0, PermissionDecision::Deny);
    }
}

#[tokio::test]
async fn a_hook_that_fails_denies_without_its_error_text() {
    let guard = guard(on(|_: &mut PreActing<'_>| -> HookResult { Err("secret hunter2".into()) }));
    let output = decide(&guard, &pre_tool_use("1", "Bash", json!({}))).await;
    let (decision, reason) = permission(&output).unwrap();
    assert_eq!(decision, PermissionDecision::Deny);
    assert!(reason.contains("could not check") && !reason.contains("hunter2"), "{reason}");
}

#[tokio::test]
async fn a_hook_that_jumps_to_the_end_ends_the_run() {
    let guard = guard(on(|event: &mut PreActing<'_>| event.jump_to_end()));
    let output = decide(&guard, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(output.continues, Some(false));
}

#[tokio::test]
async fn a_tool_call_without_a_name_is_denied() {
    let guard = guard(on(|_: &mut PreActing<'_>| {}));
    let output = decide(&guard, &event("PreToolUse")).await;
    assert_eq!(permission(&output).unwrap().0, PermissionDecision::Deny);
}

#[tokio::test]
async fn limits_of_a_thread_hold_over_events() {
    let guard = guard(ToolCallLimit::all().thread(2).build().unwrap());
    let mut thread = GuestThread::default();
    let mut decisions = Vec::new();
    for id in ["1", "2", "3"] {
        let output = guard.decide(&pre_tool_use(id, "Bash", json!({})), &mut thread).await;
        decisions.push(output == Output::default());
    }
    assert_eq!(decisions, [true, true, false]);
}

#[tokio::test]
async fn limits_of_a_run_begin_again_with_the_next_prompt() {
    let guard = guard(ToolCallLimit::all().run(1).build().unwrap());
    let mut thread = GuestThread::default();
    let mut decisions = Vec::new();
    for (prompt, id) in [("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")] {
        let mut input = pre_tool_use(id, "Bash", json!({}));
        input.prompt_id = Some(prompt.into());
        decisions.push(guard.decide(&input, &mut thread).await == Output::default());
    }
    assert_eq!(decisions, [true, false, true, false]);

    // Without ids of prompts, a prompt begins the run.
    let mut thread = GuestThread::default();
    let mut decisions = Vec::new();
    for name in ["PreToolUse", "PreToolUse", "UserPromptSubmit", "PreToolUse"] {
        let mut input = pre_tool_use("1", "Bash", json!({}));
        (input.hook_event_name, input.prompt_id) = (name.into(), None);
        input.prompt = Some("go on".into());
        input.tool_use_id = Some(decisions.len().to_string());
        decisions.push(guard.decide(&input, &mut thread).await == Output::default());
    }
    assert_eq!(decisions, [true, false, true, true]);
}

#[tokio::test]
async fn the_rule_of_two_holds_over_events() {
    let rule = RuleOfTwo::new()
        .untrusted_input(["WebFetch"])
        .private_data(["Read"])
        .changes_state(["Bash"]);
    let guard = guard(rule);
    let mut thread = GuestThread::default();
    for (tool, passes) in [("WebFetch", true), ("Read", true), ("Bash", false)] {
        let output = guard.decide(&pre_tool_use(tool, tool, json!({})), &mut thread).await;
        assert_eq!(output == Output::default(), passes, "{tool}: {output:?}");
    }
}

#[tokio::test]
async fn a_prompt_with_what_hooks_remove_is_blocked() {
    for hook in [PiiDetection::email(), PiiDetection::email().strategy(PiiStrategy::Block)] {
        let guard = guard(hook);
        let mut input = event("UserPromptSubmit");
        input.prompt = Some("write to ada@example.com".into());
        let output = decide(&guard, &input).await;
        assert_eq!(output.decision, Some(HookDecision::Block));
        assert!(!output.reason.unwrap().contains("ada@example.com"));
        input.prompt = Some("write to Ada".into());
        assert_eq!(decide(&guard, &input).await, Output::default());
    }
}

#[tokio::test]
async fn a_prompt_that_a_hook_answers_is_blocked_with_the_answer() {
    let guard = guard(on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("a", "closed"))));
    let mut input = event("UserPromptSubmit");
    input.prompt = Some("hello".into());
    let output = decide(&guard, &input).await;
    assert_eq!(
        (output.decision, output.reason.as_deref()),
        (Some(HookDecision::Block), Some("closed"))
    );
}

#[tokio::test]
async fn a_result_is_replaced_by_what_hooks_leave_of_it() {
    let guard = guard(PiiDetection::email().tool_results(true));
    let output = decide(&guard, &post_tool_use("Read", json!("mail ada@example.com"))).await;
    let changed = output.hook_specific_output.unwrap().updated_tool_output.unwrap();
    assert_eq!(changed, json!("mail [REDACTED_EMAIL]"));

    let response = json!({ "stdout": "ada@example.com", "code": 0 });
    let output = decide(&guard, &post_tool_use("Bash", response)).await;
    let changed = output.hook_specific_output.unwrap().updated_tool_output.unwrap();
    assert_eq!(changed, json!({ "stdout": "[REDACTED_EMAIL]", "code": 0 }));

    let output = decide(&guard, &post_tool_use("Read", json!("nothing"))).await;
    assert_eq!(output, Output::default());
}

#[tokio::test]
async fn a_result_that_no_hook_could_check_is_withheld() {
    let guard = guard(on(|_: &mut PostActing<'_>| -> HookResult { Err("broken".into()) }));
    let output = decide(&guard, &post_tool_use("Read", json!("hunter2"))).await;
    assert_eq!(output.decision, Some(HookDecision::Block));
    let text = serde_json::to_string(&output).unwrap();
    assert!(text.contains("withheld") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn hooks_that_send_the_model_on_block_the_end() {
    let guard = guard(on(|event: &mut PostReasoning<'_>| {
        event.jump_to_model(vec![Msg::user("run the tests")]).unwrap()
    }));
    let mut input = event("Stop");
    input.last_assistant_message = Some("done".into());
    let output = decide(&guard, &input).await;
    assert_eq!(output.reason.as_deref(), Some("run the tests"));
    // Once is enough: the agent would never end.
    input.stop_hook_active = Some(true);
    assert_eq!(decide(&guard, &input).await, Output::default());
}

#[tokio::test]
async fn a_hook_that_cannot_check_the_end_ends_the_run() {
    let fails = guard(on(|_: &mut PostReasoning<'_>| -> HookResult { Err("hunter2".into()) }));
    let panics = guard(on(|_: &mut PostReasoning<'_>| -> HookResult { panic!("hunter2") }));
    for name in ["Stop", "SubagentStop"] {
        let mut input = event(name);
        input.last_assistant_message = Some("done".into());
        for guard in [&fails, &panics] {
            let output = decide(guard, &input).await;
            assert_eq!(output.continues, Some(false), "{name}");
            let reason = output.stop_reason.unwrap();
            assert!(reason.contains("could not check"), "{reason}");
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }
}

#[tokio::test]
async fn rules_for_the_prompt_are_context_of_the_session() {
    let guard = guard(InjectPrompt::new("Never push to main."));
    let output = decide(&guard, &event("SessionStart")).await;
    let text = output.hook_specific_output.unwrap().additional_context.unwrap();
    assert!(text.contains("Never push to main."));
}

#[tokio::test]
async fn other_events_have_no_answer() {
    let guard: Guard = guard(on(|event: &mut PreActing<'_>| event.refuse("no")));
    for name in ["Notification", "SessionEnd", "PermissionRequest", "PreCompact", "TeammateIdle"] {
        assert_eq!(decide(&guard, &event(name)).await, Output::default(), "{name}");
    }
}

#[tokio::test]
async fn a_hook_that_panics_blocks_its_event() {
    let guard = guard(on(|_: &mut PreActing<'_>| -> HookResult { panic!("hunter2") }));
    let output = decide(&guard, &pre_tool_use("1", "Bash", json!({}))).await;
    assert_eq!(permission(&output).unwrap().0, PermissionDecision::Deny);
    assert!(!serde_json::to_string(&output).unwrap().contains("hunter2"));
}

#[tokio::test]
async fn an_event_without_what_is_decided_about_is_blocked() {
    let guard = guard(on(|_: &mut PreActing<'_>| {}));
    let output = decide(&guard, &event("UserPromptSubmit")).await;
    assert_eq!(output.decision, Some(HookDecision::Block));
    let mut input = event("PostToolUse");
    input.tool_name = Some("Read".into());
    assert_eq!(decide(&guard, &input).await.decision, Some(HookDecision::Block));
}

#[tokio::test]
async fn a_hook_that_stops_after_a_tool_call_ends_the_run() {
    let stops = guard(on(|event: &mut PostActing<'_>| event.stop()));
    let output = decide(&stops, &post_tool_use("Bash", json!("done"))).await;
    assert_eq!(output.continues, Some(false));
    let reason = output.stop_reason.unwrap();
    assert_eq!(reason, "a hook stopped the run after this tool call");
    let passes = guard(on(|_: &mut PostActing<'_>| {}));
    let output = decide(&passes, &post_tool_use("Bash", json!("done"))).await;
    assert_eq!((output.continues, output.stop_reason), (None, None));
}

/// Rules about `server::tool` are about the tools that a coding agent calls `mcp__server__tool`, and about no others.
#[tokio::test]
async fn rules_about_servers_are_about_their_tools_alone() {
    let rules = |then| ToolRule::new("bank", then).tools(["bank::*"]);
    let denies = guard(Rules::builder().rule(rules(Then::Deny)).build().unwrap());
    let allows = Rules::builder().rule(rules(Then::Allow)).otherwise(Then::Deny);
    let allows = guard(allows.build().unwrap());
    let asks = guard(Rules::builder().rule(rules(Then::Ask)).build().unwrap());
    for (tool, is_bank) in [("mcp__bank__pay", true), ("mcp__shop__pay", false), ("Bash", false)] {
        let decided = async |guard| {
            let output = decide(guard, &pre_tool_use("1", tool, json!({}))).await;
            permission(&output).map(|(decision, _)| decision)
        };
        let deny = PermissionDecision::Deny;
        assert_eq!(decided(&denies).await, is_bank.then_some(deny), "{tool}");
        assert_eq!(decided(&allows).await, (!is_bank).then_some(deny), "{tool}");
        assert_eq!(decided(&asks).await, is_bank.then_some(PermissionDecision::Ask), "{tool}");
    }
}
