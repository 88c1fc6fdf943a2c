//! Hooks of one agent that count in one thread value, however they are registered.

use std::sync::{Arc, OnceLock, Weak};

use hooks_agent_builtin::limit::{Budget, ModelCallLimit, ToolCallLimit};
use hooks_agent_core::error::BuildError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::{HookSet, HookSource, ReActAgentBuilder};
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

fn bare() -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(Script::new().says("done")).tool(Calls::new("delete"))
}

fn limit() -> ModelCallLimit {
    ModelCallLimit::builder().thread(9).build().unwrap()
}

/// Returns the hooks that share a counter, if a call fails for it.
async fn sharing(agent: &ReActAgent) -> Option<[String; 2]> {
    let error = agent.call("Go").await.err()?;
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = source {
        if let Some(BuildError::SharedCounter { agent, counter, hooks }) = error.downcast_ref() {
            assert_eq!((agent.as_str(), counter.as_str()), ("bot", "ModelCallLimit"));
            return Some(hooks.clone());
        }
        source = error.source();
    }
    panic!("another error: {error}");
}

fn both() -> Option<[String; 2]> {
    Some(["ModelCallLimit".to_owned(), "b".to_owned()])
}

#[test]
fn hooks_that_share_a_counter_are_refused() {
    let models = || ModelCallLimit::builder().run(1);
    let tools = || ToolCallLimit::all().run(1);
    let budget = || Budget::builder().run_tokens(1);
    let twice = [
        ("ModelCallLimit", bare().hook(models().build().unwrap()).hook(models().build().unwrap())),
        ("ToolCallLimit", bare().hook(tools().build().unwrap()).hook(tools().build().unwrap())),
        ("Budget", bare().hook(budget().build().unwrap()).hook(budget().build().unwrap())),
    ];
    for (name, builder) in twice {
        let Err(error) = builder.build() else { panic!("{name}") };
        let BuildError::SharedCounter { ref hooks, .. } = error else { panic!("{error}") };
        assert!(hooks.iter().all(|hook| hook.starts_with(name)), "{error}");
        assert!(error.to_string().ends_with("give one of them another name by `.counter(..)`"));
    }
    let other = models().counter("others").build().unwrap();
    let builder = bare().hook(models().build().unwrap()).hook(other);
    let builder = builder.hook(tools().build().unwrap()).hook(budget().build().unwrap());
    let of_one = ToolCallLimit::of("delete").run(1).build().unwrap();
    assert!(builder.hook(of_one).build().is_ok());
}

#[tokio::test]
async fn a_hook_that_is_registered_later_and_shares_a_counter_fails_the_calls() {
    let agent = bare().hook(limit()).build().unwrap();
    assert_eq!(sharing(&agent.with_agent_hook(limit().named("b"))).await, both());
    agent.register_agent_hook(limit().named("b"));
    assert_eq!(sharing(&agent).await, both());
    agent.remove_agent_hook("b").unwrap();
    agent.register_call_hook(limit().named("b"));
    assert_eq!(sharing(&agent).await, both());
    agent.remove_agent_hook("b").unwrap();
    assert_eq!(sharing(&agent).await, None);
    let values = agent.memory().values();
    assert_eq!(values["ModelCallLimit"]["thread"], 1);
}

/// Chooses one set.
struct Fixed(HookSet);

impl HookSource for Fixed {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

#[tokio::test]
async fn a_chosen_hook_that_shares_a_counter_fails_the_calls() {
    let source = || Fixed(HookSet::of(limit().named("b")));
    let agent = bare().hook(limit()).hook_source(source()).build().unwrap();
    assert_eq!(sharing(&agent).await, both());
    let agent = bare().hook_source(source()).build().unwrap();
    assert_eq!(sharing(&agent).await, None);
}

#[tokio::test]
async fn a_hook_that_replaces_another_in_mid_call_goes_on_with_its_counts() {
    let of = Arc::<OnceLock<Weak<ReActAgent>>>::default();
    let agent = of.clone();
    let again = on(move |_: &mut PostReasoning<'_>| {
        agent.get().and_then(Weak::upgrade).unwrap().register_agent_hook(limit());
    });
    let script = Script::new().calls([ToolUse::new("1", "delete", json!({}))]).says("done");
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("delete").answers("ok"));
    let agent = Arc::new(builder.hook(limit()).hook(again).build().unwrap());
    of.set(Arc::downgrade(&agent)).unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
    assert_eq!(agent.memory().values()["ModelCallLimit"]["thread"], 2);
}
