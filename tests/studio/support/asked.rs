//! A clerk that asked.

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::Value;

use crate::support::{Browser, Clerk, Stream, clerk, open};

/// Waits until the run that resumes the call is over.
pub(crate) async fn until_resumed(stream: &mut Stream) -> Value {
    loop {
        let seen = stream.until_settled().await;
        let settled = &seen.last().unwrap().data;
        if settled["data"]["reason"] == "model_stop" {
            return settled.clone();
        }
    }
}

pub(crate) async fn asked(studio: &Studio) -> (Browser, Stream, Clerk) {
    let clerk = clerk(studio, |builder| builder);
    let browser = open(&studio.clone().agent(clerk.agent.clone())).await;
    let stream = browser.events(None).await;
    clerk.agent.call("Pay the baker").await.unwrap();
    (browser, stream, clerk)
}
