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
