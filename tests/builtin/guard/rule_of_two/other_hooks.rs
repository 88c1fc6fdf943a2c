//! Hooks that refuse, answer, change and judge tool calls beside the rule.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_agent_builtin::guard::{Decision, ToolApproval};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

use crate::rule_of_two::{
    agent, agent_named, asked, call, confirm, go, ran, results, rule, script,
};

#[test]
fn a_call_that_a_hook_around_the_tool_denies_leaves_no_label() {
    struct Deny;

    #[agent_hook]
    impl Deny {
        async fn deny(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            match call.tool_use().name.as_str() {
                "browse" => Err(ToolError::Failed("denied".into())),
                _ => next.run(call.into_tool_use()).await,
            }
        }
    }

    let (builder, tools) = agent(script(&[&["browse"], &["recall"], &["send"]]));
    let agent = builder.hook(rule()).hook(Deny).build().unwrap();
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [0, 1, 1, 0]);
}

#[test]
fn a_result_in_place_of_the_tool_leaves_its_label() {
    for priority in [1, 100] {
        let cached = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
            "browse" => event.answer("foreign text"),
            _ => Flow::Continue,
        });
        let (builder, _) = agent(script(&[&["browse"], &["recall"], &["send"]]));
        let agent = builder.hook(rule()).hook(cached.with_priority(priority));
        assert_eq!(asked(&go(&agent.build().unwrap()))[0].0, "send");
    }
}

#[test]
fn a_call_that_fails_or_is_dropped_leaves_no_reservation() {
    use futures::poll;

    let number = Arc::new(AtomicUsize::new(0));
    let hang = on!(async move |event: &mut PreActing<'_>| -> HookResult {
        if event.tool_use().name != "send" {
            return Ok(());
        }
        match number.fetch_add(1, Ordering::Relaxed) {
            0 => Err("it failed".into()),
            _ => std::future::pending().await,
        }
    });
    let (builder, tools) = agent(script(&[&["browse"], &["send"], &["send"], &["recall"]]));
    let agent = builder.hook(rule()).hook(hang).build().unwrap();
    block_on(agent.call("go")).unwrap_err();
    block_on(async {
        let mut call = Box::pin(agent.call("go"));
        assert!(poll!(&mut call).is_pending());
    });
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [1, 1, 0, 0]);
}

#[test]
fn what_runs_is_judged_and_not_what_it_was_called() {
    /// Makes `add` another tool.
    struct Rename;

    #[agent_hook]
    impl Rename {
        async fn change(
            &self,
            mut call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            if call.tool_use().name == "add" {
                call.tool_use_mut().name = "send".to_owned();
            }
            next.run(call.into_tool_use()).await
        }
    }

    let (builder, tools) = agent(script(&[&["browse"], &["recall"], &["add"]]));
    let agent = builder.hook(rule()).hook(Rename).build().unwrap();
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [1, 1, 0, 0]);
    assert!(results(&agent)[2].output.as_str().contains("`send` brings changes of state"));

    let (builder, _) = self::agent(self::script(&[&["browse"], &["add"], &["recall"]]));
    let agent = builder.hook(rule()).hook(Rename).build().unwrap();
    assert_eq!(asked(&go(&agent))[0].0, "recall");
}

#[test]
fn clones_and_other_rules_judge_the_same_thread() {
    let (builder, tools) = agent(script(&[&["browse", "recall", "send"]]));
    let builder = builder.hook(rule()).hook(rule().named("other")).parallel_tools(true);
    let agent = builder.hook(rule().refuse().named("third")).build().unwrap();
    go(&agent);
    assert_eq!(ran(&tools)[2], 0);
    let shared = rule();
    let (builder, tools) = self::agent(self::script(&[&["browse", "recall", "add"]]));
    let agent = builder.hook(shared.clone()).hook(shared.named("again")).build().unwrap();
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [1, 1, 0, 1]);
}

#[test]
fn a_decider_is_asked_once_about_a_call_that_the_rule_asks_about() {
    let count = Arc::new(AtomicUsize::new(0));
    let decided = count.clone();
    let approval = ToolApproval::new(["send"], move |_| {
        decided.fetch_add(1, Ordering::Relaxed);
        async { Decision::Allow }
    });
    let (builder, tools) = agent(script(&[&["browse", "recall", "send"]]));
    let agent = builder.hook(rule()).hook(approval).build().unwrap();
    assert_eq!(asked(&go(&agent))[0].0, "send");
    assert_eq!(confirm(&agent, "send").text(), "done");
    assert_eq!((ran(&tools), count.load(Ordering::Relaxed)), ([1, 1, 1, 0], 1));
}

/// Runs after the rule, and lets the other tool calls of an answer have their turn at it.
fn waiting() -> impl AgentHook {
    let wait = on!(async move |_: &mut PreActing<'_>| tokio::task::yield_now().await);
    wait.with_priority(40)
}

#[tokio::test]
async fn a_call_that_is_about_to_run_counts_for_those_beside_it() {
    let batch = script(&[&["browse", "recall", "send"]]);
    let (builder, tools) = agent(batch);
    let agent = builder.hook(rule()).hook(waiting()).parallel_tools(true).build().unwrap();
    let reply = agent.call("go").await.unwrap();
    let ids: Vec<_> = asked(&reply).into_iter().map(|(id, _)| id).collect();
    // It is asked about, and not refused when the others have run.
    assert_eq!((ids, ran(&tools)), (vec!["send".to_owned()], [1, 1, 0, 0]));
}

#[test]
fn a_call_that_a_later_hook_refuses_counts_no_longer_in_the_same_run() {
    let refuse = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "recall" => event.refuse("not now"),
        _ => Flow::Continue,
    });
    let (builder, tools) = agent(script(&[&["browse"], &["recall"], &["send"]]));
    let agent = builder.hook(rule()).hook(refuse.with_priority(40)).build().unwrap();
    let reply = go(&agent);
    assert_eq!((asked(&reply), reply.text().as_str()), (Vec::new(), "done"));
    assert_eq!(ran(&tools), [1, 0, 1, 0]);
}

