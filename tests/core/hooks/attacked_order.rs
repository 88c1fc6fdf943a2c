//! Attacks on hooks that ask where to stand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use hooks_core::{HookError, HookOptions, HookOrder, Hookable, Hooks, class_hook, hookable};
use hooks_fixtures::Records;
use serde_json::Value;

#[derive(Hookable, Default)]
struct Desk {
    ran: Records<String>,
    hooks: Hooks,
}

#[hookable(json)]
impl Desk {
    async fn reply(&self, text: String) -> Result<String, HookError> {
        self.ran.push("body".to_owned());
        Ok(text)
    }

    fn print(&self) {
        self.ran.push("body".to_owned());
    }

    #[hook(reentry = "skip")]
    fn nest(&self, depth: usize) -> Result<usize, HookError> {
        self.ran.push(format!("body {depth}"));
        match depth {
            0 => Ok(0),
            _ => self.nest(depth - 1),
        }
    }
}

impl Desk {
    fn add(&self, options: impl Into<HookOptions>) -> &Self {
        let options = options.into();
        self.register_instance_hook(Desk::PRE_PRINT, options, |_: &Desk, _: &DeskPrintArgs| {});
        self
    }

    fn planned(&self) -> Vec<String> {
        let plan = self.hook_plan();
        let hooks = plan.hooks().iter().filter(|hook| hook.hook_type().to_string() == "pre_print");
        hooks.map(|hook| hook.name().to_owned()).collect()
    }

    fn fails(&self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.print())).is_err()
    }

    fn warns(&self) -> bool {
        !self.hook_plan().warnings().is_empty()
    }
}

fn named(name: &str, priority: i32) -> HookOptions {
    HookOptions::named(name).priority(priority)
}

#[test]
fn plans_and_calls_say_the_same_of_a_hook_that_has_run_once() {
    let desk = Desk::default();
    desk.add(HookOptions::named("setup").once()).add(named("guard", 0).after("setup"));
    for _ in 0..3 {
        let warns = desk.warns();
        assert_eq!(desk.fails(), warns);
    }
}

#[test]
fn a_hook_that_ran_once_asks_for_nothing_any_more() {
    let desk = Desk::default();
    desk.add(HookOptions::named("setup").once().before("late")).add("late");
    assert!(!desk.fails());
    desk.remove_instance_hook(Desk::PRE_PRINT, "late").unwrap();
    assert!(!desk.warns());
    assert!(!desk.fails());
}

#[test]
fn a_name_asked_for_after_an_order_where_present_is_still_asked_for() {
    let desk = Desk::default();
    let order = HookOrder::new().before("audit").where_present();
    desk.add(HookOptions::named("guard").order(order).requires("redact"));
    assert!(desk.fails());
    assert!(desk.warns());
}

#[test]
fn what_a_missing_name_is_asked_for_by_does_not_move_and_moves_nobody() {
    let desk = Desk::default();
    desk.add(named("s1", 10)).add(named("s2", 20)).add(named("q", 30));
    let known = desk.planned();
    // As above, but `q` asks for what is not there.
    let order = HookOrder::new().before("nobody").where_present();
    desk.add(named("q", 30).order(order));
    assert_eq!(desk.planned(), known);
    desk.add(named("m", 40).before("s1").after("q"));
    // Where `q` is one that stays, `m` cannot stand before `s1`.
    assert!(desk.fails(), "{:?}", desk.planned());
}

#[test]
fn clones_and_sealed_instances_keep_the_order() {
    let desk = Desk::default();
    for index in 0..150 {
        desk.add(named(&index.to_string(), index));
    }
    desk.add(named("last", 0).after("149")).add(named("first", 500).before("0"));
    let planned = desk.planned();
    assert_eq!((planned[0].as_str(), planned[151].as_str()), ("first", "last"));
    let clone = Desk { hooks: desk.hooks.clone(), ..Desk::default() };
    assert_eq!(clone.planned(), planned);
    clone.remove_instance_hook(Desk::PRE_PRINT, "0").unwrap();
    assert!(clone.fails() && !desk.fails());
    desk.hooks.seal();
    assert_eq!(desk.planned(), planned);
    assert!(!desk.fails());
}

#[test]
fn hooks_as_json_stand_where_they_ask_to() {
    let desk = Desk::default();
    let push = |text: &'static str| {
        move |args: &mut Value| {
            let known = args["text"].as_str().unwrap_or_default().to_owned();
            args["text"] = format!("{known}{text}").into();
        }
    };
    desk.register_json_hook("pre_reply", "b", push("b")).unwrap();
    desk.register_json_hook("pre_reply", HookOptions::named("a").before("b"), push("a")).unwrap();
    assert_eq!(block_on(desk.reply(String::new())).unwrap(), "ab");
    desk.remove_instance_hook(Desk::PRE_REPLY, "b").unwrap();
    assert!(matches!(block_on(desk.reply(String::new())), Err(HookError::Misordered { .. })));
}

#[derive(Hookable, Default)]
struct Linked {
    ran: Records<&'static str>,
    hooks: Hooks,
}

#[hookable]
impl Linked {
    async fn reply(&mut self) -> Result<(), HookError> {
        self.ran.push("body");
        Ok(())
    }
}

#[class_hook(Linked::PRE_REPLY, name = "two", priority = -3, after = ["one",], before = [])]
fn two(linked: &Linked, _: &mut LinkedReplyArgs) {
    linked.ran.push("two");
}

#[class_hook(Linked::PRE_REPLY, name = "one", requires = "two")]
async fn one(linked: &Linked, _: &mut LinkedReplyArgs) {
    linked.ran.push("one");
}

#[test]
fn linked_hooks_of_an_exclusive_method_stand_where_they_ask_to() {
    let mut linked = Linked::default();
    block_on(linked.reply()).unwrap();
    assert_eq!(linked.ran.take(), ["one", "two", "body"]);
}

#[test]
fn the_text_of_a_circle_over_many_hooks_names_those_that_ask() {
    let desk = Desk::default();
    for index in 0..1_000 {
        desk.add(named(&index.to_string(), index));
    }
    desk.add(named("x", 0).after("999").before("500"));
    let text = desk.hook_plan().warnings()[0].to_string();
    assert!(text.contains(": `x`, `500`, `999`, `x`;"), "{text}");
}

#[test]
fn names_in_warnings_stay_on_one_line() {
    let desk = Desk::default();
    desk.add(HookOptions::named("guard\nERROR all is well").requires("redact"));
    let text = desk.hook_plan().warnings()[0].to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
}
