//! Event hooks that use their agent, or register others, when they are dropped or called.

use std::sync::{Arc, OnceLock, Weak};

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::event::{EventMask, PostCall, PreCall};
use hooks_agent_core::hook::{AgentHook, AgentHookExt, on};
use hooks_agent_core::on;
use hooks_agent_core::react::ReActAgent;
use hooks_fixtures::scripted_agents::{go, script};

type Shared = Arc<OnceLock<Weak<ReActAgent>>>;

/// Removes the hook `other` when it is dropped, and adds `last`.
struct Leaving(Shared);

impl AgentHook for Leaving {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(agent) = self.0.get().and_then(Weak::upgrade) {
            let _ = agent.remove_agent_hook("other");
            agent.register_agent_hook(on(sign).named("last"));
        }
    }
}

fn sign(event: &mut PostCall<'_>) {
    event.final_message_mut().push_text("!");
}

fn shared(builder: hooks_agent_core::react::ReActAgentBuilder, cell: &Shared) -> Arc<ReActAgent> {
    let agent = Arc::new(builder.build().unwrap());
    cell.set(Arc::downgrade(&agent)).unwrap();
    agent
}

#[tokio::test]
async fn a_hook_may_use_its_agent_when_it_is_removed() {
    let cell = Shared::default();
    let (model, _) = script(["done"]);
    let builder = ReActAgent::builder("bot").model(model).hook(Leaving(cell.clone()));
    let agent = shared(builder.hook(on(sign).named("other")), &cell);
    agent.remove_agent_hook("Leaving").unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done!");
    agent.remove_agent_hook("last").unwrap();
}

#[tokio::test]
async fn a_hook_may_use_its_agent_when_it_is_replaced() {
    let cell = Shared::default();
    let (model, _) = script(["done"]);
    let builder = ReActAgent::builder("bot").model(model).hook(Leaving(cell.clone()));
    let agent = shared(builder.hook(on(sign).named("other")), &cell);
    agent.register_agent_hook(on(|_: &mut PreCall<'_>| ()).named("Leaving"));
    assert_eq!(agent.call(go()).await.unwrap().text(), "done!");
}

#[tokio::test]
async fn a_hook_that_replaces_itself_runs_from_the_next_step_on() {
    let cell = Shared::default();
    let known = cell.clone();
    let (model, _) = script(["one", "two"]);
    let hook = on!(async move |_: &mut PreCall<'_>| {
        let agent = known.get().and_then(Weak::upgrade).unwrap();
        agent.register_agent_hook(on(sign).named("self"));
        tokio::task::yield_now().await;
    });
    let agent = shared(ReActAgent::builder("bot").model(model).hook(hook.named("self")), &cell);
    assert_eq!(agent.call(go()).await.unwrap().text(), "one");
    assert_eq!(agent.call(go()).await.unwrap().text(), "two!");
}
