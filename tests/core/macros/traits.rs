//! Hookable traits: hooks of the trait run for every type that implements it, hooks of a type for
//! that type alone. The trait is of another crate.

use std::ops::ControlFlow;
use std::sync::Arc;

use hooks_core::{
    BoxError, HookError, HookOptions, HookResult, Hookable, Hooks, Next, Outcome, PreHook,
    Recovery, class_hook, hook, hookable,
};
use hooks_fixtures::{
    Records, Speaker, SpeakerCountArgs, SpeakerObserveArgs, SpeakerPrintArgs, SpeakerReplyArgs,
};

/// An implementor of its own for each test, since class hooks belong to a type.
macro_rules! speaker {
    ($name:ident) => {
        #[derive(Hookable, Default)]
        struct $name {
            records: Records,
            hooks: Hooks,
        }

        #[hookable]
        impl Speaker for $name {
            async fn reply(&self, mut msg: String) -> Result<String, HookError> {
                self.records.push("body");
                if msg.is_empty() {
                    return Err(hooks_core::RegistryError::from(
                        "".parse::<hooks_core::HookType>().unwrap_err(),
                    )
                    .into());
                }
                msg.push_str(" said ");
                msg.push_str(self.name());
                Ok(msg)
            }

            async fn observe(&self, _: &str) -> Result<usize, HookError> {
                Ok(0)
            }

            fn print(&self, text: &str) -> String {
                format!("[{text}]")
            }

            #[hook]
            async fn count(&self, words: &[String], more: Option<usize>) -> usize {
                words.len() + more.unwrap_or_default()
            }

            fn name(&self) -> &str {
                stringify!($name)
            }
        }
    };
}

/// Marks the message.
macro_rules! mark {
    ($agent:ty, $mark:literal) => {
        |_: &$agent, args: &mut SpeakerReplyArgs| args.msg.push_str($mark)
    };
}

#[tokio::test]
async fn an_implementor_is_hooked_like_any_type() -> Result<(), HookError> {
    speaker!(Plain);
    let plain = Plain::default();
    assert_eq!(plain.reply("hi".to_owned()).await?, "hi said Plain");
    plain.register_instance_hook(Plain::PRE_REPLY, "mark", mark!(Plain, "!"));
    plain.register_instance_hook(
        Plain::PRE_PRINT,
        "trim",
        |_: &Plain, args: &mut SpeakerPrintArgs| args.text = args.text.trim().to_owned(),
    );
    plain.register_instance_hook(
        Plain::POST_COUNT,
        "double",
        async |_: &Plain, args: &SpeakerCountArgs, output: &mut usize| {
            *output *= args.words.len();
        },
    );
    plain.register_instance_hook(
        Plain::POST_OBSERVE,
        "length",
        |_: &Plain, args: &SpeakerObserveArgs, output: &mut usize| *output = args.msg.len(),
    );
    assert_eq!(plain.reply("hi".to_owned()).await?, "hi! said Plain");
    assert_eq!(plain.print("  text "), "[text]");
    assert_eq!(plain.count(&["a".to_owned(), "b".to_owned()], Some(1)).await, 6);
    assert_eq!(plain.observe("four").await?, 4);
    assert_eq!(plain.greeting(), "I am Plain");
    Ok(())
}

#[tokio::test]
async fn a_call_through_dyn_runs_the_same_hooks() -> Result<(), HookError> {
    speaker!(Dynamic);
    let dynamic = Arc::new(Dynamic::default());
    dynamic.register_instance_hook(Dynamic::PRE_REPLY, "own", mark!(Dynamic, " own"));
    let speaker: Arc<dyn Speaker> = dynamic.clone();
    speaker.register_instance_hook(<dyn Speaker>::PRE_REPLY, "dyn", mark!(dyn Speaker, " dyn"));
    assert_eq!(speaker.reply("hi".to_owned()).await?, "hi own dyn said Dynamic");
    assert_eq!(dynamic.reply("hi".to_owned()).await?, "hi own dyn said Dynamic");

    let reply = tokio::spawn({
        let speaker = speaker.clone();
        async move { speaker.reply("hi".to_owned()).await }
    });
    assert_eq!(reply.await.unwrap()?, "hi own dyn said Dynamic");

    // Whoever registered it, both can remove it.
    speaker.remove_instance_hook("pre_reply", "own")?;
    dynamic.remove_instance_hook("pre_reply", "dyn")?;
    assert_eq!(speaker.reply("hi".to_owned()).await?, "hi said Dynamic");
    Ok(())
}

