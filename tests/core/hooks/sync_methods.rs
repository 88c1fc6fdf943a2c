//! Methods that are not async: what their calls do that has more than simple hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hooks_core::{HookError, HookOptions, HookResult, Hookable, Hooks, Recovery, hook, hookable};
use hooks_fixtures::Records;

#[derive(Hookable, Default)]
struct Scale {
    records: Records<&'static str>,
    hooks: Hooks,
}

#[hookable]
impl Scale {
    #[hook]
    fn weigh(&self, grams: u32) -> Result<u32, HookError> {
        self.records.push("body");
        match grams {
            0 => Err(hooks_core::RegistryError::from(
                "".parse::<hooks_core::HookType>().unwrap_err(),
            )
            .into()),
            _ => Ok(grams),
        }
    }
}

fn always() -> impl Fn(&Scale, &ScaleWeighArgs) -> bool + Send + Sync + 'static {
    |_: &Scale, _: &ScaleWeighArgs| true
}

#[test]
fn error_hooks_of_a_sync_method_see_the_failure_and_may_recover() {
    let scale = Scale::default();
    scale.register_instance_hook(
        Scale::ERROR_WEIGH,
        "note",
        hook!(Scale::ERROR_WEIGH, |scale, args, _| {
            assert_eq!(args.grams, 0);
            scale.records.push("error");
        }),
    );
    assert!(scale.weigh(0).is_err());
    assert_eq!(scale.weigh(1).expect("weighed"), 1);
    assert_eq!(scale.records.take(), ["body", "error", "body"]);
    scale.register_instance_hook(
        Scale::ERROR_WEIGH,
        "tare",
        hook!(Scale::ERROR_WEIGH, |_, _, _| Recovery::Recover(7)),
    );
    assert_eq!(scale.weigh(0).expect("recovered"), 7);
}

#[test]
fn hooks_with_limits_of_a_sync_method_run_one_after_the_other() {
    let scale = Scale::default();
    for name in ["one", "two", "three"] {
        scale.register_instance_hook(
            Scale::PRE_WEIGH,
            HookOptions::named(name).when(always()),
            move |scale: &Scale, args: &mut ScaleWeighArgs| {
                scale.records.push(name);
                args.grams *= 2;
            },
        );
    }
    assert_eq!(scale.weigh(1).expect("weighed"), 8);
    assert_eq!(scale.records.take(), ["one", "two", "three", "body"]);
}

#[test]
fn a_hook_with_limits_that_fails_ends_the_pre_hooks_of_a_sync_method() {
    let scale = Scale::default();
    scale.register_instance_hook(
        Scale::PRE_WEIGH,
        HookOptions::named("refuse").when(always()),
        |_: &Scale, _: &mut ScaleWeighArgs| -> HookResult { Err("too heavy".into()) },
    );
    scale.register_instance_hook(
        Scale::PRE_WEIGH,
        "behind",
        |scale: &Scale, _: &ScaleWeighArgs| scale.records.push("behind"),
    );
    let error = scale.weigh(1).expect_err("refused");
    assert!(error.to_string().contains("too heavy"), "{error}");
    assert!(scale.records.take().is_empty());
}

/// A guard that cannot decide must not let the call through.
#[test]
fn a_panic_of_a_hook_with_limits_is_a_panic_of_the_call() {
    let scale = Scale::default();
    scale.register_instance_hook(
        Scale::PRE_WEIGH,
        HookOptions::named("broken").when(always()),
        hook!(Scale::PRE_WEIGH, |_, _| panic!("the guard broke")),
    );
    let panic = catch_unwind(AssertUnwindSafe(|| scale.weigh(1))).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the guard broke"));
    assert!(scale.records.take().is_empty());
}
