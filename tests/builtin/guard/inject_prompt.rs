//! `InjectPrompt`: the text is in every prompt, once.

use futures::executor::block_on;
use hooks_agent_builtin::guard::{InjectPrompt, Position};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

/// The system prompts of all requests of a call, which calls a tool once.
fn prompts(add: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder) -> Vec<Option<String>> {
    let script = Script::new().calls([ToolUse::new("1", "look", json!({}))]).says("done");
    let builder = ReActAgent::builder("bot").model(script.clone());
    let agent = add(builder.tool(Calls::new("look").answers("seen"))).build().unwrap();
    block_on(agent.call("go")).unwrap();
    systems(&script)
}

fn systems(script: &Script) -> Vec<Option<String>> {
    let system = |request: ChatRequest| {
        let first = request.messages.first().filter(|msg| msg.role == Role::System);
        first.map(Msg::text)
    };
    script.requests().into_iter().map(system).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_text_is_at_the_front_or_the_back_of_every_prompt_of_a_call() {
    let front = InjectPrompt::new("Be brief.");
    let found = prompts(|agent| agent.system_prompt("You help.").hook(front.clone()));
    assert_eq!(found, [some("Be brief.\nYou help."), some("Be brief.\nYou help.")]);
    let back = front.clone().position(Position::Back);
    let found = prompts(|agent| agent.system_prompt("You help.").hook(back));
    assert_eq!(found, [some("You help.\nBe brief."), some("You help.\nBe brief.")]);
    assert_eq!(prompts(|agent| agent.hook(front)), [some("Be brief."), some("Be brief.")]);
}

#[test]
fn the_text_is_once_in_a_prompt_whoever_added_it() {
    let hook = InjectPrompt::new("Be brief.");
    let clones = |agent: ReActAgentBuilder| {
        let second = hook.clone().named("second").with_priority(200);
        let per_call = hook.clone().once_per_call().position(Position::Back).named("third");
        agent.hook(hook.clone()).hook(second).hook(per_call)
    };
    assert_eq!(prompts(clones), [some("Be brief."), some("Be brief.")]);
    let has_it = "You help. Be brief. Be kind.";
    let found = prompts(|agent| agent.system_prompt(has_it).hook(hook.clone()));
    assert_eq!(found, [some(has_it), some(has_it)]);
}

#[test]
fn a_part_of_another_sentence_is_not_the_text() {
    for (prompt, text) in [
        ("Never delete files without a question.", "Never delete files"),
        ("Do not be brief", "be brief"),
        ("Nobody helps.", "No"),
    ] {
        let found = prompts(|agent| agent.system_prompt(prompt).hook(InjectPrompt::new(text)));
        assert_eq!(found[0], Some(format!("{text}\n{prompt}")));
    }
    for (prompt, text) in [
        ("You help. Be brief.", "Be brief"),
        ("Rules:\n- Be brief\n- Be kind", "- Be brief"),
        (
            "\u{8981}\u{7b80}\u{77ed}\u{3002}\u{8981}\u{53cb}\u{597d}\u{3002}",
            "\u{8981}\u{7b80}\u{77ed}\u{3002}",
        ),
    ] {
        let found = prompts(|agent| agent.system_prompt(prompt).hook(InjectPrompt::new(text)));
        assert_eq!(found[0], some(prompt));
    }
}

#[test]
fn a_class_hook_and_an_agent_hook_add_the_text_once() {
    #[derive(Clone)]
    struct OwnName(InjectPrompt);

    impl AgentHook for OwnName {
        fn events(&self) -> EventMask {
            self.0.events()
        }

        fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
            // Other tests of this process share the class.
            let is_mine = event.agent().name() == "of the class";
            if is_mine { self.0.on_event_now(event) } else { Ok(Flow::Continue) }
        }
    }

    let hook = InjectPrompt::new("Be brief.");
    ReActAgent::register_class_agent_hook(OwnName(hook.clone()).named("class prompt"));
    let script = Script::new().says("done");
    let agent = ReActAgent::builder("of the class").model(script.clone()).hook(hook);
    block_on(agent.build().unwrap().call("go")).unwrap();
    ReActAgent::remove_class_agent_hook("class prompt").unwrap();
    assert_eq!(systems(&script), [some("Be brief.")]);
}

#[test]
fn the_closure_receives_the_context_and_may_add_nothing() {
    struct User(&'static str);

    let hook = InjectPrompt::from_fn(|cx| Some(format!("The user is {}.", cx.get::<User>()?.0)));
    let script = Script::new().says("a").says("b");
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(hook).build().unwrap();
    block_on(agent.call_with(CallOptions::new().value(User("Ada")), "go")).unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(systems(&script), [some("The user is Ada."), None]);
    assert_eq!(prompts(|agent| agent.hook(InjectPrompt::new(" \n"))), [None, None]);
}

#[test]
fn once_per_call_runs_the_closure_once_for_all_rounds() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let hook = InjectPrompt::from_fn(move |_| {
        Some(format!("Number {}.", count.fetch_add(1, Ordering::Relaxed)))
    });
    let found = prompts(|agent| agent.hook(hook.once_per_call()));
    assert_eq!(found, [some("Number 0."), some("Number 0.")]);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn the_summary_has_the_text_too() {
    let script = Script::new().calls([ToolUse::new("1", "look", json!({}))]).says("summary");
    let agent = ReActAgent::builder("bot").model(script.clone()).max_iters(1);
    let agent = agent.tool(Calls::new("look").answers("seen")).hook(InjectPrompt::new("Be brief."));
    block_on(agent.build().unwrap().call("go")).unwrap();
    assert_eq!(systems(&script), [some("Be brief."), some("Be brief.")]);
}

#[test]
fn a_closure_that_panics_fails_the_call() {
    let hook = InjectPrompt::from_fn(|_| panic!("a closure that panics"));
    let agent = ReActAgent::builder("bot").model(Script::new().says("done")).hook(hook);
    let error = block_on(agent.build().unwrap().call("go")).unwrap_err();
    assert!(matches!(error, AgentError::Hook(_)), "{error:?}");
}