/// A trait that nothing else hooks.
#[hookable]
trait Teller: Hookable {
    #[hook]
    async fn tell(&self, said: String) -> String;
}

#[derive(Hookable, Default)]
struct Parrot {
    hooks: Hooks,
}

#[hookable]
impl Teller for Parrot {
    async fn tell(&self, said: String) -> String {
        said
    }
}

/// Of a type that has no hooks of its own at the method.
#[tokio::test]
async fn hooks_of_the_trait_alone_run_once_each_whether_they_wait_or_not() {
    let (parrot, pre) = (Parrot::default(), <dyn Teller>::PRE_TELL);
    let teller: &dyn Teller = &parrot;
    for is_class in [false, true] {
        for name in ["a", "B", "c", "D", "e"] {
            // Those in capitals wait.
            let sync = |_: &dyn Teller, args: &mut TellerTellArgs| args.said.push_str(name);
            let waits = hook!(pre, async move |_, args| {
                tokio::task::yield_now().await;
                args.said.push_str(name);
            });
            match (is_class, name == name.to_uppercase()) {
                (false, false) => teller.register_instance_hook(pre, name, sync),
                (false, true) => teller.register_instance_hook(pre, name, waits),
                (true, false) => <dyn Teller>::register_class_hook(pre, name, sync),
                (true, true) => <dyn Teller>::register_class_hook(pre, name, waits),
            }
        }
        let expected = if is_class { "aBcDeaBcDe" } else { "aBcDe" };
        assert_eq!(parrot.tell(String::new()).await, expected);
        assert_eq!(teller.tell(String::new()).await, expected);
    }
    teller.clear_instance_hooks(pre).expect("it is a hook type");
    assert_eq!(parrot.tell(String::new()).await, "aBcDe");
    <dyn Teller>::clear_class_hooks(pre).expect("it is a hook type");
}

/// Held by tests that register or list class hooks of the trait, which all its types share.
static CLASS_OF_THE_TRAIT: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn on_each_level_the_hooks_of_the_type_run_before_those_of_the_trait() {
    let _alone = CLASS_OF_THE_TRAIT.lock().await;
    speaker!(Ordered);
    fn note<A: ?Sized>(name: &'static str) -> impl Fn(&A, &SpeakerReplyArgs) + Send + Sync {
        move |_, _| ORDER.push(name)
    }
    static ORDER: Records = Records::new();

    let ordered = Ordered::default();
    let speaker: &dyn Speaker = &ordered;
    <dyn Speaker>::register_class_hook(
        <dyn Speaker>::PRE_REPLY,
        HookOptions::named("ordered: class of the trait").priority(1).when(is_ordered),
        note::<dyn Speaker>("class of the trait"),
    );
    Ordered::register_class_hook(Ordered::PRE_REPLY, "class", note::<Ordered>("class of the type"));
    speaker.register_instance_hook(
        <dyn Speaker>::PRE_REPLY,
        "instance of the trait",
        note::<dyn Speaker>("instance by the trait"),
    );
    ordered.register_instance_hook(
        Ordered::PRE_REPLY,
        "instance",
        note::<Ordered>("instance by the type"),
    );
    ordered.reply("hi".to_owned()).await.unwrap();
    let order = [
        "instance by the type",
        "instance by the trait",
        "class of the type",
        "class of the trait",
    ];
    assert_eq!(ORDER.take(), order);

    let plan = ordered.hook_plan();
    let planned: Vec<_> = plan.hooks().iter().map(|hook| hook.name().to_owned()).collect();
    let ours: Vec<_> = planned.iter().filter(|name| !name.starts_with("studio")).collect();
    let names = ["instance", "instance of the trait", "class", "ordered: class of the trait"];
    assert_eq!(ours, names);
    assert_eq!(speaker.hook_plan().to_string(), plan.to_string());
    assert_eq!(plan.agent(), "Ordered");
}