#[test]
fn a_call_of_a_sub_agent_that_failed_counts_no_longer_in_the_run_of_its_caller() {
    let fail = on(|event: &mut PreActing<'_>| -> HookResult {
        if event.tool_use().name == "recall" { Err("it failed".into()) } else { Ok(()) }
    });
    let (builder, _) = agent_named("helper", script(&[&["recall"]]));
    let helper = builder.hook(fail.with_priority(40)).build().unwrap().to_tool("Helps.");
    let task = ToolUse::new("helper", "helper", json!({ "task": "x" }));
    let script = Script::new().calls([call("browse")]).calls([task]).calls([call("send")]);
    let (builder, tools) = agent(script);
    let agent = builder.tool(helper).hook(rule()).build().unwrap();
    let reply = go(&agent);
    assert_eq!((asked(&reply), reply.text().as_str()), (Vec::new(), "done"));
    assert_eq!(ran(&tools), [1, 0, 1, 0]);
}

#[test]
fn people_read_the_reason_of_the_rule_beside_those_of_other_hooks() {
    for priority in [1, 100] {
        let amount = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
            "send" => event.ask("Pay 50?"),
            _ => Flow::Continue,
        });
        let (builder, tools) = agent(script(&[&["browse", "recall", "send"]]));
        let agent = builder.hook(amount.with_priority(priority)).hook(rule()).build().unwrap();
        let reply = go(&agent);
        let [(_, why)] = &asked(&reply)[..] else { panic!("{reply:?}") };
        assert!(why.contains("Pay 50?") && why.contains("untrusted input by `browse`"), "{why}");
        assert_eq!(confirm(&agent, "send").text(), "done");
        assert_eq!(ran(&tools), [1, 1, 1, 0]);
    }
}

#[test]
fn a_person_who_confirms_the_amount_has_not_answered_the_rule() {
    use hooks_agent_builtin::people::HumanInTheLoop;

    // The person is asked about `send` while nothing has run, in a round of its own.
    for at_once in [false, true] {
        let (builder, tools) = agent(script(&[&["browse"], &["recall"], &["send"]]));
        let builder = builder.parallel_tools(at_once);
        let agent = builder.hook(HumanInTheLoop::new().ask("send")).hook(rule()).build().unwrap();
        let reply = go(&agent);
        let [pending] = reply.pending() else { panic!("{reply:?}") };
        // One question: the rule says what it would ask later.
        let hooks: Vec<_> = pending.askers.iter().map(|it| it.hook.clone().unwrap()).collect();
        assert_eq!(hooks, ["HumanInTheLoop", "RuleOfTwo"]);
        assert!(pending.askers[1].reason.contains("untrusted input by `browse`"));
        assert_eq!(confirm(&agent, "send").text(), "done");
        assert_eq!(ran(&tools), [1, 1, 1, 0]);
    }
}

#[test]
fn a_reason_that_was_not_foreseen_is_asked_about_once_it_is_known() {
    use hooks_agent_builtin::people::HumanInTheLoop;

    // A hook makes another tool of it after people were asked about the answer.
    let recall = on(|event: &mut PreActing<'_>| {
        if event.tool_use().name == "add" {
            event.tool_use_mut().name = "recall".to_owned();
        }
    });
    let (builder, tools) = agent(script(&[&["browse", "add", "send"]]));
    let builder = builder.hook(HumanInTheLoop::new().ask("send")).hook(rule());
    let agent = builder.hook(recall.with_priority(1)).build().unwrap();
    let reply = go(&agent);
    assert_eq!(asked(&reply).len(), 1);
    assert_eq!(ran(&tools), [0, 0, 0, 0]);
    let reply = confirm(&agent, "send");
    let [(id, why)] = &asked(&reply)[..] else { panic!("{reply:?}") };
    assert!(id == "send" && why.contains("private data by `recall`"), "{why}");
    assert_eq!(ran(&tools), [1, 1, 0, 0]);
    assert_eq!(confirm(&agent, "send").text(), "done");
    assert_eq!(ran(&tools), [1, 1, 1, 0]);
}

#[test]
fn several_calls_that_complete_the_three_are_approved_at_once() {
    for at_once in [false, true] {
        let two = ["1", "2"].map(|id| ToolUse::new(id, "send", json!({})));
        let calls = [call("browse"), call("recall")].into_iter().chain(two);
        let (builder, tools) = agent(Script::new().calls(calls));
        let agent = builder.hook(rule()).parallel_tools(at_once).build().unwrap();
        let first = go(&agent);
        let options = asked(&first).into_iter().map(|(id, _)| id);
        let count = options.len();
        assert_eq!(count, if at_once { 2 } else { 1 });
        let options = options.fold(CallOptions::new(), CallOptions::confirm);
        let reply = block_on(agent.resume(options)).unwrap();
        assert_eq!(asked(&reply).len(), 2 - count);
        assert_eq!(ran(&tools)[2], count);
    }
}
