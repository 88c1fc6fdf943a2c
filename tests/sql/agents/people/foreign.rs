//! Decisions of others.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, Verdict};
use hooks_agent_sql::store::SqliteStore;

use crate::agents::attack::{echo, on_ada};
use crate::agents::stores::{Paid, clerk, sqlite};

#[tokio::test]
async fn a_decision_of_another_agent_or_namespace_is_unknown() {
    let place = sqlite();
    let paid = Paid::default();
    let file = SqliteStore::open(place.file()).await.unwrap();
    let agent = clerk(Arc::new(file.clone()), &paid);
    agent.call_with(on_ada(), "Pay").await.unwrap();
    let id = file.waiting(Filter::all()).await.unwrap().remove(0).id;
    let elsewhere = file.namespace("other").unwrap();
    let verdict = || vec![Verdict::new(id.clone(), Decision::Approve)];
    elsewhere.decide(verdict()).await.unwrap_err();
    clerk(Arc::new(elsewhere), &paid)
        .resume(on_ada().decide(id.clone(), Decision::Approve))
        .await
        .unwrap_err();
    let banker = ReActAgent::builder("banker").model(echo()).store(file.clone()).build().unwrap();
    banker.resume(on_ada().decide(id.clone(), Decision::Approve)).await.unwrap_err();
    assert_eq!(file.waiting(Filter::all()).await.unwrap().len(), 1);
    agent.resume(on_ada().decide(id, Decision::Approve)).await.unwrap();
    assert_eq!(paid.take(), [12]);
}