fn is_ordered(speaker: &dyn Speaker, _: &SpeakerReplyArgs) -> bool {
    speaker.name() == "Ordered"
}

/// V7, with the trait that the three types share.
#[tokio::test]
async fn v7_class_hooks_run_for_their_own_type_and_those_of_a_trait_for_all_that_implement_it() {
    let _alone = CLASS_OF_THE_TRAIT.lock().await;
    speaker!(A);
    speaker!(B);
    speaker!(C);
    A::register_class_hook(A::PRE_REPLY, "a", mark!(A, " a"));
    B::register_class_hook(B::PRE_REPLY, "b", mark!(B, " b"));
    C::register_class_hook(C::PRE_REPLY, "c", mark!(C, " c"));
    let all: [Box<dyn Speaker>; 3] =
        [Box::<A>::default(), Box::<B>::default(), Box::<C>::default()];
    let replies = async || {
        let mut replies = Vec::new();
        for speaker in &all {
            replies.push(speaker.reply("0".to_owned()).await.unwrap());
        }
        replies
    };
    assert_eq!(replies().await, ["0 a said A", "0 b said B", "0 c said C"]);
    <dyn Speaker>::register_class_hook(
        <dyn Speaker>::PRE_REPLY,
        HookOptions::named("v7: all").when(|speaker: &dyn Speaker, _: &SpeakerReplyArgs| {
            ["A", "B", "C"].contains(&speaker.name())
        }),
        mark!(dyn Speaker, " all"),
    );
    assert_eq!(replies().await, ["0 a all said A", "0 b all said B", "0 c all said C"]);
    <dyn Speaker>::remove_class_hook(<dyn Speaker>::PRE_REPLY, "v7: all").unwrap();
    assert_eq!(replies().await, ["0 a said A", "0 b said B", "0 c said C"]);
}

#[class_hook(<dyn Speaker>::POST_REPLY, name = "studio")]
async fn studio(speaker: &dyn Speaker, _: &SpeakerReplyArgs, reply: &mut String) -> HookResult {
    tokio::task::yield_now().await;
    if speaker.name() == "Linked" {
        reply.push_str(", said the studio");
    }
    Ok(())
}

#[tokio::test]
async fn the_linker_brings_class_hooks_of_a_trait() {
    speaker!(Linked);
    let reply = Linked::default().reply("hi".to_owned()).await.unwrap();
    assert_eq!(reply, "hi said Linked, said the studio");
    let linked = hooks_core::class_hooks();
    let studio = linked.iter().find(|hook| hook.name() == "studio").unwrap();
    assert_eq!((studio.agent(), studio.hook_type().to_string()), ("Speaker", "post_reply".into()));
}

#[tokio::test]
async fn around_hooks_of_type_and_trait_nest_in_the_order_of_the_levels() {
    speaker!(Nested);
    fn wrap<'a, A>(mark: &str, reply: &str) -> Result<String, A>
    where
        A: 'a,
    {
        Ok(format!("{mark}({reply})"))
    }
    async fn by_type(
        _: &Nested,
        args: SpeakerReplyArgs,
        next: Next<'_, Nested, SpeakerReplyArgs>,
    ) -> Result<String, HookError> {
        wrap("type", &next.run(args).await?)
    }
    async fn by_trait(
        _: &dyn Speaker,
        args: SpeakerReplyArgs,
        next: Next<'_, dyn Speaker, SpeakerReplyArgs>,
    ) -> Result<String, HookError> {
        // As often as it likes.
        next.run(args.clone()).await?;
        wrap("trait", &next.run(args).await?)
    }
    let nested = Nested::default();
    let speaker: &dyn Speaker = &nested;
    speaker.register_instance_hook(<dyn Speaker>::AROUND_REPLY, "instance by trait", by_trait);
    nested.register_instance_hook(Nested::AROUND_REPLY, "instance by type", by_type);
    Nested::register_class_hook(
        Nested::AROUND_REPLY,
        "class by type",
        hook!(Nested::AROUND_REPLY, async |_, args, next| wrap("class", &next.run(args).await?)),
    );
    let reply = nested.reply("hi".to_owned()).await.unwrap();
    assert_eq!(reply, "type(trait(class(hi said Nested)))");
    assert_eq!(nested.records.take(), ["body"; 2]);

    // Sync methods have them too.
    speaker.register_instance_hook(
        <dyn Speaker>::AROUND_PRINT,
        "twice",
        |_: &dyn Speaker, args: SpeakerPrintArgs, next: Next<'_, dyn Speaker, SpeakerPrintArgs>| {
            format!("{}{}", next.run(args.clone()), next.run(args))
        },
    );
    assert_eq!(nested.print("a"), "[a][a]");
}

