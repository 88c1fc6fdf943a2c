//! Threads that are forgotten.

use std::sync::Arc;

use hooks_agent_core::prelude::*;

use crate::agents::attack::{ADA, assert_valid, echoing, on_ada, rows};
use crate::agents::stores::{Paid, Payment, clerk, pay, payer, sqlite};

#[tokio::test]
async fn what_is_forgotten_is_not_remembered_by_another_worker() {
    let place = sqlite();
    let (one, other) = (echoing(place.open().await), echoing(place.open().await));
    one.call_with(on_ada(), "secret").await.unwrap();
    assert!(other.forget(ADA).await.unwrap());
    // As many steps as before.
    other.call_with(on_ada(), "hello").await.unwrap();
    assert_eq!(one.call_with(on_ada(), "again").await.unwrap().text(), "hello|again");
    assert!(!rows(&place).await.contains("secret"));
}

#[tokio::test]
async fn a_thread_that_is_forgotten_during_its_call_is_still_written() {
    for thread in [ADA, "default"] {
        let (place, paid) = (sqlite(), Paid::default());
        let slot: Arc<std::sync::OnceLock<std::sync::Weak<ReActAgent>>> = Arc::default();
        let of_tool = slot.clone();
        let tool = FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
            let agent = of_tool.get().unwrap().upgrade().unwrap();
            async move {
                let is_forgotten = agent.forget(thread).await.unwrap();
                let is_dropped = agent.threads().forget(thread);
                format!("{is_forgotten} {is_dropped} {euros}")
            }
        });
        let model = payer([pay("1", 12)]);
        let agent = ReActAgent::builder("clerk").model(model).tool(tool);
        let agent = Arc::new(agent.store(place.open().await).build().unwrap());
        slot.set(Arc::downgrade(&agent)).unwrap();
        let options = CallOptions::new().thread(thread);
        let reply = agent.call_with(options.clone(), "Pay").await.unwrap();
        assert!(reply.text().starts_with("false "), "{}", reply.text());
        let other = clerk(place.open().await, &paid);
        let said = other.call_with(options, "hello").await.unwrap();
        assert_eq!(said.text(), "heard: hello", "{thread}");
        assert_eq!(other.threads().memory(thread).unwrap().messages().len(), 6, "{thread}");
        assert_valid(&other, thread);
    }
}
