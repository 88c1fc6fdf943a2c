//! Hooks that ask where to stand, by the names of others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use hooks_core::{
    HookError, HookOptions, HookOrder, HookResult, Hookable, Hooks, Level, OrderFault, Outcome,
    Recovery, class_hook, hook, hookable,
};
use hooks_fixtures::Records;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Hookable, Default)]
struct Agent {
    ran: Records<String>,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, fails: bool) -> Result<(), HookError> {
        self.ran.push("body".to_owned());
        if fails { Err(HookError::from(missing())) } else { Ok(()) }
    }

    fn print(&self) {
        self.ran.push("body".to_owned());
    }
}

fn missing() -> hooks_core::RegistryError {
    hooks_core::RegistryError::not_found("x", Agent::PRE_REPLY, "Agent", Level::Instance)
}

impl Agent {
    /// Adds a pre hook of `print` that records its name.
    fn add(&self, options: impl Into<HookOptions>) -> &Self {
        self.register_instance_hook(
            Agent::PRE_PRINT,
            options.into(),
            |_: &Agent, _: &AgentPrintArgs| {},
        );
        self
    }

    /// The names of the pre hooks of `print`, in the order of the plan.
    fn planned(&self) -> Vec<String> {
        let plan = self.hook_plan();
        let hooks = plan.hooks().iter().filter(|hook| hook.hook_type().to_string() == "pre_print");
        hooks.map(|hook| hook.name().to_owned()).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.hook_plan().warnings().iter().map(ToString::to_string).collect()
    }
}

fn named(name: &str, priority: i32) -> HookOptions {
    HookOptions::named(name).priority(priority)
}

#[test]
fn a_hook_that_asks_moves_and_the_others_stay() {
    let agent = Agent::default();
    agent.add(named("a", 10)).add(named("b", 20)).add(named("c", 30)).add(named("d", 40));
    agent.add(named("first", 50).before("b"));
    assert_eq!(agent.planned(), ["a", "first", "b", "c", "d"]);
    agent.add(named("last", 5).after("c"));
    assert_eq!(agent.planned(), ["a", "first", "b", "c", "last", "d"]);
    agent.add(named("early", 90).before("first").before("d"));
    assert_eq!(agent.planned(), ["a", "early", "first", "b", "c", "last", "d"]);
    // Where it stands already, it stays.
    agent.add(named("z", 99).after("a"));
    assert_eq!(agent.planned(), ["a", "early", "first", "b", "c", "last", "d", "z"]);
}

#[test]
fn all_of_a_name_are_meant_also_in_long_lists() {
    let agent = Agent::default();
    for index in 0..200 {
        agent.add(named(&format!("{index}"), index));
    }
    agent.add(named("behind", 0).after("150").after("20"));
    agent.add(named("ahead", 500).before("70"));
    let planned = agent.planned();
    let place = |name: &str| planned.iter().position(|known| known == name).unwrap();
    assert_eq!(planned.len(), 202);
    assert_eq!(place("behind"), place("150") + 1);
    assert_eq!(place("ahead") + 1, place("70"));
    let rest: Vec<usize> = planned.iter().filter_map(|name| name.parse().ok()).collect();
    assert_eq!(rest, (0..200).collect::<Vec<_>>());
}

#[test]
fn the_order_holds_in_every_phase_of_an_async_method() {
    let agent = Agent::default();
    let order = |name: &'static str| match name {
        "late" => HookOptions::named(name),
        _ => HookOptions::named(name).before("late"),
    };
    for name in ["late", "early"] {
        agent.register_instance_hook(
            Agent::PRE_REPLY,
            order(name),
            hook!(Agent::PRE_REPLY, async move |agent, _| {
                tokio::task::yield_now().await;
                agent.ran.push(format!("pre {name}"));
            }),
        );
        agent.register_instance_hook(
            Agent::AROUND_REPLY,
            order(name),
            hook!(Agent::AROUND_REPLY, async move |agent, args, next| {
                agent.ran.push(format!("around {name}"));
                next.run(args).await
            }),
        );
        agent.register_instance_hook(
            Agent::POST_REPLY,
            order(name),
            hook!(Agent::POST_REPLY, move |agent, _, ()| {
                agent.ran.push(format!("post {name}"));
            }),
        );
        agent.register_instance_hook(
            Agent::ERROR_REPLY,
            order(name),
            hook!(Agent::ERROR_REPLY, move |agent, _, _| {
                agent.ran.push(format!("error {name}"));
                Recovery::Fail
            }),
        );
        agent.register_instance_hook(
            Agent::SETTLED_REPLY,
            order(name),
            hook!(Agent::SETTLED_REPLY, move |agent, _| {
                agent.ran.push(format!("settled {name}"));
            }),
        );
    }
    block_on(agent.reply(false)).unwrap();
    assert_eq!(
        agent.ran.take(),
        [
            "pre early",
            "pre late",
            "around early",
            "around late",
            "body",
            "post early",
            "post late",
            "settled early",
            "settled late",
        ]
    );
    block_on(agent.reply(true)).unwrap_err();
    assert_eq!(
        agent.ran.take(),
        [
            "pre early",
            "pre late",
            "around early",
            "around late",
            "body",
            "error early",
            "error late",
            "settled early",
            "settled late",
        ]
    );
}