#[tokio::test]
async fn hooks_of_a_trait_may_answer_fail_recover_and_settle() {
    speaker!(Phases);
    static SETTLED: Records<String> = Records::new();
    let phases = Phases::default();
    let speaker: &dyn Speaker = &phases;
    speaker.register_instance_hook(
        <dyn Speaker>::PRE_REPLY,
        "answer",
        |_: &dyn Speaker, args: &SpeakerReplyArgs| -> HookResult<ControlFlow<String>> {
            match &*args.msg {
                "fail" => Err("as told".into()),
                "answer" => Ok(ControlFlow::Break("answered".to_owned())),
                _ => Ok(ControlFlow::Continue(())),
            }
        },
    );
    speaker.register_instance_hook(
        <dyn Speaker>::ERROR_REPLY,
        "recover",
        |_: &dyn Speaker, args: &SpeakerReplyArgs, error: &HookError| {
            if args.msg.is_empty() { Recovery::Recover(error.to_string()) } else { Recovery::Fail }
        },
    );
    speaker.register_instance_hook(
        <dyn Speaker>::SETTLED_REPLY,
        "settled",
        |_: &dyn Speaker, outcome: &Outcome<'_, String, HookError>| {
            SETTLED.push(match outcome {
                Outcome::Ok(reply) => (*reply).clone(),
                Outcome::Err(error) => error.to_string(),
                Outcome::Cancelled => "cancelled".to_owned(),
                Outcome::Panicked => "panicked".to_owned(),
                other => format!("{other:?}"),
            });
        },
    );
    assert_eq!(speaker.reply("answer".to_owned()).await.unwrap(), "answered");
    let failed = speaker.reply("fail".to_owned()).await.unwrap_err();
    assert_eq!(failed.to_string(), "instance hook `answer` failed at pre_reply: as told");
    let recovered = speaker.reply(String::new()).await.unwrap();
    let settled = ["answered".to_owned(), failed.to_string(), recovered];
    assert_eq!(SETTLED.take(), settled);

    speaker.register_instance_hook(
        <dyn Speaker>::PRE_REPLY,
        "wait",
        hook!(<dyn Speaker>::PRE_REPLY, async |_, _| std::future::pending::<()>().await),
    );
    drop(futures::poll!(std::pin::pin!(speaker.reply("wait".to_owned()))));
    assert_eq!(SETTLED.take(), ["cancelled"]);
}

#[tokio::test]
async fn a_hook_of_a_trait_that_calls_the_method_again_reaches_the_body() {
    speaker!(Again);
    static CALLS: Records = Records::new();
    let again = Again::default();
    let speaker: &dyn Speaker = &again;
    speaker.register_instance_hook(
        <dyn Speaker>::PRE_REPLY,
        "again",
        hook!(<dyn Speaker>::PRE_REPLY, async |speaker, args| {
            CALLS.push("hook");
            args.msg = speaker.reply("inner".to_owned()).await?;
            Ok(())
        }),
    );
    let reply = again.reply("outer".to_owned()).await.unwrap();
    assert_eq!(reply, "inner said Again said Again");
    assert_eq!(CALLS.take(), ["hook"]);
}

