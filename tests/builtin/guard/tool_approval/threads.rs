//! One hook in many agents on many threads.

use std::sync::atomic::Ordering;
use std::thread;

use futures::executor::block_on;
use hooks_agent_builtin::guard::{Decision, ToolApproval};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Calls;
use serde_json::Value;

use crate::tool_approval::{Count, always, pay, payer, results};

#[test]
fn agents_on_64_threads_share_one_queue() {
    let (asking, most) = (Count::default(), Count::default());
    let high = most.clone();
    let hook = ToolApproval::new(["pay"], move |_| {
        let (asking, most) = (asking.clone(), high.clone());
        async move {
            most.fetch_max(asking.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            asking.fetch_sub(1, Ordering::SeqCst);
            Decision::Allow
        }
    });
    let hook = hook.one_at_a_time();
    thread::scope(|scope| {
        for euros in 0..64 {
            let hook = hook.clone();
            scope.spawn(move || {
                let tool = Calls::new("pay").answers("paid");
                let agent = payer([pay(euros)], &tool).hook(hook).build().unwrap();
                block_on(agent.call("go")).unwrap();
                assert_eq!(results(&agent)[0].output, "paid");
            });
        }
    });
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn approvals_that_wait_are_kept_up_to_a_bound_and_the_oldest_are_decided_again() {
    let (hook, asked) = always(Decision::Allow);
    let paid = Count::default();
    let counted = paid.clone();
    let tool = FunctionTool::new("pay", "Pays.", move |_: Value| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { "paid" }
    });
    let model = ScriptedModel::new("payer", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().role {
            Role::Tool => "done".into(),
            _ => pay(1).into(),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).hook(hook);
    let agent = agent.tool(tool.permission(|_| Permission::Ask)).build().unwrap();
    let thread = |number: usize| CallOptions::new().thread(number.to_string());
    for number in 0..=1024 {
        let reply = agent.call_with(thread(number), "go").await.unwrap();
        assert_eq!(reply.pending().len(), 1);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1025);
    // The last that waits is known, the first is not any more.
    for (number, decided) in [(1024, 1025), (1, 1025), (0, 1026)] {
        let options = thread(number).confirm("1");
        agent.call_with(options, Messages::new()).await.unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), decided, "{number}");
    }
    assert_eq!(paid.load(Ordering::Relaxed), 3);
}
