//! Hooks whose order defeats them.

use hooks_agent::builtin::observe::JsonlTrace;
use hooks_agent::hook::{AroundMask, Rewrite};
use hooks_agent::prelude::*;
use hooks_core::{HookOptions, HookRole};

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

/// A hook without a role that may answer.
fn answering() -> impl AgentHook {
    on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", "No.")))
}

#[test]
fn a_hook_that_cannot_answer_is_no_warning_before_a_guard() {
    let look = on(|_: &mut PreCall<'_>| ()).with_priority(1);
    let fails = on(|_: &mut PreCall<'_>| -> HookResult { Ok(()) }).with_priority(1);
    let later = on(|_: &mut PostCall<'_>| Flow::Continue).with_priority(1);
    let hooks = warnings(|builder| builder.hook(look).hook(fails).hook(later).hook(redactor()));
    assert_eq!(hooks, [""; 0]);
    assert_eq!(warnings(|builder| builder.hook(Looks).hook(redactor())), [""; 0]);
    assert_eq!(warnings(|builder| builder.hook(answering()).hook(redactor())), [""; 0]);
}

struct Looks;

#[agent_hook(priority = 1)]
impl Looks {
    fn look(&self, _: &mut PreCall<'_>) {}

    fn fail(&self, _: &mut PreReasoning<'_>) -> HookResult {
        Ok(())
    }

    async fn wait(&self, _: &mut PreSummary<'_>) -> HookResult<()> {
        Ok(())
    }
}

struct Answers;

#[agent_hook(priority = 1)]
impl Answers {
    fn look(&self, _: &mut PreReasoning<'_>) {}

    async fn answer(&self, _: &mut PreCall<'_>) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }
}

#[test]
fn a_hook_that_may_answer_before_a_guard_is_a_warning_whose_advice_cures() {
    let expected = "`PRE_CALL` (priority 5) may answer at pre_reply, and `Rewrite` (priority 10) does not run \
                    then: give `PRE_CALL` the higher priority";
    let found = warnings(|builder| builder.hook(answering().with_priority(5)).hook(redactor()));
    assert_eq!(found, [expected]);
    let cured = warnings(|builder| builder.hook(answering().with_priority(11)).hook(redactor()));
    assert_eq!(cured, [""; 0]);
    let found = warnings(|builder| builder.hook(Answers).hook(redactor()));
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(found.starts_with("`Answers` (priority 1) may answer at pre_reply, and"), "{found}");
    // A guard may answer before a guard: what it refuses, none needs to see.
    let guard = || answering().with_role(HookRole::Guards).with_priority(5);
    assert_eq!(warnings(|builder| builder.hook(guard()).hook(redactor())), [""; 0]);
    let found = warnings(|builder| builder.hook(answering().with_priority(1)).hook(guard()));
    assert_eq!(found.len(), 1, "{found:?}");
}

/// An agent of a type of its own, so that its class hooks are those of one test.
#[derive(Hookable)]
struct Clerk {
    state: AgentState,
    hooks: Hooks,
}

#[hookable]
impl Agent for Clerk {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, _: CallContext, _: Messages) -> Result<Msg, AgentError> {
        Ok(Msg::assistant("clerk", "Done."))
    }
}

#[test]
fn what_the_level_or_the_type_defeats_is_a_warning_that_names_them() {
    let clerk = Clerk { state: AgentState::new("clerk"), hooks: Hooks::new() };
    let plan = || clerk.hook_plan().warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
    let class = |name: &str, priority, role| {
        let options = HookOptions::named(name).priority(priority).role(role);
        let look = hook!(Clerk::PRE_REPLY, |_, _| ());
        Clerk::register_class_hook(Clerk::PRE_REPLY, options, look);
    };
    class("mask", 1, HookRole::Redacts);
    clerk.register_call_hook(answering().with_priority(900));
    let cause = "hooks of an instance run before hooks of its class, whatever their priorities: register \
                 `mask` on the instance, or `PRE_CALL` for the class, and give `PRE_CALL` the higher priority";
    let found = plan();
    let start = "`PRE_CALL` (priority 900) may answer at pre_reply, and `mask` (priority 1) does not run then: ";
    assert_eq!(found, [format!("{start}{cause}")]);
    clerk.remove_call_hook("PRE_CALL").unwrap();

    // An observer on the instance is before a redactor of the class, and its priority is the higher one.
    let log = HookOptions::named("log").priority(900).role(HookRole::Observes);
    clerk.register_instance_hook(Clerk::PRE_REPLY, log, hook!(Clerk::PRE_REPLY, |_, _| ()));
    let found = plan();
    assert!(found.len() == 1 && found[0].contains("whatever their priorities"), "{found:?}");
    clerk.remove_instance_hook(Clerk::PRE_REPLY, "log").unwrap();
    class("log", 900, HookRole::Observes);
    assert_eq!(plan(), [""; 0]);

    // A hook for the type is before one for its trait.
    Clerk::remove_class_hook(Clerk::PRE_REPLY, "mask").unwrap();
    let mask = redactor().named("trait mask").with_priority(1);
    clerk.register_call_hook(mask);
    let own = HookOptions::named("own log").priority(900).role(HookRole::Observes);
    clerk.register_instance_hook(Clerk::PRE_REPLY, own, hook!(Clerk::PRE_REPLY, |_, _| ()));
    let found = plan();
    assert!(
        found.iter().any(|it| it.contains("hooks of a type run before hooks of its traits")),
        "{found:?}"
    );
}

#[test]
fn a_pre_hook_that_may_answer_is_before_every_guard_around_the_call() {
    let clerk = Clerk { state: AgentState::new("clerk"), hooks: Hooks::new() };
    let guard = HookOptions::named("guard").priority(1).role(HookRole::Guards);
    let around = hook!(Clerk::AROUND_REPLY, async move |_, args, next| next.run(args).await);
    clerk.register_instance_hook(Clerk::AROUND_REPLY, guard, around);
    let answer = hook!(Clerk::PRE_REPLY, |_, _| -> HookResult<std::ops::ControlFlow<Msg>> {
        Ok(std::ops::ControlFlow::Continue(()))
    });
    clerk.register_instance_hook(
        Clerk::PRE_REPLY,
        HookOptions::named("cache").priority(900),
        answer,
    );
    let look = hook!(Clerk::PRE_REPLY, async |_, _| Ok(()));
    clerk.register_instance_hook(Clerk::PRE_REPLY, "look", look);
    let warnings = clerk.hook_plan().warnings();
    let found: Vec<_> = warnings.iter().filter(|it| it.second().name() == "guard").collect();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(
        found.first().name() == "cache" && found.to_string().contains("make a hook around"),
        "{found}"
    );
}