#[tokio::test]
async fn a_hook_of_a_trait_may_be_a_type() {
    struct Longer(&'static str);
    impl PreHook<dyn Speaker, SpeakerReplyArgs> for Longer {
        type Answer = HookResult;

        async fn run(&self, speaker: &dyn Speaker, args: &mut SpeakerReplyArgs) -> HookResult {
            args.msg = format!("{}{}{}", args.msg, self.0, speaker.name());
            Ok::<_, BoxError>(())
        }
    }
    speaker!(Object);
    let object = Object::default();
    let speaker: &dyn Speaker = &object;
    speaker.register_instance_hook(<dyn Speaker>::PRE_REPLY, "longer", Longer(" to "));
    assert_eq!(object.reply("hi".to_owned()).await.unwrap(), "hi to Object said Object");
}

#[tokio::test]
async fn a_generic_implementor_has_hooks_by_its_arguments() {
    #[derive(Hookable, Default)]
    struct Pair<T> {
        value: T,
        hooks: Hooks,
    }

    #[hookable]
    impl<T: std::fmt::Debug + Send + Sync + 'static> Speaker for Pair<T> {
        async fn reply(&self, msg: String) -> Result<String, HookError> {
            Ok(format!("{msg} {:?}", self.value))
        }

        async fn observe(&self, msg: &str) -> Result<usize, HookError> {
            Ok(msg.len())
        }

        fn print(&self, text: &str) -> String {
            text.to_owned()
        }

        #[hook]
        async fn count(&self, words: &[String], _: Option<usize>) -> usize {
            words.len()
        }

        fn name(&self) -> &'static str {
            "Pair"
        }
    }

    Pair::<u8>::register_class_hook(Pair::<u8>::PRE_REPLY, "u8", mark!(Pair<u8>, " u8"));
    let (small, large) = (Pair { value: 1_u8, ..Pair::default() }, Pair::<u64>::default());
    assert_eq!(small.reply("hi".to_owned()).await.unwrap(), "hi u8 1");
    assert_eq!(large.reply("hi".to_owned()).await.unwrap(), "hi 0");
    assert!(large.clear_instance_hooks("pre_reply").is_ok());
}

#[tokio::test]
async fn unknown_names_are_errors_that_list_what_there_is() {
    speaker!(Unknown);
    let unknown = Unknown::default();
    let speaker: &dyn Speaker = &unknown;
    let missing = speaker.remove_instance_hook("pre_reply", "nope").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "hook 'nope' not found in 'pre_reply' hooks of the Speaker instance"
    );
    for error in [
        speaker.clear_instance_hooks("pre_plan").unwrap_err().to_string(),
        <dyn Speaker>::clear_class_hooks("pre_plan").unwrap_err().to_string(),
    ] {
        assert!(error.starts_with("unknown hook type 'pre_plan' of Speaker, expected"), "{error}");
        assert!(error.contains("error_reply") && error.contains("around_count"), "{error}");
    }
    let error = unknown.clear_instance_hooks("error_print").unwrap_err().to_string();
    assert!(error.starts_with("unknown hook type 'error_print' of Unknown, expected"), "{error}");
}

#[tokio::test]
async fn clearing_the_class_of_a_trait_leaves_the_classes_of_its_types() {
    #[hookable]
    trait Small {
        async fn reply(&self) -> String;
    }
    #[derive(Hookable, Default)]
    struct One {
        hooks: Hooks,
    }
    #[hookable]
    impl Small for One {
        async fn reply(&self) -> String {
            String::new()
        }
    }
    let add = |text: &'static str| {
        move |_: &dyn Small, _: &SmallReplyArgs, reply: &mut String| reply.push_str(text)
    };
    <dyn Small>::register_class_hook(<dyn Small>::POST_REPLY, "trait", add("trait"));
    One::register_class_hook(
        One::POST_REPLY,
        "type",
        |_: &One, _: &SmallReplyArgs, reply: &mut String| reply.push_str("type "),
    );
    let one = One::default();
    assert_eq!(one.reply().await, "type trait");
    <dyn Small>::clear_all_class_hooks();
    assert_eq!(one.reply().await, "type ");
    (&one as &dyn Small).register_instance_hook(<dyn Small>::POST_REPLY, "dyn", add("dyn "));
    assert_eq!(one.reply().await, "dyn type ");
    one.clear_all_instance_hooks();
    One::clear_class_hooks(One::POST_REPLY).unwrap();
    assert_eq!(one.reply().await, "");
}

