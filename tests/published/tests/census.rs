//! A hook that the linker takes from another crate and gives to every agent.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent::prelude::*;
use hooks_agent::testing::Script;
use hooks_published::census::calls_of;

/// An agent of another type, which writes no more than it must.
#[derive(Hookable)]
struct Parrot {
    state: AgentState,
    hooks: Hooks,
}

#[hookable]
impl Agent for Parrot {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, _: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        Ok(Msg::assistant(self.name(), messages.last().map(Msg::text).unwrap_or_default()))
    }
}

fn parrot(name: &str) -> Parrot {
    Parrot { state: AgentState::new(name), hooks: Hooks::new() }
}

#[test]
fn a_linked_hook_runs_in_agents_of_every_type() {
    let model = Script::new().says("one").says("two");
    let react = ReActAgent::builder("react").model(model).build().unwrap();
    block_on(async {
        react.call("hi").await.unwrap();
        react.call("hi").await.unwrap();
        assert_eq!(parrot("parrot").call("hi").await.unwrap().text(), "hi");
    });
    assert_eq!((calls_of("react"), calls_of("parrot"), calls_of("nobody")), (2, 1, 0));
}

#[test]
fn the_plan_shows_a_linked_hook_at_its_level_with_its_place() {
    let plan = parrot("planned").hook_plan();
    let census = plan.hooks().iter().find(|hook| hook.name() == "census").unwrap();
    assert_eq!((census.level().to_string().as_str(), census.priority()), ("class", 600));
    assert!(census.registered_at().contains("census.rs:"), "{}", census.registered_at());
}

#[test]
fn hooks_of_all_agents_come_and_go_at_run_time() {
    let agent = ReActAgent::builder("signed").model(Script::new().says("one").says("two"));
    let agent = Arc::new(agent.build().unwrap());
    let sign = on(|event: &mut PostCall<'_>| {
        if event.agent().name() == "signed" {
            event.final_message_mut().push_text(", signed");
        }
    });
    ReActAgent::register_class_agent_hook(sign.named("sign"));
    assert_eq!(block_on(agent.call("hi")).unwrap().text(), "one, signed");
    ReActAgent::remove_class_agent_hook("sign").unwrap();
    assert_eq!(block_on(agent.call("hi")).unwrap().text(), "two");
    let gone = ReActAgent::remove_class_agent_hook("sign").unwrap_err();
    assert_eq!(
        gone.to_string(),
        "hook 'sign' not found in 'pre_reply' hooks of the ReActAgent class"
    );
}

#[test]
fn a_class_hook_of_the_same_name_takes_the_place_of_the_earlier_one() {
    let say = |text: &'static str| {
        on(move |event: &mut PostCall<'_>| {
            if event.agent().name() == "replaced" {
                event.final_message_mut().push_text(text);
            }
        })
        .named("say")
    };
    <dyn Agent>::register_class_agent_hook(say(" once"));
    <dyn Agent>::register_class_agent_hook(say(" again"));
    assert_eq!(block_on(parrot("replaced").call("hi")).unwrap().text(), "hi again");
    <dyn Agent>::remove_class_agent_hook("say").unwrap();
    assert_eq!(block_on(parrot("replaced").call("hi")).unwrap().text(), "hi");
}
