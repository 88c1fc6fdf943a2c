//! One hook in many agents on many threads.

use std::sync::atomic::Ordering;
use std::thread;

use futures::executor::block_on;
use hooks_agent::builtin::guard::{Decision, ToolApproval};
use hooks_agent::prelude::*;
use hooks_agent::testing::Calls;

use crate::tool_approval::{Count, pay, payer, results};

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
