//! Linked hooks whose default creates an agent, or panics.

use std::panic::catch_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_agent_core::prelude::*;

static CREATED: AtomicUsize = AtomicUsize::new(0);
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

fn assistant() -> ReActAgent {
    let model = ScriptedModel::new("fixed", |_| "done");
    ReActAgent::builder("assistant").model(model).build().unwrap()
}

/// Its default creates an agent.
struct First;

impl Default for First {
    fn default() -> Self {
        CREATED.fetch_add(1, Ordering::Relaxed);
        assert_eq!(assistant().name(), "assistant");
        Self
    }
}

#[agent_hook(class)]
impl First {
    fn sign(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text(" 1");
    }
}

/// Its default panics once.
struct Second;

impl Default for Second {
    fn default() -> Self {
        assert!(HAS_PANICKED.swap(true, Ordering::Relaxed), "not yet");
        Self
    }
}

#[agent_hook(class)]
impl Second {
    fn sign(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text(" 2");
    }
}

#[derive(Default)]
struct Third;

#[agent_hook(class)]
impl Third {
    fn sign(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text(" 3");
    }
}

/// The first attempt to create an agent, by whichever test comes first.
static ATTEMPT: LazyLock<Option<&str>> =
    LazyLock::new(|| catch_unwind(assistant).err()?.downcast_ref::<&str>().copied());

#[test]
fn no_agent_is_created_without_a_linked_hook_and_each_is_registered_once() {
    assert_eq!(*ATTEMPT, Some("not yet"));
    assert_eq!(block_on(assistant().call("go")).unwrap().text(), "done 1 2 3");
    assert_eq!(CREATED.load(Ordering::Relaxed), 1);
}

/// How many hooks of this name an agent has.
fn count(name: &str) -> usize {
    let plan = assistant().hook_plan();
    plan.hooks().iter().filter(|hook| hook.name() == name).count()
}

#[test]
fn class_hooks_that_threads_register_at_once_leave_one_of_a_name() {
    LazyLock::force(&ATTEMPT);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let hook = on(|_: &mut PreActing<'_>| ()).named("same");
                    ReActAgent::register_class_agent_hook(hook);
                }
            });
        }
    });
    assert_eq!(count("same"), 1);
    ReActAgent::remove_class_agent_hook("same").unwrap();
    assert_eq!(count("same"), 0);
    ReActAgent::remove_class_agent_hook("same").unwrap_err();
}

/// Removes itself when it runs, and registers another when it is dropped.
struct Once;

#[agent_hook(name = "once")]
impl Once {
    fn leave(&self, event: &mut PreReasoning<'_>) {
        if event.agent().name() == "leaver" {
            ReActAgent::remove_class_agent_hook("once").unwrap();
        }
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        let after = on(|_: &mut PreActing<'_>| ()).named("after");
        ReActAgent::register_class_agent_hook(after);
    }
}

#[test]
fn a_class_hook_may_remove_itself_and_register_another_when_it_is_dropped() {
    LazyLock::force(&ATTEMPT);
    ReActAgent::register_class_agent_hook(Once);
    let model = ScriptedModel::new("fixed", |_| "done");
    let agent = ReActAgent::builder("leaver").model(model).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!((count("once"), count("after")), (0, 1));
    ReActAgent::remove_class_agent_hook("after").unwrap();
}

/// Has no name.
struct Nameless;

impl AgentHook for Nameless {
    fn name(&self) -> String {
        panic!("no name")
    }

    fn events(&self) -> EventMask {
        EventKind::PreActing.into()
    }
}

#[test]
fn a_class_hook_whose_name_panics_is_not_registered_and_stops_no_other() {
    LazyLock::force(&ATTEMPT);
    catch_unwind(|| ReActAgent::register_class_agent_hook(Nameless)).unwrap_err();
    let other = on(|_: &mut PreActing<'_>| ()).named("other");
    ReActAgent::register_class_agent_hook(other);
    assert_eq!(count("other"), 1);
    ReActAgent::remove_class_agent_hook("other").unwrap();
}

/// Asks for users.
struct Fourth;

#[agent_hook(needs_login)]
impl Fourth {
    fn look(&self, _: &PreCall<'_>) {}
}

#[test]
fn a_hook_of_all_agents_that_decides_by_users_needs_a_login() {
    let agent = assistant();
    assert_eq!(agent.needs_login(), None);
    ReActAgent::register_class_agent_hook(Fourth);
    assert_eq!(agent.needs_login().as_deref(), Some("Fourth"));
    ReActAgent::remove_class_agent_hook("Fourth").unwrap();
    assert_eq!(agent.needs_login(), None);
}