#[test]
fn a_missing_name_refuses_the_call_and_no_hook_runs() {
    let agent = Agent::default();
    let record = |name: &'static str| {
        hook!(Agent::PRE_REPLY, move |agent, _| agent.ran.push(name.to_owned()))
    };
    agent.register_instance_hook(Agent::PRE_REPLY, "other", record("other"));
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "end",
        hook!(Agent::SETTLED_REPLY, |agent, outcome| {
            agent.ran.push(matches!(outcome, Outcome::Err(_)).to_string());
        }),
    );
    for options in [
        HookOptions::named("guard").before("redact"),
        HookOptions::named("guard").after("redact"),
        HookOptions::named("guard").requires("redact"),
    ] {
        agent.register_instance_hook(Agent::PRE_REPLY, options, record("guard"));
        let error = block_on(agent.reply(false)).unwrap_err();
        assert!(
            matches!(&error, HookError::Misordered { fault: OrderFault::Missing { hook, name, .. }, .. }
            if hook == "guard" && name == "redact"),
            "{error}"
        );
        assert_eq!(agent.ran.take(), ["true"]);
        assert_eq!(agent.warnings().len(), 1);
    }
    assert_eq!(
        block_on(agent.reply(false)).unwrap_err().to_string(),
        "the hooks of pre_reply have no order: `guard` requires `redact`, and no hook has that name: add one, or \
         remove `guard`"
    );
    assert_eq!(
        agent.warnings(),
        [
            "calls of pre_reply fail: `guard` requires `redact`, and no hook has that name: add one, or remove \
          `guard`"
        ]
    );
    agent.ran.take();
    agent.register_instance_hook(Agent::PRE_REPLY, "redact", record("redact"));
    block_on(agent.reply(false)).unwrap();
    assert_eq!(agent.ran.take(), ["other", "guard", "redact", "body", "false"]);
    agent.remove_instance_hook(Agent::PRE_REPLY, "redact").unwrap();
    block_on(agent.reply(false)).unwrap_err();
    assert_eq!(agent.ran.take(), ["true"]);
    agent.remove_instance_hook(Agent::PRE_REPLY, "guard").unwrap();
    block_on(agent.reply(false)).unwrap();
    assert_eq!(agent.ran.take(), ["other", "body", "false"]);
}

#[test]
fn a_name_at_another_hook_type_is_not_meant() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::POST_PRINT,
        "redact",
        hook!(Agent::POST_PRINT, |_, _, ()| {}),
    );
    agent.add(HookOptions::named("guard").requires("redact"));
    let panic = catch_unwind(AssertUnwindSafe(|| agent.print())).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("`guard` requires `redact`"), "{text}");
    assert!(agent.ran.take().is_empty());
}

#[test]
fn names_that_are_missing_are_passed_over_where_the_order_says_so() {
    let agent = Agent::default();
    let order = HookOrder::new().after("audit").before("late").where_present();
    agent.add("late").add(HookOptions::named("guard").order(order));
    assert_eq!(agent.planned(), ["guard", "late"]);
    agent.print();
    assert_eq!(agent.ran.take(), ["body"]);
    assert!(agent.warnings().is_empty());
}

