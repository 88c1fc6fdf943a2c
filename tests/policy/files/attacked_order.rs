//! Attacks on hooks of files that ask where to stand.

use hooks_agent_policy::policy::{MergedHook, Policy};

use crate::support::{policy, reply, text, with_say};

fn hook(name: &str, rest: &str) -> String {
    format!("[[hook]]\nuse = \"say\"\nname = \"{name}\"\nwith = {{ text = \" {name}\" }}\n{rest}\n")
}

fn file(hooks: &[(&str, &str)]) -> String {
    let hooks = hooks.iter().map(|(name, rest)| hook(name, rest));
    format!("version = 1\n{}", hooks.collect::<String>())
}

fn names(policy: &Policy) -> Vec<String> {
    policy.merged().hooks().iter().map(|hook: &MergedHook| hook.name().to_owned()).collect()
}

#[tokio::test]
async fn an_order_that_priorities_allow_is_no_error_wherever_hooks_stand_in_the_file() {
    // By priority: `first`, `second`, so `x` fits between them.
    let content = file(&[
        ("second", "priority = 900"),
        ("first", "priority = 1"),
        ("x", "after = [\"first\"]\nbefore = [\"second\"]"),
    ]);
    let opened = with_say(Policy::builder().project(text(&content))).open();
    let policy = opened.map_err(|errors| errors.to_string()).unwrap();
    assert_eq!(names(&policy), ["first", "x", "second"]);
    assert_eq!(reply(&policy, "bot").await, "Done. first x second");
}

#[test]
fn an_order_that_priorities_forbid_is_an_error_when_the_policy_is_loaded() {
    // By priority: `second`, `first`, so `x` cannot be behind `first` and before `second`.
    let content = file(&[
        ("first", "priority = 900"),
        ("second", "priority = 1"),
        ("x", "after = [\"first\"]\nbefore = [\"second\"]"),
    ]);
    let checked = with_say(Policy::builder().project(text(&content))).check();
    assert!(checked.is_err(), "the policy is loaded, and its calls fail");
}

#[tokio::test]
async fn what_is_disabled_asks_for_nothing_also_in_the_merged_policy() {
    let content = file(&[
        ("b", ""),
        ("a", "priority = 900\nbefore = [\"b\"]"),
        ("off", "enabled = false\nafter = [\"b\"]\nbefore = [\"a\"]"),
    ]);
    let policy = policy(&content);
    assert_eq!(reply(&policy, "bot").await, "Done. a b");
    let names: Vec<_> = names(&policy).into_iter().filter(|name| name != "off").collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn a_circle_between_hooks_of_different_agents_is_none() {
    let content = file(&[
        ("a", ""),
        ("b", ""),
        ("x", "agents = [\"one\"]\nafter = [\"b\"]"),
        ("y", "agents = [\"other\"]\nbefore = [\"a\"]"),
    ]);
    let policy = policy(&content);
    assert_eq!(reply(&policy, "one").await, "Done. a b x");
    assert_eq!(reply(&policy, "other").await, "Done. y a b");
}
