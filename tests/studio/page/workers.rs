//! Processes that joined the studio.

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;

use crate::support::{open_as, says};

const KEY: &str = "the-key-of-the-workers-of-a-test";

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_listed_with_the_agents() {
    open_as("#/agents", Studio::new().joined_by(KEY), async |page| {
        page.until("document.querySelector('.blank') && !document.querySelector('.numbers')").await;
        let studio = Studio::new();
        let agent = ReActAgent::builder("packer").model(says("Packed.")).hook(studio.hook());
        let agent = agent.build().unwrap();
        let url = format!("http://{}", page.server.address());
        let worker = studio.join(url, KEY).unwrap();
        let serving = tokio::spawn(worker.serve());
        agent.call("Pack").await.unwrap();
        page.go("#/").await;
        page.until_text("a.run .who", "packer").await;
        page.go("#/agents").await;
        page.until_text("[aria-label=Workers] tbody td", "here").await;
        page.picture("workers").await;
        worker.shutdown().await;
        serving.await.unwrap();
        page.go("#/").await;
        page.go("#/agents").await;
        page.until_text("[aria-label=Workers] tbody td", "away").await;
    })
    .await;
}
