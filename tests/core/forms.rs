//! The examples of the guide of forms, as they are on the page.

#![expect(
    clippy::items_after_statements,
    clippy::ptr_arg,
    clippy::useless_vec,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    reason = "as on the page"
)]

use hooks_core::{
    AfterHook, AroundHook, HookError, HookResult, HookType, Hookable, Hooks, Next, Outcome, Post,
    PreHook, Recovery, RegistryError, hook, hookable,
};

#[derive(Hookable, Default)]
pub struct Assistant {
    hooks: Hooks,
}

#[hookable]
impl Assistant {
    pub async fn reply(&self, msg: String) -> Result<String, HookError> {
        Ok(msg)
    }

    /// Sync and infallible: it takes sync hooks that cannot fail.
    pub fn print(&self, text: &str) -> usize {
        text.len()
    }
}

#[test]
fn pre_hooks() {
    let assistant = Assistant::default();
    use std::ops::ControlFlow;

    // Changes in place.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "trim",
        hook!(Assistant::PRE_REPLY, |_, args| args.msg = args.msg.trim().to_owned()),
    );
    // Looks.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "look",
        |_: &Assistant, args: &AssistantReplyArgs| println!("{}", args.msg),
    );
    // Looks and perhaps replaces.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "greet",
        |_: &Assistant, args: &AssistantReplyArgs| -> Option<AssistantReplyArgs> {
            args.msg.is_empty().then(|| AssistantReplyArgs { msg: "hello".to_owned() })
        },
    );
    // Perhaps answers in place of the body.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "answer",
        |_: &Assistant, args: &AssistantReplyArgs| -> ControlFlow<String> {
            match &*args.msg {
                "ping" => ControlFlow::Break("pong".to_owned()),
                _ => ControlFlow::Continue(()),
            }
        },
    );
    // May fail, where the method may: `HookResult` of `()`, of an `Option` or of a `ControlFlow`.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "limit",
        hook!(Assistant::PRE_REPLY, |_, args| {
            if args.msg.len() > 1000 {
                return Err("too long".into());
            }
            Ok(())
        }),
    );
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "gate",
        |_: &Assistant, args: &AssistantReplyArgs| -> HookResult<ControlFlow<String>> {
            let number: i32 = args.msg.parse()?;
            Ok(ControlFlow::Break((number + 1).to_string()))
        },
    );
    // Methods that are sync take the same, sync.
    assistant.register_instance_hook(
        Assistant::PRE_PRINT,
        "trim",
        hook!(Assistant::PRE_PRINT, |_, args| args.text = args.text.trim().to_owned()),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 7);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn async_hooks() {
    let assistant = Assistant::default();
    async fn audit(_: &Assistant, args: &mut AssistantReplyArgs) -> HookResult {
        args.msg.push('.');
        Ok(())
    }
    assistant.register_instance_hook(Assistant::PRE_REPLY, "audit", audit);

    async fn translate(_: &Assistant, args: &AssistantReplyArgs) -> Option<AssistantReplyArgs> {
        Some(AssistantReplyArgs { msg: args.msg.to_uppercase() })
    }
    assistant.register_instance_hook(Assistant::PRE_REPLY, "translate", translate);

    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "wait",
        async |_: &Assistant, _: &AssistantReplyArgs| std::future::ready(()).await,
    );

    let banned = vec!["secret".to_owned()];
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        "policy",
        hook!(Assistant::PRE_REPLY, async move |_, args| {
            if banned.contains(&args.msg) {
                return Err("not a word of it".into());
            }
            Ok(())
        }),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 4);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn around_hooks() {
    let assistant = Assistant::default();
    async fn retry(
        _: &Assistant,
        args: AssistantReplyArgs,
        next: Next<'_, Assistant, AssistantReplyArgs>,
    ) -> Result<String, HookError> {
        match next.run(args.clone()).await {
            Ok(reply) => Ok(reply),
            Err(_) => next.run(args).await,
        }
    }
    assistant.register_instance_hook(Assistant::AROUND_REPLY, "retry", retry);

    assistant.register_instance_hook(
        Assistant::AROUND_REPLY,
        "quota",
        hook!(Assistant::AROUND_REPLY, async |_, args, next| {
            if args.msg.is_empty() {
                return Err(next.fail("nothing to say"));
            }
            next.run(args).await
        }),
    );
    assistant.register_instance_hook(
        Assistant::AROUND_PRINT,
        "twice",
        hook!(Assistant::AROUND_PRINT, |_, args, next| next.run(args.clone()) + next.run(args)),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 3);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn post_hooks() {
    let assistant = Assistant::default();
    assistant.register_instance_hook(
        Assistant::POST_REPLY,
        "sign",
        hook!(Assistant::POST_REPLY, |_, _, reply| reply.push_str(" - signed")),
    );
    assistant.register_instance_hook(
        Assistant::POST_REPLY,
        "shorten",
        |_: &Assistant, _: &AssistantReplyArgs, reply: &String| -> Option<String> {
            (reply.len() > 100).then(|| reply.chars().take(100).collect())
        },
    );
    async fn check(_: &Assistant, args: &AssistantReplyArgs, reply: &mut String) -> HookResult {
        if reply.contains(&args.msg) { Ok(()) } else { Err("that was not the question".into()) }
    }
    assistant.register_instance_hook(Assistant::POST_REPLY, "check", check);

    assistant.register_instance_hook(
        Assistant::POST_REPLY,
        "closure",
        hook!(Assistant::POST_REPLY, async |_, _, reply| {
            reply.push('!');
            Ok(())
        }),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 4);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn error_hooks() {
    let assistant = Assistant::default();
    assistant.register_instance_hook(
        Assistant::ERROR_REPLY,
        "count",
        hook!(Assistant::ERROR_REPLY, |_, _, error| eprintln!("{error}")),
    );
    assistant.register_instance_hook(
        Assistant::ERROR_REPLY,
        "replace",
        |_: &Assistant, _: &AssistantReplyArgs, error: &HookError| -> Option<HookError> {
            let unknown: HookError =
                "no".parse::<HookType>().map_err(RegistryError::from).err()?.into();
            error.to_string().is_empty().then_some(unknown)
        },
    );
    assistant.register_instance_hook(
        Assistant::ERROR_REPLY,
        "recover",
        hook!(Assistant::ERROR_REPLY, async |_, args, _| match &*args.msg {
            "" => Recovery::Recover("sorry".to_owned()),
            _ => Recovery::Fail,
        }),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 3);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn settled_hooks() {
    let assistant = Assistant::default();
    assistant.register_instance_hook(
        Assistant::SETTLED_REPLY,
        "gauge",
        hook!(Assistant::SETTLED_REPLY, |_, outcome| match outcome {
            Outcome::Ok(reply) => println!("{reply}"),
            Outcome::Err(error) => println!("{error}"),
            other => println!("it ended as {other:?}"),
        }),
    );
    // How long the call took.
    assistant.register_instance_hook(
        Assistant::SETTLED_REPLY,
        "latency",
        Assistant::SETTLED_REPLY.with_elapsed(|_, _, elapsed| println!("{elapsed:?}")),
    );
    // And of which arguments: a copy, made only where a hook asks for it.
    assistant.register_instance_hook(
        Assistant::SETTLED_REPLY,
        "latency by message",
        Assistant::SETTLED_REPLY
            .with_args(|_, args, _, elapsed| println!("{}: {elapsed:?}", args.msg)),
    );
    assistant.register_instance_hook(
        Assistant::SETTLED_PRINT,
        "gauge",
        hook!(Assistant::SETTLED_PRINT, |_, outcome| assert!(!matches!(outcome, Outcome::Err(_)))),
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 4);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn hooks_that_are_types() {
    let assistant = Assistant::default();
    struct Prefix(String);

    impl PreHook<Assistant, AssistantReplyArgs> for Prefix {
        type Answer = ();

        async fn run(&self, _: &Assistant, args: &mut AssistantReplyArgs) {
            args.msg.insert_str(0, &self.0);
        }
    }

    impl AfterHook<Post<Assistant, AssistantReplyArgs>> for Prefix {
        type Answer = HookResult;

        async fn run(
            &self,
            _: &Assistant,
            _: &AssistantReplyArgs,
            reply: &mut String,
        ) -> HookResult {
            reply.insert_str(0, &self.0);
            Ok(())
        }
    }

    impl AroundHook<Assistant, AssistantReplyArgs> for Prefix {
        async fn run(
            &self,
            _: &Assistant,
            args: AssistantReplyArgs,
            next: Next<'_, Assistant, AssistantReplyArgs>,
        ) -> Result<String, HookError> {
            Ok(format!("{}{}", self.0, next.run(args).await?))
        }
    }

    assistant.register_instance_hook(Assistant::PRE_REPLY, "prefix", Prefix("> ".to_owned()));
    assistant.register_instance_hook(Assistant::POST_REPLY, "prefix", Prefix("< ".to_owned()));
    assistant.register_instance_hook(Assistant::AROUND_REPLY, "prefix", Prefix("= ".to_owned()));
    assert_eq!(assistant.hook_plan().hooks().len(), 3);
    assert!(futures::executor::block_on(assistant.reply("7".to_owned())).is_ok());
}

#[test]
fn with_options() {
    let assistant = Assistant::default();
    use std::time::Duration;

    use hooks_core::{HookOptions, Ignore};

    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        HookOptions::named("enrich")
            .priority(10)
            .timeout(Duration::from_secs(2))
            .on_failure(Ignore)
            .when(|_: &Assistant, args: &AssistantReplyArgs| !args.msg.is_empty()),
        hook!(Assistant::PRE_REPLY, async |_, args| args.msg.push('?')),
    );
    assistant.register_instance_hook(
        Assistant::POST_REPLY,
        HookOptions::named("first reply").once(),
        |_: &Assistant, _: &AssistantReplyArgs, reply: &String| println!("{reply}"),
    );
    // Also in a call of `reply` that the body or a hook of `reply` makes: for what guards something.
    assistant.register_instance_hook(
        Assistant::PRE_REPLY,
        HookOptions::named("deny").always(),
        |_: &Assistant, args: &AssistantReplyArgs| -> HookResult {
            if args.msg.contains("secret") { Err("denied".into()) } else { Ok(()) }
        },
    );
    assert_eq!(assistant.hook_plan().hooks().len(), 3);
}

mod of_a_class {
    use hooks_core::{HookError, HookResult, Hookable, Hooks, class_hook, hookable};
    #[derive(Hookable, Default)]
    pub struct Assistant {
        hooks: Hooks,
    }

    #[hookable]
    impl Assistant {
        pub async fn reply(&self, msg: String) -> Result<String, HookError> {
            Ok(msg)
        }

        /// Sync and infallible: it takes sync hooks that cannot fail.
        pub fn print(&self, text: &str) -> usize {
            text.len()
        }
    }
    #[class_hook(Assistant::POST_REPLY, name = "stamp", priority = 500)]
    async fn stamp(_: &Assistant, _: &AssistantReplyArgs, reply: &mut String) -> HookResult {
        reply.push_str(" [checked]");
        Ok(())
    }

    #[test]
    fn of_a_class() {
        Assistant::register_class_hook(
            Assistant::PRE_PRINT,
            "trim",
            |_: &Assistant, args: &mut AssistantPrintArgs| args.text = args.text.trim().to_owned(),
        );
        assert_eq!(Assistant::default().hook_plan().hooks().len(), 2);
    }
}

mod over_json {
    use hooks_core::{HookError, HookResult, Hookable, Hooks, hookable};
    use serde_json::Value;
    #[derive(Hookable, Default)]
    struct Assistant {
        hooks: Hooks,
    }
    #[hookable(json)]
    impl Assistant {
        fn reply(&self, msg: &str) -> Result<String, HookError> {
            Ok(format!("you said: {msg}"))
        }
    }

    #[test]
    fn over_json() -> Result<(), Box<dyn std::error::Error>> {
        let assistant = Assistant::default();
        assistant.register_json_hook("pre_reply", "rule", |args: &mut Value| {
            args["msg"] = "[redacted]".into();
        })?;
        assistant.register_json_hook(
            "post_reply",
            "limit",
            |_args: &Value, output: &mut Value| -> HookResult {
                match output.as_str() {
                    Some(text) if text.len() > 100 => Err("too long".into()),
                    _ => Ok(()),
                }
            },
        )?;
        assert_eq!(assistant.reply("my password")?, "you said: [redacted]");
        Ok(())
    }
}

/// Returns a text without what a formatter decides.
fn plain(code: &str) -> String {
    let code: String = code.split_whitespace().collect();
    code.replace(",)", ")").replace(",}", "}").replace(",]", "]")
}

#[test]
fn each_block_of_the_page_is_compiled_here() {
    let (page, here) =
        (include_str!("../../hooks-core/docs/forms.md"), plain(include_str!("forms.rs")));
    let blocks: Vec<_> = page.split("```").skip(1).step_by(2).collect();
    assert_eq!(blocks.len(), 11);
    for block in blocks {
        let block = block.strip_prefix("rust\n").expect("a block of Rust");
        // The parts of a block stand in functions and before them.
        for part in block.split("\n\n").filter(|part| !part.starts_with("use ")) {
            assert!(here.contains(&plain(part)), "this is not compiled: {part}");
        }
    }
}
