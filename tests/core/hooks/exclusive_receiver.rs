//! Calls of methods that take `&mut self` keep the hooks that they started with, whatever the body does to
//! the instance.

use std::sync::{Arc, Mutex};

use hooks_core::{HookError, HookResult, Hookable, Hooks, Outcome, hookable};
use hooks_fixtures::Records;

#[derive(Debug, Hookable, Default)]
struct Agent {
    name: &'static str,
    hooks: Hooks,
}

#[derive(Clone, Debug)]
enum Change {
    Nothing,
    Reset,
    /// Trades places with the other, and calls what is here then.
    Swap(Arc<Mutex<Agent>>),
}

#[hookable]
impl Agent {
    #[hook]
    async fn change(&mut self, change: Change) -> Result<&'static str, HookError> {
        match change {
            Change::Nothing => {}
            Change::Reset => *self = Self::default(),
            Change::Swap(other) => {
                std::mem::swap(self, &mut *other.lock().unwrap());
                return Box::pin(self.change(Change::Nothing)).await;
            }
        }
        Ok(self.name)
    }

    #[hook]
    fn change_now(&mut self, change: Change) -> Result<&'static str, HookError> {
        match change {
            Change::Nothing => {}
            Change::Reset => *self = Self::default(),
            Change::Swap(other) => {
                std::mem::swap(self, &mut *other.lock().unwrap());
                return self.change_now(Change::Nothing);
            }
        }
        Ok(self.name)
    }
}

/// An agent that notes the ends of its calls.
fn noted(name: &'static str, records: &Arc<Records<String>>) -> Agent {
    let agent = Agent { name, hooks: Hooks::new() };
    let note = records.clone();
    let post = move |_: &Agent, _: &AgentChangeArgs, _: &&str| note.push(format!("post {name}"));
    agent.register_instance_hook(Agent::POST_CHANGE, "post", post);
    let note = records.clone();
    let settled = move |_: &Agent, outcome: &Outcome<'_, &str, HookError>| {
        note.push(format!("settled {name} {}", matches!(outcome, Outcome::Ok(_))));
    };
    agent.register_instance_hook(Agent::SETTLED_CHANGE, "settled", settled);
    let note = records.clone();
    let post = move |_: &Agent, _: &AgentChangeNowArgs, _: &&str| note.push(format!("post {name}"));
    agent.register_instance_hook(Agent::POST_CHANGE_NOW, "post", post);
    let note = records.clone();
    let settled = move |_: &Agent, outcome: &Outcome<'_, &str, HookError>| {
        note.push(format!("settled {name} {}", matches!(outcome, Outcome::Ok(_))));
    };
    agent.register_instance_hook(Agent::SETTLED_CHANGE_NOW, "settled", settled);
    agent
}

#[tokio::test]
async fn a_body_that_resets_the_instance_does_not_lose_the_hooks_of_its_call() {
    let records = Arc::default();
    let mut agent = noted("a", &records);
    assert_eq!(agent.change(Change::Reset).await.unwrap(), "");
    assert_eq!(records.take(), ["post a", "settled a true"]);
    let mut agent = noted("a", &records);
    assert_eq!(agent.change_now(Change::Reset).unwrap(), "");
    assert_eq!(records.take(), ["post a", "settled a true"]);
    // The instance that is there now has no hooks.
    agent.change_now(Change::Nothing).unwrap();
    assert!(records.take().is_empty());
}

fn deny(_: &Agent, _: &AgentChangeArgs) -> HookResult {
    Err("denied".into())
}

fn deny_now(_: &Agent, _: &AgentChangeNowArgs) -> HookResult {
    Err("denied".into())
}

#[tokio::test]
async fn a_body_that_swaps_the_instance_meets_the_hooks_of_the_other() {
    let records = Arc::default();
    let (mut agent, other) = (noted("a", &records), noted("b", &records));
    other.register_instance_hook(Agent::PRE_CHANGE, "deny", deny);
    other.register_instance_hook(Agent::PRE_CHANGE_NOW, "deny", deny_now);
    let other = Arc::new(Mutex::new(other));

    let refused = agent.change_now(Change::Swap(other.clone())).unwrap_err();
    assert_eq!(refused.to_string(), "instance hook `deny` failed at pre_change_now: denied");
    assert_eq!(records.take(), ["settled b false", "settled a false"]);

    std::mem::swap(&mut agent, &mut *other.lock().unwrap());
    let refused = agent.change(Change::Swap(other.clone())).await.unwrap_err();
    assert_eq!(refused.to_string(), "instance hook `deny` failed at pre_change: denied");
    assert_eq!(records.take(), ["settled b false", "settled a false"]);
}
