//! Signatures of hooked methods: return types and receivers.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt;
use hooks_core::{BoxFuture, HookError, Hookable, Hooks, hook, hookable};
use hooks_fixtures::Records;

#[derive(Hookable, Default)]
struct Agent {
    records: Records,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// A future without a name, after statements of its own.
    #[hook]
    fn opaque(&self, text: &str) -> impl Future<Output = Result<String, HookError>> + Send {
        self.records.push("statement");
        let text = text.to_owned();
        async move { Ok(text + " opaque") }
    }

    /// A boxed future, after statements of its own.
    #[hook]
    fn boxed(
        &self,
        text: String,
    ) -> Pin<Box<dyn Future<Output = Result<String, HookError>> + Send + '_>> {
        self.records.push("statement");
        let text = text + " boxed";
        Box::pin(async move {
            self.records.push("future");
            Ok(text)
        })
    }

    #[hook]
    fn aliased(&self, count: u32) -> BoxFuture<'_, u32> {
        Box::pin(async move { count + 1 })
    }

    /// A boxed future that says nothing of `Send` has no around hooks.
    #[hook]
    fn local(&self, count: u32) -> Pin<Box<dyn Future<Output = u32> + '_>> {
        let count = std::rc::Rc::new(count);
        Box::pin(async move { *count + 1 })
    }

    #[hook]
    fn never(&self, text: &str) -> ! {
        panic!("never says {text}")
    }

    #[hook]
    async fn never_async(&self, text: String) -> ! {
        panic!("never says {text}")
    }

    #[hook]
    async fn counted(self: Arc<Self>, text: &str) -> String {
        format!("{text} {}", Arc::strong_count(&self) > 1)
    }

    #[hook]
    async fn counted_by_reference(self: &Arc<Self>, text: String) -> String {
        format!("{text} {}", Arc::strong_count(self) > 0)
    }

    #[hook]
    fn counted_sync(self: &Arc<Self>, text: &str) -> String {
        text.to_owned()
    }

    #[hook]
    async fn early(&self, stop: bool) -> Result<Box<dyn std::fmt::Debug + Send>, HookError> {
        if stop {
            return Ok(Box::new("early"));
        }
        let double = |number| number * 2;
        Ok(Box::new(double(4)))
    }
}

#[tokio::test]
async fn a_method_may_return_a_future_and_its_statements_run() -> Result<(), HookError> {
    let agent = Agent::default();
    assert_eq!(agent.opaque("a").await?, "a opaque");
    assert_eq!(agent.boxed("a".to_owned()).await?, "a boxed");
    assert_eq!(agent.records.take(), ["statement", "statement", "future"]);

    agent.register_instance_hook(
        Agent::PRE_OPAQUE,
        "shout",
        |_: &Agent, args: &mut AgentOpaqueArgs| args.text.make_ascii_uppercase(),
    );
    agent.register_instance_hook(
        Agent::PRE_BOXED,
        "shout",
        async |_: &Agent, args: &mut AgentBoxedArgs| args.text.make_ascii_uppercase(),
    );
    agent.register_instance_hook(
        Agent::AROUND_BOXED,
        "twice",
        hook!(Agent::AROUND_BOXED, async |_, args, next| {
            next.run(args.clone()).await?;
            next.run(args).await
        }),
    );
    agent.register_instance_hook(
        Agent::POST_ALIASED,
        "add",
        |_: &Agent, args: &AgentAliasedArgs, output: &mut u32| *output += args.count,
    );
    agent.register_instance_hook(
        Agent::POST_LOCAL,
        "add",
        |_: &Agent, args: &AgentLocalArgs, output: &mut u32| *output += args.count,
    );
    assert_eq!(agent.opaque("a").await?, "A opaque");
    assert_eq!(agent.boxed("a".to_owned()).await?, "A boxed");
    let twice = ["statement", "statement", "future", "statement", "future"];
    assert_eq!(agent.records.take(), twice);
    assert_eq!(agent.aliased(2).await, 5);
    assert_eq!(agent.local(2).await, 5);
    Ok(())
}

#[tokio::test]
async fn a_method_may_never_return() {
    let agent = Agent::default();
    let message = |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<String>().unwrap();
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| agent.never("one"))).unwrap_err();
    assert_eq!(message(panic), "never says one");
    agent.register_instance_hook(
        Agent::PRE_NEVER,
        "other",
        |_: &Agent, args: &mut AgentNeverArgs| args.text.push('!'),
    );
    agent.register_instance_hook(
        Agent::PRE_NEVER_ASYNC,
        "other",
        async |_: &Agent, args: &mut AgentNeverAsyncArgs| args.text.push('!'),
    );
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| agent.never("one"))).unwrap_err();
    assert_eq!(message(panic), "never says one!");
    let call = AssertUnwindSafe(agent.never_async("two".to_owned()));
    assert_eq!(message(call.catch_unwind().await.unwrap_err()), "never says two!");
}

#[tokio::test]
async fn a_method_may_take_a_counted_reference() {
    let agent = Arc::new(Agent::default());
    assert_eq!(agent.clone().counted("a").await, "a true");
    assert_eq!(agent.counted_by_reference("b".to_owned()).await, "b true");
    assert_eq!(agent.counted_sync("c"), "c");
    agent.register_instance_hook(
        Agent::PRE_COUNTED,
        "mark",
        async |_: &Agent, args: &mut AgentCountedArgs| args.text.push('!'),
    );
    agent.register_instance_hook(
        Agent::PRE_COUNTED_BY_REFERENCE,
        "mark",
        |_: &Agent, args: &mut AgentCountedByReferenceArgs| args.text.push('!'),
    );
    agent.register_instance_hook(
        Agent::POST_COUNTED_SYNC,
        "mark",
        |_: &Agent, _: &AgentCountedSyncArgs, output: &mut String| output.push('!'),
    );
    assert_eq!(tokio::spawn(agent.clone().counted("a")).await.unwrap(), "a! true");
    assert_eq!(agent.counted_by_reference("b".to_owned()).await, "b! true");
    assert_eq!(agent.counted_sync("c"), "c!");
}

#[tokio::test]
async fn an_early_return_is_converted_as_a_function_would() {
    let agent = Agent::default();
    assert_eq!(format!("{:?}", agent.early(true).await.unwrap()), "\"early\"");
    assert_eq!(format!("{:?}", agent.early(false).await.unwrap()), "8");

    // In a trait the body is a block, which has no return type of its own.
    #[hookable]
    trait Early {
        #[hook]
        async fn early(&self, stop: bool) -> Result<Box<dyn std::fmt::Debug + Send>, HookError>;
    }
    #[derive(Hookable, Default)]
    struct Boxing {
        hooks: Hooks,
    }
    #[hookable]
    impl Early for Boxing {
        #[hook]
        async fn early(&self, stop: bool) -> Result<Box<dyn std::fmt::Debug + Send>, HookError> {
            if stop {
                return Ok(Box::new("early"));
            }
            "pre_reply".parse::<hooks_core::HookType>().map_err(hooks_core::RegistryError::from)?;
            Ok(Box::new(8))
        }
    }
    let boxing = Boxing::default();
    assert_eq!(format!("{:?}", boxing.early(true).await.unwrap()), "\"early\"");
    assert_eq!(format!("{:?}", boxing.early(false).await.unwrap()), "8");
}
