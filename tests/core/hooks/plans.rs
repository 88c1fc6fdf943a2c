//! The order of a plan, and when it changes.

use hooks_core::{HookOptions, Hookable, Hooks, hookable};

#[hookable]
trait Speaks: Hookable {
    fn print(&self);
}

#[derive(Hookable, Default)]
struct Speaker {
    hooks: Hooks,
}

/// Its own methods, before those of its trait, and in several modules.
mod late {
    use hooks_core::hookable;

    #[hookable]
    impl super::Speaker {
        pub(super) fn observe(&self) {}
    }
}

mod early {
    use hooks_core::hookable;

    #[hookable]
    impl super::Speaker {
        #[hook]
        pub(super) fn second(&self) {}
    }

    #[hookable]
    impl super::Speaker {
        #[hook]
        pub(super) fn first(&self) {}
    }
}

#[hookable]
impl Speaks for Speaker {
    fn print(&self) {}
}

#[test]
fn the_order_of_a_plan_is_that_of_the_source_and_not_of_the_linker() {
    use early::{SpeakerFirstArgs, SpeakerSecondArgs};
    use late::SpeakerObserveArgs;

    let speaker = Speaker::default();
    speaker.register_instance_hook(
        Speaker::PRE_FIRST,
        "first",
        |_: &Speaker, _: &SpeakerFirstArgs| {},
    );
    speaker.register_instance_hook(
        Speaker::PRE_OBSERVE,
        "observe",
        |_: &Speaker, _: &SpeakerObserveArgs| {},
    );
    speaker.register_instance_hook(
        Speaker::PRE_SECOND,
        "second",
        |_: &Speaker, _: &SpeakerSecondArgs| {},
    );
    speaker.register_instance_hook(
        Speaker::PRE_PRINT,
        "print",
        |_: &Speaker, _: &SpeaksPrintArgs| {},
    );

    let plan = speaker.hook_plan();

    let names: Vec<_> = plan.hooks().iter().map(hooks_core::plan::PlannedHook::name).collect();
    assert_eq!(names, ["print", "second", "first", "observe"]);
}

#[test]
fn a_version_changes_with_the_hooks_of_the_instance_and_of_its_class_alone() {
    #[derive(Hookable, Default)]
    struct Counter {
        hooks: Hooks,
    }
    #[hookable]
    impl Counter {
        fn reply(&self) {}
    }
    let (counter, other) = (Counter::default(), Counter::default());
    let none = counter.hooks_version();
    other.register_instance_hook(
        Counter::PRE_REPLY,
        "other",
        |_: &Counter, _: &CounterReplyArgs| {},
    );
    other.reply();
    counter.reply();

    counter.register_instance_hook(
        Counter::PRE_REPLY,
        "own",
        |_: &Counter, _: &CounterReplyArgs| {},
    );
    let own = counter.hooks_version();
    assert_ne!(own, none);
    assert_ne!(own, other.hooks_version());

    Counter::register_class_hook(
        Counter::PRE_REPLY,
        "class",
        |_: &Counter, _: &CounterReplyArgs| {},
    );
    let class = counter.hooks_version();
    assert_ne!(class, own);

    counter.remove_instance_hook(Counter::PRE_REPLY, "own").unwrap();
    assert_ne!(counter.hooks_version(), class);
}

#[test]
fn a_name_cannot_turn_the_line_that_it_is_shown_in() {
    #[derive(Hookable, Default)]
    struct Counter {
        hooks: Hooks,
    }
    #[hookable]
    impl Counter {
        fn reply(&self) {}
    }
    let counter = Counter::default();
    let look = |_: &Counter, _: &CounterReplyArgs| {};
    let options = HookOptions::named("guard\u{202e}\u{200b}é").warnings(["look".to_owned()]);
    counter.register_instance_hook(Counter::PRE_REPLY, options, look);
    let plan = counter.hook_plan();
    let shown = plan.to_string();
    assert!(shown.contains(r"guard\u{202e}\u{200b}é "), "{shown}");
    assert_eq!(plan.warnings()[0].to_string(), r"`guard\u{202e}\u{200b}é`: look");
    assert_eq!(plan.hooks()[0].name(), "guard\u{202e}\u{200b}é", "the name itself stays");
}
