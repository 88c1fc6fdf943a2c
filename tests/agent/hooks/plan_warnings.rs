//! Hooks whose order defeats them.

use hooks_agent::HookRole;
use hooks_agent::builtin::observe::JsonlTrace;
use hooks_agent::hook::{AroundMask, Rewrite};
use hooks_agent::prelude::*;

fn redactor() -> Rewrite {
    Rewrite::new(1, |_, _| None).input(true)
}

fn trace() -> JsonlTrace {
    JsonlTrace::to_writer(std::io::sink()).open().unwrap()
}

/// A hook around model calls with a role.
struct Around(HookRole);

impl AgentHook for Around {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    fn role(&self) -> Option<HookRole> {
        Some(self.0)
    }
}

fn warnings(
    hooks: impl FnOnce(hooks_agent::react::ReActAgentBuilder) -> hooks_agent::react::ReActAgentBuilder,
) -> Vec<String> {
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let agent = hooks(ReActAgent::builder("bot").model(model)).build().unwrap();
    agent.hook_plan().warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn an_observer_of_content_before_a_redactor_is_a_warning_at_each_event() {
    assert_eq!(warnings(|builder| builder.hook(trace()).hook(redactor())), [""; 0]);
    let early = warnings(|builder| builder.hook(trace().with_priority(5)).hook(redactor()));
    let [early] = &early[..] else { panic!("{early:?}") };
    let (observed, advice) = early.split_once(" before ").unwrap();
    let observed = observed.strip_prefix("`JsonlTrace` (priority 5) observes ").unwrap();
    // The order of the methods is that of the linker.
    let mut observed: Vec<_> = observed.split(", ").collect();
    observed.sort_unstable();
    assert_eq!(observed, ["post_reasoning", "post_reply", "pre_reasoning", "pre_reply"]);
    assert_eq!(advice, "`Rewrite` (priority 10) redacts it: give `JsonlTrace` the higher priority");
}

#[test]
fn a_limit_that_counts_a_repeated_call_once_is_a_warning() {
    let limit = || Around(HookRole::Limits).named("limit");
    let retry = || Around(HookRole::Retries).named("retry");
    let expected = "`limit` (priority 1) counts a call of model_call once that `retry` (priority 100) \
                    repeats: give `limit` the higher priority";
    assert_eq!(
        warnings(|builder| builder.hook(limit().with_priority(1)).hook(retry())),
        [expected]
    );
    assert_eq!(warnings(|builder| builder.hook(limit()).hook(retry().with_priority(1))), [""; 0]);
}

#[test]
fn hooks_without_a_role_are_not_judged() {
    let look = on(|_: &mut PreCall<'_>| ()).with_priority(1);
    assert_eq!(warnings(|builder| builder.hook(look).hook(redactor())), [""; 0]);
}
