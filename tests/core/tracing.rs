//! A span for each call that has hooks, an event for each hook that runs.

use std::ops::ControlFlow;
use std::time::Duration;

use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Ignore, Outcome, Recovery, hook, hookable,
};
use hooks_fixtures::{Records, Reports};
use tracing::Level;

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: String) -> Result<String, HookError> {
        tokio::task::yield_now().await;
        match &*text {
            "fail" => Err(hooks_core::RegistryError::from(
                "".parse::<hooks_core::HookType>().unwrap_err(),
            )
            .into()),
            _ => Ok(text),
        }
    }

    fn print(&self, _text: &str) {}
}

/// The records without what differs from run to run.
fn timeless(records: &Records<String>) -> Vec<String> {
    let records = records.take();
    let parts = |record: String| -> String {
        let words = record.split(' ').filter(|word| !word.starts_with("duration="));
        words.collect::<Vec<_>>().join(" ")
    };
    assert!(records.iter().all(|record| !record.contains(" ran") || record.contains("duration=")));
    records.into_iter().map(parts).collect()
}

fn event(hook: &str, hook_type: &str, level: &str, outcome: &str) -> String {
    format!(
        "TRACE message=a hook ran hook=\"{hook}\" hook_type={hook_type} level={level} \
         outcome=\"{outcome}\""
    )
}

#[tokio::test]
async fn each_hook_that_runs_is_an_event_in_the_span_of_its_call() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "trim",
        |_: &Agent, args: &mut AgentReplyArgs| args.text = args.text.trim().to_owned(),
    );
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "wrap",
        hook!(Agent::AROUND_REPLY, async |_, args, next| next.run(args).await),
    );
    Agent::register_class_hook(
        Agent::POST_REPLY,
        "sign",
        async |_: &Agent, _: &AgentReplyArgs, reply: &String| Some(format!("{reply}!")),
    );
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "end",
        |_: &Agent, _: &Outcome<'_, String, HookError>| {},
    );

    let (reports, records) = Reports::up_to(Level::TRACE);
    let reporting = tracing::subscriber::set_default(reports);
    assert_eq!(agent.reply(" hi ".to_owned()).await.unwrap(), "hi!");
    drop(reporting);
    let expected = [
        "new hooked_call 1 agent=\"Agent\" method=\"reply\"".to_owned(),
        "enter 1".to_owned(),
        event("trim", "pre_reply", "instance", "continued"),
        // The body waits.
        "exit 1".to_owned(),
        "enter 1".to_owned(),
        event("wrap", "around_reply", "instance", "returned"),
        event("sign", "post_reply", "class", "replaced"),
        event("end", "settled_reply", "instance", "ran"),
        "exit 1".to_owned(),
    ];
    assert_eq!(timeless(&records), expected);
    Agent::clear_all_class_hooks();
}

#[tokio::test]
async fn the_event_says_what_came_of_the_hook() {
    #[derive(Hookable, Default)]
    struct Outcomes {
        hooks: Hooks,
    }
    #[hookable]
    impl Outcomes {
        async fn reply(&self, text: String) -> Result<String, HookError> {
            Ok(text)
        }
        async fn observe(&self) -> Result<(), HookError> {
            Err(hooks_core::RegistryError::from("".parse::<hooks_core::HookType>().unwrap_err())
                .into())
        }
    }
    let agent = Outcomes::default();
    let ignored = HookOptions::named("ignored").on_failure(Ignore).timeout(Duration::from_mins(1));
    agent.register_instance_hook(
        Outcomes::PRE_REPLY,
        ignored,
        async |_: &Outcomes, _: &OutcomesReplyArgs| -> HookResult { Err("not today".into()) },
    );
    agent.register_instance_hook(
        Outcomes::PRE_REPLY,
        HookOptions::named("panics").on_failure(Ignore),
        |_: &Outcomes, args: &OutcomesReplyArgs| assert!(args.text.is_empty(), "not today either"),
    );
    agent.register_instance_hook(
        Outcomes::PRE_REPLY,
        HookOptions::named("not for this").when(|_: &Outcomes, _: &OutcomesReplyArgs| false),
        |_: &Outcomes, _: &OutcomesReplyArgs| {},
    );
    agent.register_instance_hook(
        Outcomes::PRE_REPLY,
        "replaces",
        |_: &Outcomes, args: &OutcomesReplyArgs| Some(args.clone()),
    );
    agent.register_instance_hook(
        Outcomes::PRE_REPLY,
        "answers",
        |_: &Outcomes, args: &OutcomesReplyArgs| ControlFlow::Break(args.text.clone()),
    );
    agent.register_instance_hook(
        Outcomes::POST_REPLY,
        "fails",
        |_: &Outcomes, _: &OutcomesReplyArgs, _: &String| -> HookResult { Err("no".into()) },
    );
    agent.register_instance_hook(
        Outcomes::ERROR_REPLY,
        "recovers",
        |_: &Outcomes, _: &OutcomesReplyArgs, _: &HookError| Recovery::Recover(String::new()),
    );
    agent.register_instance_hook(
        Outcomes::ERROR_OBSERVE,
        "looks",
        |_: &Outcomes, _: &OutcomesObserveArgs, _: &HookError| {},
    );

    let (reports, records) = Reports::up_to(Level::TRACE);
    let reporting = tracing::subscriber::set_default(reports);
    assert_eq!(agent.reply("hi".to_owned()).await.unwrap(), "");
    assert!(agent.observe().await.is_err());
    drop(reporting);
    let events: Vec<_> =
        timeless(&records).into_iter().filter(|record| record.starts_with("TRACE")).collect();
    let expected = [
        event("ignored", "pre_reply", "instance", "failed"),
        event("panics", "pre_reply", "instance", "panicked"),
        event("replaces", "pre_reply", "instance", "replaced"),
        event("answers", "pre_reply", "instance", "returned"),
        event("fails", "post_reply", "instance", "failed"),
        event("recovers", "error_reply", "instance", "recovered"),
        event("looks", "error_observe", "instance", "kept"),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_sync_call_is_traced_too_and_one_without_hooks_is_not() {
    let agent = Agent::default();
    let (reports, records) = Reports::up_to(Level::TRACE);
    let reporting = tracing::subscriber::set_default(reports);
    agent.print("nothing");
    assert_eq!(timeless(&records), [""; 0]);
    agent.register_instance_hook(Agent::PRE_PRINT, "look", |_: &Agent, _: &AgentPrintArgs| {});
    agent.print("something");
    drop(reporting);
    let expected = [
        "new hooked_call 1 agent=\"Agent\" method=\"print\"".to_owned(),
        "enter 1".to_owned(),
        event("look", "pre_print", "instance", "continued"),
        "exit 1".to_owned(),
    ];
    assert_eq!(timeless(&records), expected);
}

#[tokio::test]
async fn who_wants_spans_only_gets_spans_only() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_PRINT, "look", |_: &Agent, _: &AgentPrintArgs| {});
    let (reports, records) = Reports::up_to(Level::DEBUG);
    let reporting = tracing::subscriber::set_default(reports);
    agent.print("something");
    drop(reporting);
    let expected = ["new hooked_call 1 agent=\"Agent\" method=\"print\"", "enter 1", "exit 1"];
    assert_eq!(timeless(&records), expected);
}

