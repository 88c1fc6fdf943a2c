//! `#[hookable]` together with the attribute macros that people stack it with.

use async_trait::async_trait;
use hooks_core::{HookError, Hookable, Hooks, hookable};
use tracing_attributes::instrument;

#[derive(Hookable, Default)]
struct Instrumented {
    hooks: Hooks,
}

#[derive(Clone, Debug)]
struct Point {
    x: i32,
    y: i32,
}

#[cfg_attr(all(), hookable)]
impl Instrumented {
    #[instrument(skip(self), fields(kind = "reply"))]
    pub async fn reply(&self, text: &str) -> Result<String, HookError> {
        Ok(text.to_owned())
    }

    #[instrument(skip_all)]
    #[hook]
    fn measure(
        &self,
        #[arg(name = "point")] Point { x, y }: Point,
        #[arg(name = "pair")] (left, right): (i32, i32),
    ) -> i32 {
        x + y + left + right
    }

    #[hook]
    #[instrument(skip(self))]
    fn boxed(&self, count: u32) -> hooks_core::BoxFuture<'_, u32> {
        Box::pin(async move { count })
    }
}

#[tokio::test]
async fn an_instrumented_method_is_hooked() {
    let agent = Instrumented::default();
    agent.register_instance_hook(
        Instrumented::PRE_REPLY,
        "shout",
        |_: &Instrumented, args: &mut InstrumentedReplyArgs| args.text.make_ascii_uppercase(),
    );
    agent.register_instance_hook(
        Instrumented::PRE_MEASURE,
        "origin",
        |_: &Instrumented, args: &mut InstrumentedMeasureArgs| args.point = Point { x: 0, y: 0 },
    );
    agent.register_instance_hook(
        Instrumented::PRE_BOXED,
        "more",
        |_: &Instrumented, args: &mut InstrumentedBoxedArgs| args.count += 1,
    );
    assert_eq!(agent.reply("hi").await.unwrap(), "HI");
    assert_eq!(agent.measure(Point { x: 3, y: 4 }, (1, 2)), 3);
    assert_eq!(agent.boxed(1).await, 2);
}

/// The attribute of the other crate comes first: it has boxed the futures already.
mod boxed_before {
    use super::*;

    #[async_trait]
    #[hookable]
    pub(crate) trait Agent: Hookable {
        async fn reply(&self, text: &str) -> Result<String, HookError>;
        #[hook]
        async fn plan(&self, steps: u32) -> u32;
    }

    #[derive(Hookable, Default)]
    pub(crate) struct Planner {
        hooks: Hooks,
    }

    #[async_trait]
    #[hookable]
    impl Agent for Planner {
        async fn reply(&self, text: &str) -> Result<String, HookError> {
            let reply = text.to_owned();
            tokio::task::yield_now().await;
            Ok(reply)
        }

        #[hook]
        async fn plan(&self, mut steps: u32) -> u32 {
            steps += 1;
            steps
        }
    }
}

/// Our attribute comes first: nothing is left for the other one to do.
mod boxed_after {
    use super::*;

    #[hookable]
    #[async_trait]
    pub(crate) trait Agent: Hookable {
        async fn reply(&self, text: &str) -> Result<String, HookError>;
        #[hook]
        async fn plan(&self, steps: u32) -> u32;
    }

    #[derive(Hookable, Default)]
    pub(crate) struct Planner {
        hooks: Hooks,
    }

    #[hookable]
    #[async_trait]
    impl Agent for Planner {
        async fn reply(&self, text: &str) -> Result<String, HookError> {
            let reply = text.to_owned();
            tokio::task::yield_now().await;
            Ok(reply)
        }

        #[hook]
        async fn plan(&self, mut steps: u32) -> u32 {
            steps += 1;
            steps
        }
    }
}

macro_rules! boxes {
    ($test:ident, $module:ident) => {
        #[tokio::test]
        async fn $test() {
            use $module::{Agent, AgentPlanArgs, AgentReplyArgs, Planner};

            let planner = Planner::default();
            assert_eq!(planner.reply("hi").await.unwrap(), "hi");
            planner.register_instance_hook(
                Planner::PRE_REPLY,
                "shout",
                |_: &Planner, args: &mut AgentReplyArgs| args.text.make_ascii_uppercase(),
            );
            let agent: &dyn Agent = &planner;
            agent.register_instance_hook(
                <dyn Agent>::PRE_PLAN,
                "more",
                async |_: &dyn Agent, args: &mut AgentPlanArgs| args.steps += 1,
            );
            assert_eq!(agent.reply("hi").await.unwrap(), "HI");
            assert_eq!(planner.plan(1).await, 3);
        }
    };
}

boxes!(a_trait_whose_futures_are_boxed_before_is_hooked, boxed_before);
boxes!(a_trait_whose_futures_are_boxed_by_us_is_hooked, boxed_after);

/// An inherent block can not be boxed by it, but its methods can stand beside a boxed trait.
#[tokio::test]
async fn an_instrumented_method_of_a_trait_is_hooked() {
    #[hookable]
    trait Agent {
        async fn reply(&self, text: String) -> Result<String, HookError>;
    }
    #[derive(Hookable, Default)]
    struct Traced {
        hooks: Hooks,
    }
    #[hookable]
    impl Agent for Traced {
        #[instrument(skip(self))]
        async fn reply(&self, text: String) -> Result<String, HookError> {
            Ok(text)
        }
    }
    let traced = Traced::default();
    traced.register_instance_hook(
        Traced::PRE_REPLY,
        "shout",
        |_: &Traced, args: &mut AgentReplyArgs| args.text.make_ascii_uppercase(),
    );
    assert_eq!(traced.reply("hi".to_owned()).await.unwrap(), "HI");
}
