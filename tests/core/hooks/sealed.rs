//! Instances whose hooks are complete.

use std::sync::Arc;

use hooks_core::{HookOptions, Hookable, Hooks, hookable};
use hooks_fixtures::Records;

#[derive(Hookable, Default, Clone)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, names: Vec<&'static str>) -> Vec<&'static str> {
        names
    }

    fn print(&self, names: Vec<&'static str>) -> Vec<&'static str> {
        names
    }
}

/// Says when it is dropped.
struct OnDrop(Arc<Records>, &'static str);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.push(self.1);
    }
}

/// Registers a hook of both methods that says when it is dropped.
fn register(agent: &Agent, name: &'static str, dropped: &Arc<Records>) {
    let held = Arc::new(OnDrop(dropped.clone(), name));
    let of_print = held.clone();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        name,
        move |_: &Agent, args: &mut AgentReplyArgs| args.names.push(held.1),
    );
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        name,
        move |_: &Agent, args: &mut AgentPrintArgs| args.names.push(of_print.1),
    );
}

fn remove(agent: &Agent, name: &str) {
    agent.remove_instance_hook(Agent::PRE_REPLY, name).unwrap();
    agent.remove_instance_hook(Agent::PRE_PRINT, name).unwrap();
}

#[track_caller]
fn assert_runs(agent: &Agent, names: &[&str]) {
    assert_eq!(futures::executor::block_on(agent.reply(vec![])), names);
    assert_eq!(agent.print(vec![]), names);
}

#[test]
fn hooks_of_a_sealed_instance_run_and_change_like_others() {
    let (agent, dropped) = (Agent::default(), Arc::default());
    agent.hooks.seal();
    assert_runs(&agent, &[]);
    register(&agent, "a", &dropped);
    agent.hooks.seal();
    assert_runs(&agent, &["a"]);
    register(&agent, "b", &dropped);
    assert_runs(&agent, &["a", "b"]);
    // Once it has changed, it is not sealed again.
    agent.hooks.seal();
    remove(&agent, "a");
    assert_runs(&agent, &["b"]);
    agent.clear_all_instance_hooks();
    assert_runs(&agent, &[]);
    assert_eq!(agent.hook_plan().hooks().len(), 0);
}

#[test]
fn a_hook_that_is_removed_from_a_sealed_instance_is_dropped_with_it() {
    for is_sealed in [false, true] {
        let (agent, dropped) = (Agent::default(), Arc::new(Records::new()));
        register(&agent, "kept", &dropped);
        if is_sealed {
            agent.hooks.seal();
        }
        register(&agent, "added", &dropped);
        remove(&agent, "kept");
        remove(&agent, "added");
        let expected: &[&str] = if is_sealed { &["added"] } else { &["kept", "added"] };
        assert_eq!(dropped.take(), expected);
        drop(agent);
        let expected: &[&str] = if is_sealed { &["kept"] } else { &[] };
        assert_eq!(dropped.take(), expected);
    }
}

#[test]
fn a_hook_that_runs_once_is_dropped_when_it_has_run_in_a_sealed_instance_too() {
    let (agent, dropped) = (Agent::default(), Arc::new(Records::new()));
    let held = Arc::new(OnDrop(dropped.clone(), "once"));
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        HookOptions::named("once").once(),
        move |_: &Agent, args: &mut AgentPrintArgs| args.names.push(held.1),
    );
    agent.hooks.seal();
    assert_eq!(agent.print(vec![]), ["once"]);
    assert_eq!(dropped.take(), ["once"]);
    assert!(agent.print(vec![]).is_empty());
}

#[test]
fn a_clone_of_a_sealed_instance_has_its_hooks_and_is_not_sealed() {
    let (agent, dropped) = (Agent::default(), Arc::new(Records::new()));
    register(&agent, "a", &dropped);
    agent.hooks.seal();
    let copy = agent.clone();
    drop(agent);
    assert_runs(&copy, &["a"]);
    remove(&copy, "a");
    assert_eq!(dropped.take(), ["a"]);
    assert_runs(&copy, &[]);
}
