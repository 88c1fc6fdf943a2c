//! Hooks whose order defeats them.

use std::sync::{Mutex, PoisonError};

use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::hook::{AroundMask, Rewrite};
use hooks_agent_core::prelude::*;
use hooks_core::{HookOptions, HookRole, Level};

fn redactor() -> Rewrite {
    Rewrite::new(1, |_, _| None).input(true)
}

fn trace() -> JsonlTrace {
    JsonlTrace::to_writer(std::io::sink()).open().unwrap()
}

/// A hook around model calls, with a role or without.
struct Around(Option<HookRole>);

impl From<HookRole> for Around {
    fn from(role: HookRole) -> Self {
        Self(Some(role))
    }
}

impl AgentHook for Around {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    fn role(&self) -> Option<HookRole> {
        self.0
    }
}

fn warnings(
    hooks: impl FnOnce(
        hooks_agent_core::react::ReActAgentBuilder,
    ) -> hooks_agent_core::react::ReActAgentBuilder,
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
    let limit = || Around::from(HookRole::Limits).named("limit");
    let retry = || Around::from(HookRole::Retries).named("retry");
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

#[test]
fn a_hook_around_a_call_that_may_answer_outside_of_a_guard_is_a_warning_whose_advice_cures() {
    for role in [HookRole::Guards, HookRole::Redacts, HookRole::Asks] {
        let guard = || Around::from(role).named("guard").with_priority(20);
        let cache = |priority| Around(None).named("cache").with_priority(priority);
        let expected = "`cache` (priority 5) may answer at around_model_call, and `guard` (priority 20) does \
                        not run then: give `cache` the higher priority";
        assert_eq!(warnings(|it| it.hook(cache(5)).hook(guard())), [expected], "{role:?}");
        assert_eq!(warnings(|it| it.hook(cache(21)).hook(guard())), [""; 0], "{role:?}");
        // One that passes each call on says so.
        let passes = cache(5).never_answers();
        assert_eq!(warnings(|it| it.hook(passes).hook(guard())), [""; 0], "{role:?}");
    }
}

#[test]
fn hooks_that_observe_ask_or_retry_may_not_answer_before_a_guard() {
    let guard = || Around::from(HookRole::Guards).named("guard").with_priority(20);
    for role in [HookRole::Observes, HookRole::Asks, HookRole::Retries] {
        let first = || Around::from(role).named("first");
        let found = warnings(|it| it.hook(first().with_priority(5)).hook(guard()));
        assert_eq!(found.len(), 1, "{role:?}: {found:?}");
        assert_eq!(warnings(|it| it.hook(first().with_priority(21)).hook(guard())), [""; 0]);
        let first = || answering().named("first").with_role(role);
        let found = warnings(|it| it.hook(first().with_priority(5)).hook(redactor()));
        assert!(!found.is_empty(), "{role:?}");
        let cured = warnings(|it| it.hook(first().with_priority(11)).hook(redactor()));
        assert_eq!(cured, [""; 0], "{role:?}");
    }
    // What these answer is a refusal.
    for role in [HookRole::Guards, HookRole::Limits, HookRole::Redacts] {
        let first = Around::from(role).named("first").with_priority(5);
        assert_eq!(warnings(|it| it.hook(first).hook(guard())), [""; 0], "{role:?}");
    }
}

#[test]
fn a_hook_that_may_answer_before_people_are_asked_is_a_warning() {
    let asks = || answering().named("asks").with_role(HookRole::Asks).with_priority(20);
    let found = warnings(|it| it.hook(answering().with_priority(5)).hook(asks()));
    let expected = "`PRE_CALL` (priority 5) may answer at pre_reply, and `asks` (priority 20) does not run \
                    then: give `PRE_CALL` the higher priority";
    assert_eq!(found, [expected]);
    let cured = warnings(|it| it.hook(answering().with_priority(21)).hook(asks()));
    assert_eq!(cured, [""; 0]);
}

/// Tests that look at the class hooks of a clerk take turns.
static TURN: Mutex<()> = Mutex::new(());

/// An agent of a type of its own, so that its class hooks are those of these tests.
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
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Hooks of `reply` of a [`Clerk`], by level.
#[derive(Clone, Copy)]
struct Of(Level);

impl Of {
    fn around(self, clerk: &Clerk, options: HookOptions) {
        let hook = hook!(Clerk::AROUND_REPLY, async move |_, args, next| next.run(args).await);
        match self.0 {
            Level::Class => Clerk::register_class_hook(Clerk::AROUND_REPLY, options, hook),
            _ => clerk.register_instance_hook(Clerk::AROUND_REPLY, options, hook),
        }
    }

    fn pre(self, clerk: &Clerk, options: HookOptions) {
        let hook = hook!(Clerk::PRE_REPLY, |_, _| -> HookResult<std::ops::ControlFlow<Msg>> {
            Ok(std::ops::ControlFlow::Continue(()))
        });
        match self.0 {
            Level::Class => Clerk::register_class_hook(Clerk::PRE_REPLY, options, hook),
            _ => clerk.register_instance_hook(Clerk::PRE_REPLY, options, hook),
        }
    }
}

/// Registers hooks at a clerk of its own and returns the warnings about the two.
fn of_clerk(register: impl FnOnce(&Clerk)) -> Vec<String> {
    let clerk = Clerk { state: AgentState::new("clerk"), hooks: Hooks::new() };
    register(&clerk);
    let plan = clerk.hook_plan();
    for name in ["phased cache", "phased guard"] {
        let _ = Clerk::remove_class_hook(Clerk::PRE_REPLY, name);
        let _ = Clerk::remove_class_hook(Clerk::AROUND_REPLY, name);
    }
    let warnings = plan.warnings();
    let ours = warnings.iter().filter(|it| it.second().name() == "phased guard");
    ours.map(ToString::to_string).collect()
}

#[test]
fn the_advice_about_the_phase_and_the_level_cures() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = |priority| HookOptions::named("phased cache").priority(priority);
    let guard =
        |priority| HookOptions::named("phased guard").priority(priority).role(HookRole::Guards);
    let (own, class) = (Of(Level::Instance), Of(Level::Class));
    for (of_cache, of_guard) in [(own, own), (own, class), (class, own), (class, class)] {
        let found = of_clerk(|clerk| {
            of_cache.pre(clerk, cache(1));
            of_guard.around(clerk, guard(900));
        });
        let [found] = &found[..] else { panic!("{found:?}") };
        let levels = "hooks of an instance run before hooks of its class";
        assert!(found.contains("make a hook around the call of `phased cache`"), "{found}");
        assert!(found.ends_with("and give `phased cache` the higher priority"), "{found}");
        let (is_before, is_of_one) = (of_cache.0 < of_guard.0, of_cache.0 == of_guard.0);
        assert_eq!(found.contains(levels), is_before, "{found}");
        // As it says: both around the call, or both before it; on the instance, if it says so.
        let of_guard = if is_before || is_of_one { of_cache } else { of_guard };
        let both_around = of_clerk(|clerk| {
            of_cache.around(clerk, cache(901));
            of_guard.around(clerk, guard(900));
        });
        assert_eq!(both_around, [""; 0]);
        let both_before = of_clerk(|clerk| {
            of_cache.pre(clerk, cache(901));
            of_guard.pre(clerk, guard(900));
        });
        assert_eq!(both_before, [""; 0]);
    }
}

#[test]
fn a_limit_before_a_retry_around_the_call_is_told_to_run_around_it() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let limit = || HookOptions::named("phased cache").priority(900).role(HookRole::Limits);
    let retry = || HookOptions::named("phased guard").priority(1).role(HookRole::Retries);
    let own = Of(Level::Instance);
    let found = of_clerk(|clerk| {
        own.pre(clerk, limit());
        own.around(clerk, retry());
    });
    let advice = "pre hooks run before hooks around the call, whatever their priorities: make a hook around \
                  the call of `phased cache`, and give `phased cache` the higher priority";
    assert!(found.len() == 1 && found[0].ends_with(advice), "{found:?}");
    let cured = of_clerk(|clerk| {
        own.around(clerk, limit());
        own.around(clerk, retry());
    });
    assert_eq!(cured, [""; 0]);
}

#[test]
fn a_pre_hook_that_may_answer_is_before_every_guard_around_the_call() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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