#[test]
fn a_circle_is_named_and_refuses_calls() {
    let agent = Agent::default();
    agent
        .add("d")
        .add("c")
        .add(HookOptions::named("a").before("b"))
        .add(HookOptions::named("b").before("c"));
    agent.add(HookOptions::named("e").after("b"));
    agent.print();
    agent.add(HookOptions::named("c").before("a"));
    let panic = catch_unwind(AssertUnwindSafe(|| agent.print())).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert_eq!(
        text,
        "the hooks of pre_print have no order: each of these runs before the next one, by what hooks ask for or by priority: `c`, `a`, `b`, `c`; remove \
         one of the relations"
    );
    assert!(agent.warnings()[0].contains("`c`, `a`, `b`, `c`"));
    let itself = Agent::default();
    itself.add(HookOptions::named("a").after("a"));
    assert!(catch_unwind(AssertUnwindSafe(|| itself.print())).is_err());
    assert!(itself.warnings()[0].contains("`a`, `a`"));
}

#[test]
fn a_hook_never_moves_others_that_ask_for_nothing() {
    let agent = Agent::default();
    agent.add(named("redact", 10)).add(named("log", 100));
    agent.add(HookOptions::named("x").after("log").before("redact"));
    let panic = catch_unwind(AssertUnwindSafe(|| agent.print())).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("`redact`, `log`, `x`, `redact`"), "{text}");
    assert_eq!(agent.planned(), ["redact", "log", "x"]);
}

#[hookable]
trait Speaks: Hookable {
    #[hook]
    async fn speak(&self) -> Result<(), HookError>;
}

#[derive(Hookable, Default)]
struct Speaker {
    ran: Records<&'static str>,
    hooks: Hooks,
}

#[hookable]
impl Speaks for Speaker {
    #[hook]
    async fn speak(&self) -> Result<(), HookError> {
        self.ran.push("body");
        Ok(())
    }
}

#[class_hook(Speaker::PRE_SPEAK, before = "of class", after = ["of instance"], requires = ["of trait", "of class"])]
fn linked(speaker: &Speaker, _: &mut SpeaksSpeakArgs) -> HookResult {
    speaker.ran.push("linked");
    Ok(())
}

#[test]
fn relations_hold_over_levels_and_traits_and_move_nothing_between_them() {
    let speaker = Speaker::default();
    let record =
        |name: &'static str| move |speaker: &Speaker, _: &SpeaksSpeakArgs| speaker.ran.push(name);
    let call = || block_on(speaker.speak());
    Speaker::register_class_hook(Speaker::PRE_SPEAK, named("of class", -5), record("of class"));
    assert!(matches!(call(), Err(HookError::Misordered { .. })));
    speaker.register_instance_hook(Speaker::PRE_SPEAK, "of instance", record("of instance"));
    (&speaker as &dyn Speaks).register_instance_hook(
        <dyn Speaks>::PRE_SPEAK,
        HookOptions::named("of trait").after("of instance").before("linked"),
        |_: &dyn Speaks, _: &SpeaksSpeakArgs| {},
    );
    call().unwrap();
    assert_eq!(speaker.ran.take(), ["of instance", "linked", "of class", "body"]);
    assert!(speaker.hook_plan().warnings().is_empty());
    // A hook of an instance never runs after one of the class.
    speaker.register_instance_hook(
        Speaker::PRE_SPEAK,
        HookOptions::named("late").after("of class"),
        record("late"),
    );
    let error = call().unwrap_err();
    assert!(
        matches!(&error, HookError::Misordered { fault: OrderFault::Level { .. }, .. }),
        "{error}"
    );
    assert!(
        speaker.hook_plan().warnings()[0]
            .to_string()
            .contains("`late` is to run after `of class`, and cannot")
    );
    assert!(speaker.ran.take().is_empty());
    let other = Speaker::default();
    assert!(matches!(block_on(other.speak()), Err(HookError::Misordered { .. })));
}

#[test]
fn plans_show_the_order() {
    let agent = Agent::default();
    agent.add("title").add(HookOptions::named("trim").before("title").requires("title"));
    let plan = agent.hook_plan();
    let text = plan.to_string();
    assert!(text.contains("priority  order                         registered at"), "{text}");
    assert!(text.contains("trim        100  before title, requires title"), "{text}");
    assert_eq!(plan.hooks()[0].order().unwrap().to_string(), "before title, requires title");
    let json = serde_json::to_value(&plan).unwrap();
    let order = serde_json::json!({"before": ["title"], "requires": ["title"]});
    assert_eq!((&json["hooks"][0]["order"], json["hooks"][1].get("order")), (&order, None));
    assert_eq!(agent.clone_hooks().planned(), agent.planned());
}

