//! Calls that a hook makes inside of a call of the same agent.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::executor::block_on;
use hooks_agent::builtin::guard::{
    EgressGuard, InjectPrompt, Judge, McpPins, PiiDetection, Provenance, RuleOfTwo, Rules,
    Sanitize, Secrets, SensitiveWords, Spotlight, ToolParams, WordList,
};
use hooks_agent::builtin::limit::{Budget, ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::builtin::recover::ToolEmulator;
use hooks_agent::event::HookEvent;
use hooks_agent::hook::{AgentHook, DynAgentHook};
use hooks_agent::prelude::*;
use hooks_agent::testing::Script;

use crate::agents::MINUTE;

/// Calls its agent once more, inside of the first call.
struct Again(AtomicBool);

impl AgentHook for Again {
    fn events(&self) -> EventMask {
        EventKind::PostCall.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let HookEvent::PostCall(event) = event
            && !self.0.swap(true, Ordering::Relaxed)
        {
            let options = CallOptions::new().child_of(event.context()).thread("inside");
            event.agent().call_with(options, "ada@example.com sk-77 bluebird").await?;
        }
        Ok(Flow::Continue)
    }
}

#[test]
fn what_a_call_inside_of_a_call_says_is_guarded_too() {
    let guards: [(Box<dyn DynAgentHook>, &str); 2] = [
        (Box::new(PiiDetection::email()), "ada@"),
        (Box::new(SensitiveWords::new(WordList::new(["bluebird"]).unwrap())), "bluebird"),
    ];
    for (guard, removed) in guards {
        let script = Script::new().says("one").says("two");
        let name = guard.name();
        let builder = ReActAgent::builder("bot").model(script.clone()).hook(guard);
        let agent = builder.hook(Again(AtomicBool::new(false))).build().unwrap();
        block_on(agent.call("Go")).unwrap();
        let requests = script.requests();
        assert_eq!(requests.len(), 2, "{name}");
        let inside = serde_json::to_string(&requests[1].messages).unwrap();
        assert!(inside.contains("sk-77") && !inside.contains(removed), "{name}: {inside}");
    }
}

#[test]
fn guards_and_limits_run_in_calls_inside_of_calls() {
    let plays = || ScriptedModel::new("plays", |_| "done");
    let words = WordList::new(["x"]).unwrap();
    let hooks: [Box<dyn DynAgentHook>; 19] = [
        Box::new(PiiDetection::email()),
        Box::new(Secrets::new()),
        Box::new(SensitiveWords::new(words)),
        Box::new(Sanitize::new("x", "y").unwrap()),
        Box::new(Spotlight::all()),
        Box::new(RuleOfTwo::new()),
        Box::new(Provenance::new()),
        Box::new(Rules::builder().build().unwrap()),
        Box::new(EgressGuard::new(["x"]).unwrap().private_data(["*"]).unwrap()),
        Box::new(McpPins::open("no-pins.json").unwrap()),
        Box::new(Judge::new(plays(), "Be good.")),
        Box::new(ToolParams::new()),
        Box::new(InjectPrompt::new("Be brief.")),
        Box::new(HumanInTheLoop::new().ask("x")),
        Box::new(ToolEmulator::new(plays())),
        Box::new(ModelCallLimit::builder().run(1).build().unwrap()),
        Box::new(ToolCallLimit::all().run(1).build().unwrap()),
        Box::new(RateLimit::of_models().requests(1, MINUTE).build().unwrap()),
        Box::new(Budget::builder().run_tokens(1).build().unwrap()),
    ];
    for hook in hooks {
        assert!(hook.always(), "{}", hook.name());
    }
}