/// A subscriber that asks of each event whether it wants it; that must not be asked for nothing.
#[test]
fn nobody_is_asked_for_an_event_that_does_not_come() {
    use tracing_subscriber::filter::LevelFilter;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::{Layer, registry};

    struct Heard(std::sync::Arc<Records<String>>);
    impl<S: tracing::Subscriber> Layer<S> for Heard {
        fn on_event(
            &self,
            event: &tracing::Event<'_>,
            _: tracing_subscriber::layer::Context<'_, S>,
        ) {
            self.0.push(event.metadata().level().to_string());
        }
    }
    #[derive(Hookable, Default)]
    struct Talks {
        hooks: Hooks,
    }
    #[hookable]
    impl Talks {
        fn print(&self) {
            tracing::info!("the body");
        }
    }
    let talks = Talks::default();
    talks.register_instance_hook(
        Talks::SETTLED_PRINT,
        "end",
        |_: &Talks, _: &Outcome<'_, (), std::convert::Infallible>| {},
    );
    let (all, some) = (std::sync::Arc::new(Records::new()), std::sync::Arc::new(Records::new()));
    let subscriber = registry()
        .with(Heard(all.clone()).with_filter(LevelFilter::TRACE))
        .with(Heard(some.clone()).with_filter(LevelFilter::INFO));
    tracing::subscriber::with_default(subscriber, || talks.print());
    assert_eq!(all.take(), ["INFO", "TRACE"]);
    assert_eq!(some.take(), ["INFO"]);
}

#[test]
fn a_nested_call_says_which_hooks_it_does_not_run() {
    #[derive(Hookable, Default)]
    struct Nested {
        hooks: Hooks,
    }
    #[hookable]
    impl Nested {
        fn print(&self, more: usize) -> usize {
            if more == 0 { 0 } else { self.print(more - 1) }
        }
    }
    let nested = Nested::default();
    let look = |_: &Nested, _: &NestedPrintArgs| {};
    nested.register_instance_hook(Nested::PRE_PRINT, "one", look);
    nested.register_instance_hook(
        Nested::PRE_PRINT,
        HookOptions::named("never skipped").always(),
        look,
    );
    nested.register_instance_hook(
        Nested::POST_PRINT,
        "two",
        |_: &Nested, _: &NestedPrintArgs, _: &usize| {},
    );
    let (reports, records) = Reports::up_to(Level::DEBUG);
    tracing::subscriber::with_default(reports, || nested.print(1));
    let skipped = records.take().into_iter().filter(|record| record.starts_with("DEBUG"));
    assert_eq!(
        skipped.collect::<Vec<_>>(),
        ["DEBUG message=a nested call skips hooks agent=\"Nested\" method=\"print\" \
          hooks=\"pre_print one, post_print two\""],
    );
}

#[test]
fn a_nested_call_names_its_agent_also_where_the_hooks_are_of_the_trait() {
    #[hookable]
    trait Printer: Hookable {
        #[hook]
        fn print(&self, more: usize) -> usize;
    }
    #[derive(Hookable, Default)]
    struct Inkjet {
        hooks: Hooks,
    }
    #[hookable]
    impl Printer for Inkjet {
        #[hook]
        fn print(&self, more: usize) -> usize {
            if more == 0 { 0 } else { self.print(more - 1) }
        }
    }
    let inkjet = Inkjet::default();
    let printer: &dyn Printer = &inkjet;
    printer.register_instance_hook(
        <dyn Printer>::PRE_PRINT,
        "one",
        |_: &dyn Printer, _: &PrinterPrintArgs| {},
    );
    let (reports, records) = Reports::up_to(Level::DEBUG);
    tracing::subscriber::with_default(reports, || inkjet.print(1));
    let skipped = records.take().into_iter().filter(|record| record.starts_with("DEBUG"));
    assert_eq!(
        skipped.collect::<Vec<_>>(),
        ["DEBUG message=a nested call skips hooks agent=\"Inkjet\" method=\"print\" \
          hooks=\"pre_print one\""],
    );
}