impl Agent {
    fn clone_hooks(&self) -> Self {
        Self { ran: Records::default(), hooks: self.hooks.clone() }
    }
}

#[test]
fn outcomes_of_refused_calls_reach_error_hooks() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        HookOptions::named("stamp").requires("nobody"),
        hook!(Agent::POST_REPLY, |_, _, ()| {}),
    );
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "note",
        hook!(Agent::ERROR_REPLY, |agent, _, error| {
            agent.ran.push(error.to_string());
            Recovery::Recover(())
        }),
    );
    block_on(agent.reply(false)).unwrap();
    let ran = agent.ran.take();
    assert_eq!(ran.len(), 1);
    assert!(ran[0].starts_with("the hooks of post_reply have no order"), "{ran:?}");
}

/// A hook: its priority, and which others it asks to stand before and after.
type Asked = (i32, Vec<usize>, Vec<usize>);

fn asked() -> impl Strategy<Value = Vec<Asked>> {
    vec((0..4_i32, vec(0..8_usize, 0..2), vec(0..8_usize, 0..2)), 1..8)
}

/// Whether one hook is reached from itself, by steps from each hook to those that run later.
fn has_circle(later: &[Vec<usize>]) -> bool {
    (0..later.len()).any(|start| {
        let (mut seen, mut open) = (vec![false; later.len()], later[start].clone());
        while let Some(at) = open.pop() {
            if at == start {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&later[at]);
            }
        }
        false
    })
}

proptest! {
    #[test]
    fn every_relation_holds_or_the_call_fails(hooks in asked()) {
        let agent = Agent::default();
        let mut later = vec![Vec::new(); hooks.len()];
        for (index, (priority, before, after)) in hooks.iter().enumerate() {
            let mut options = named(&index.to_string(), *priority);
            for other in before.iter().filter(|other| **other < hooks.len()) {
                options = options.before(other.to_string());
                later[index].push(*other);
            }
            for other in after.iter().filter(|other| **other < hooks.len()) {
                options = options.after(other.to_string());
                later[*other].push(index);
            }
            agent.add(options);
        }
        let mut still: Vec<_> = (0..hooks.len()).filter(|index| {
            let (_, before, after) = &hooks[*index];
            before.iter().chain(after).all(|other| *other >= hooks.len())
        }).collect();
        still.sort_by_key(|index| hooks[*index].0);
        for pair in still.windows(2) {
            later[pair[0]].push(pair[1]);
        }
        let fails = catch_unwind(AssertUnwindSafe(|| agent.print())).is_err();
        prop_assert_eq!(fails, has_circle(&later));
        prop_assert_eq!(fails, !agent.warnings().is_empty());
        if !fails {
            let planned = agent.planned();
            let place = |index: usize| planned.iter().position(|name| *name == index.to_string());
            prop_assert_eq!(planned.len(), hooks.len());
            for (index, others) in later.iter().enumerate() {
                for other in others {
                    prop_assert!(place(index) < place(*other), "{} {} {:?}", index, other, planned);
                }
            }
        }
    }

    #[test]
    fn one_hook_that_asks_leaves_the_others_where_they_are(
        priorities in vec(0..5_i32, 1..9), at in 0..9_usize, target in 0..9_usize, is_before: bool,
    ) {
        let (agent, plain) = (Agent::default(), Agent::default());
        let count = priorities.len();
        let (at, target) = (at % count, target % count);
        prop_assume!(at != target);
        for (index, priority) in priorities.iter().enumerate() {
            let options = named(&index.to_string(), *priority);
            plain.add(options.clone());
            agent.add(match index == at {
                true if is_before => options.before(target.to_string()),
                true => options.after(target.to_string()),
                false => options,
            });
        }
        let (planned, mut known) = (agent.planned(), plain.planned());
        let place = |of: usize| known.iter().position(|name| *name == of.to_string()).unwrap();
        let stands = if is_before { place(at) < place(target) } else { place(at) > place(target) };
        if !stands {
            known.retain(|name| *name != at.to_string());
            let target = known.iter().position(|name| *name == target.to_string()).unwrap();
            known.insert(target + usize::from(!is_before), at.to_string());
        }
        prop_assert_eq!(planned, known);
    }
}