#[tokio::test]
async fn arguments_are_dropped_when_the_body_ends_the_last_one_first() {
    static DROPPED: Records = Records::new();
    #[derive(Clone, Debug)]
    struct Noisy(&'static str);
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPPED.push(self.0);
        }
    }
    #[hookable]
    trait Dropper {
        #[hook]
        async fn take(&self, first: Noisy, second: Noisy, third: Noisy);
    }
    #[derive(Hookable, Default)]
    struct Bin {
        hooks: Hooks,
    }
    #[hookable]
    impl Dropper for Bin {
        #[hook]
        async fn take(&self, _: Noisy, _second: Noisy, third: Noisy) {
            drop(third);
            DROPPED.push("body");
        }
    }
    let bin = Bin::default();
    bin.take(Noisy("first"), Noisy("second"), Noisy("third")).await;
    let order = ["third", "body", "second", "first"];
    assert_eq!(DROPPED.take(), order);
    bin.register_instance_hook(Bin::PRE_TAKE, "look", |_: &Bin, _: &DropperTakeArgs| {});
    bin.take(Noisy("first"), Noisy("second"), Noisy("third")).await;
    assert_eq!(DROPPED.take(), order);
}

/// Lints are what this is about.
#[tokio::test]
#[deny(unused)]
async fn a_body_of_one_line_has_no_braces_too_many() {
    #[hookable]
    trait Short {
        async fn reply(&self, base: u32) -> u32;
        fn print(&self, base: u32) -> u32;
    }
    #[derive(Hookable, Default)]
    struct One {
        hooks: Hooks,
    }
    #[hookable]
    impl Short for One {
        #[rustfmt::skip]
        async fn reply(&self, base: u32) -> u32 { base * 2 }
        #[rustfmt::skip]
        fn print(&self, base: u32) -> u32 { base * 2 }
    }
    let one = One::default();
    assert_eq!((one.reply(2).await, one.print(3)), (4, 6));
}

#[tokio::test]
async fn methods_of_a_trait_may_return_futures_name_lifetimes_and_come_from_a_macro() {
    use std::borrow::Cow;

    use hooks_core::BoxFuture;

    #[hookable]
    trait Forms {
        #[hook]
        fn boxed(&self, msg: String) -> BoxFuture<'_, usize>;
        #[hook]
        fn opaque(&self, msg: &str) -> impl Future<Output = usize> + Send;
        #[hook]
        async fn cow(&self, msg: Cow<str>) -> usize;
        #[hook]
        async fn named<'m>(&'m self, msg: &'m str) -> usize;
    }
    #[derive(Hookable, Default)]
    struct All {
        hooks: Hooks,
    }
    macro_rules! implement {
        ($($path:tt)+) => {
            #[hookable]
            impl $($path)+ for All {
                #[hook]
                fn boxed(&self, mut msg: String) -> BoxFuture<'_, usize> {
                    msg.push('!');
                    Box::pin(async move { msg.len() })
                }
                #[hook]
                fn opaque(&self, _msg: &str) -> impl Future<Output = usize> + Send {
                    async move { _msg.len() }
                }
                #[hook]
                async fn cow(&self, msg: Cow<str>) -> usize {
                    msg.len()
                }
                #[hook]
                async fn named<'m>(&'m self, msg: &'m str) -> usize {
                    let same: &'m str = msg;
                    same.len()
                }
            }
        };
    }
    macro_rules! by_path {
        ($path:path) => {
            implement!($path);
        };
    }
    by_path!(Forms);

    let all = All::default();
    all.register_instance_hook(All::PRE_COW, "more", |_: &All, args: &mut FormsCowArgs| {
        args.msg.push_str("...");
    });
    all.register_instance_hook(
        All::POST_OPAQUE,
        "double",
        |_: &All, _: &FormsOpaqueArgs, output: &mut usize| *output *= 2,
    );
    let forms: &dyn Forms = &all;
    assert_eq!(forms.boxed("a".to_owned()).await, 2);
    assert_eq!(forms.opaque("a").await, 2);
    assert_eq!(forms.cow("a".into()).await, 4);
    assert_eq!(forms.named("a").await, 1);
}

