//! The routes, and a studio that has seen a call.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;

use crate::support::{Browser, open, says};

pub(crate) const GETS: [&str; 12] = [
    "/",
    "/assets/x.js",
    "/api/agents",
    "/api/runs",
    "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5",
    "/api/overview",
    "/api/plan/clerk",
    "/api/search?q=secret",
    "/api/approvals",
    "/api/threads/clerk/default",
    "/api/history",
    "/api/events",
];

pub(crate) const POSTS: [&str; 7] = [
    "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5/interrupt",
    "/api/approvals/x",
    "/api/remembered/x/revoke",
    "/api/threads/clerk/default/messages",
    "/api/threads/clerk/default/steer",
    "/api/threads/clerk/default/fork",
    "/api/threads/clerk/default/rewind",
];

/// Opens a studio that has seen a call.
pub(crate) async fn seen() -> (Browser, Arc<ReActAgent>) {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("secret words")).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    let browser = open(&studio.agent(agent.clone())).await;
    agent.call("Go").await.unwrap();
    (browser, agent)
}
