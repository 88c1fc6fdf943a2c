//! A lease that another process takes while a tool runs.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, StoreError};
use hooks_agent_core::tool::FunctionTool;
use hooks_fixtures::Wire;
use serde_json::Value;
use tokio::sync::Notify;

use crate::agents::attack::in_time;
use crate::agents::stores::{pay, payer, sqlite};
use crate::network::wire::Wired;
use crate::open::open;

/// A value that is dropped with the future of a tool.
struct Guard(tokio::sync::mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// A tool that does not end.
fn endless(dropped: tokio::sync::mpsc::UnboundedSender<()>, entered: Arc<Notify>) -> FunctionTool {
    FunctionTool::new("pay", "Pays.", move |_: Value| {
        let (guard, entered) = (Guard(dropped.clone()), entered.clone());
        async move {
            entered.notify_one();
            std::future::pending::<()>().await;
            drop(guard);
            "paid"
        }
    })
}

#[tokio::test]
async fn a_renewal_that_finds_the_lease_lost_cancels_a_tool_that_does_not_end() {
    let place = sqlite();
    let address = format!("sqlite:{}", place.file().display());
    let store = open(&address, Duration::from_millis(300)).await;
    let (dropped, mut is_dropped) = tokio::sync::mpsc::unbounded_channel();
    let entered = Arc::new(Notify::new());
    let tool = endless(dropped, entered.clone());
    let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool).store(store);
    let agent = agent.build().unwrap();
    let stolen = async {
        entered.notified().await;
        let steal = "UPDATE thread SET owner = 'another', fence = fence + 1,
            lease_until = lease_until + 99999999999999";
        assert_eq!(place.execute(steal).await, 1);
        is_dropped.recv().await
    };
    let (ended, dropped) = in_time(join(agent.call("Pay"), stolen)).await;
    assert!(matches!(ended, Err(AgentError::Store(StoreError::LeaseLost { .. }))), "{ended:?}");
    assert_eq!(dropped, Some(()));
}

#[tokio::test]
async fn a_lease_that_cannot_be_renewed_in_time_cancels_a_tool_that_does_not_end() {
    let Some(wired) = Wired::new().await else { return };
    let options = wired.options().lease_time(Duration::from_millis(600));
    let store: Arc<dyn Store> = Arc::new(options.connect(&wired.url()).await.unwrap());
    let (dropped, mut is_dropped) = tokio::sync::mpsc::unbounded_channel();
    let entered = Arc::new(Notify::new());
    let tool = endless(dropped, entered.clone());
    let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool).store(store);
    let agent = agent.build().unwrap();
    let silence = async {
        entered.notified().await;
        wired.proxy.set(Wire::Swallow);
        is_dropped.recv().await
    };
    let (ended, dropped) = in_time(join(agent.call("Pay"), silence)).await;
    assert!(matches!(ended, Err(AgentError::Store(StoreError::LeaseLost { .. }))), "{ended:?}");
    assert_eq!(dropped, Some(()));
}