#[tokio::test]
async fn a_trait_says_what_nested_calls_of_its_methods_do() {
    #[hookable]
    trait Nests {
        #[hook(reentry = "deny")]
        async fn reply(&self) -> Result<(), HookError>;
        #[hook(reentry = "run")]
        fn print(&self, left: u32) -> Result<u32, HookError>;
    }
    #[derive(Hookable, Default)]
    struct Nested {
        records: Records,
        hooks: Hooks,
    }
    #[hookable]
    impl Nests for Nested {
        async fn reply(&self) -> Result<(), HookError> {
            self.reply().await
        }
        fn print(&self, left: u32) -> Result<u32, HookError> {
            if left == 0 { Ok(0) } else { self.print(left - 1) }
        }
    }
    let nested = Nested::default();
    nested.register_instance_hook(Nested::PRE_REPLY, "look", |_: &Nested, _: &NestsReplyArgs| {});
    nested.register_instance_hook(
        Nested::PRE_PRINT,
        "count",
        |nested: &Nested, _: &NestsPrintArgs| nested.records.push("hook"),
    );
    assert!(matches!(nested.reply().await, Err(HookError::Reentered { .. })));
    assert_eq!(nested.print(2).unwrap(), 0);
    assert_eq!(nested.records.take(), ["hook"; 3]);
    assert!(matches!(nested.print(128), Err(HookError::TooDeep { .. })));
}

#[tokio::test]
async fn a_name_is_removed_from_the_hooks_of_the_type_and_of_the_trait() -> Result<(), HookError> {
    speaker!(Twice);
    let twice = Twice::default();
    twice.register_instance_hook(Twice::PRE_REPLY, "mark", mark!(Twice, " type"));
    let speaker: &dyn Speaker = &twice;
    speaker.register_instance_hook(<dyn Speaker>::PRE_REPLY, "mark", mark!(dyn Speaker, " trait"));
    assert_eq!(twice.reply("hi".to_owned()).await?, "hi type trait said Twice");
    twice.remove_instance_hook(Twice::PRE_REPLY, "mark")?;
    assert_eq!(twice.reply("hi".to_owned()).await?, "hi said Twice");
    Ok(())
}

#[test]
fn a_settled_hook_of_the_trait_belongs_to_the_call_that_was_dropped() {
    speaker!(Dropped);
    let dropped = Dropped::default();
    let speaker: &dyn Speaker = &dropped;
    speaker.register_instance_hook(
        <dyn Speaker>::PRE_REPLY,
        "wait",
        hook!(<dyn Speaker>::PRE_REPLY, async |_, args| {
            if args.msg == "wait" {
                std::future::pending::<()>().await;
            }
        }),
    );
    speaker.register_instance_hook(
        <dyn Speaker>::SETTLED_REPLY,
        "again",
        hook!(<dyn Speaker>::SETTLED_REPLY, |agent, outcome| {
            let cancelled = matches!(outcome, Outcome::Cancelled);
            // Inside of the call that was dropped: its hooks do not run again.
            let again = futures::executor::block_on(agent.reply("wait".to_owned())).unwrap();
            assert_eq!((cancelled, again.as_str()), (true, "wait said Dropped"));
        }),
    );
    let mut reply = dropped.reply("wait".to_owned());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(reply.as_mut().poll(&mut context).is_pending());
    drop(reply);
    assert_eq!(dropped.records.take(), ["body"]);
}
