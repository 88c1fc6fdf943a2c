//! Closures and handlers that are written in unusual ways.

use std::fmt::Display;
use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::PostCall;
use hooks_agent_core::hook::{AgentHook, AroundMask, Blocking, DynAgentHook, ModelCall, on};
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::on;
use hooks_agent_core::react::ReActAgent;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, script, uses};

type After<'a> = PostCall<'a>;

/// A hook that appends any value.
fn append<T: Display + Send + Sync + 'static>(value: T) -> impl AgentHook {
    on!(async move |event: &mut PostCall<'_>| {
        event.final_message_mut().push_text(&value.to_string());
    })
}

macro_rules! appending {
    ($event:ident, $text:expr) => {
        on!(async move |$event: &mut PostCall<'_>| {
            $event.final_message_mut().push_text($text);
        })
    };
}

mod bare {
    #![no_implicit_prelude]

    pub(super) fn hook() -> impl ::hooks_agent_core::hook::AgentHook {
        ::hooks_agent_core::on!(async |event: &mut ::hooks_agent_core::event::PostCall<'_>| {
            event.final_message_mut().push_text("b");
        })
    }
}

fn function(event: &mut PostCall<'_>) {
    event.final_message_mut().push_text("7");
}

async fn told(hook: impl AgentHook) -> String {
    let (model, _) = script([">"]);
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.call(go()).await.unwrap().text()
}

#[tokio::test(flavor = "multi_thread")]
async fn closures_of_every_form_are_hooks() {
    assert_eq!(
        told(on!(async |event: &mut After<'_>| event.final_message_mut().push_text("1"))).await,
        ">1"
    );
    let by_path = on!(async |event: &mut hooks_agent_core::event::PostCall<'_>| {
        event.final_message_mut().push_text("2");
    });
    assert_eq!(told(by_path).await, ">2");
    assert_eq!(told(append(3)).await, ">3");
    assert_eq!(told(appending!(what, "4")).await, ">4");
    assert_eq!(told(bare::hook()).await, ">b");
    assert_eq!(told(Blocking(append(5))).await, ">5");
    let boxed: Box<dyn DynAgentHook> = Box::new(append(6));
    let twice: Box<dyn DynAgentHook> = Box::new(boxed);
    assert_eq!(told(Blocking(Arc::new(twice))).await, ">6");
    assert_eq!(told(on(function)).await, ">7");
    let with_result = on!(async |event: &mut PostCall<'_>| -> hooks_core::HookResult {
        event.final_message_mut().push_text("8");
        Ok(())
    });
    assert_eq!(told(with_result).await, ">8");
}

/// A generic hook with handlers that name their lifetimes.
struct Noting<'n, T: ?Sized>(Arc<Records<String>>, std::marker::PhantomData<fn(&'n T)>);

#[agent_hook(name = "noting")]
impl<T> Noting<'static, T>
where
    T: ?Sized + 'static,
    for<'a> &'a str: Into<String>,
{
    #[cfg(test)]
    async fn model<'a>(
        &'a self,
        mut call: ModelCall<'a>,
        next: hooks_agent_core::hook::NextModel<'a>,
    ) -> Result<ModelAnswer, AgentError> {
        self.0.push(format!("asks with {}", call.request_mut().messages.len()));
        next.run(call.into_request()).await
    }

    #[cfg(not(test))]
    async fn model(&self, _: ModelCall<'_>, _: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        unreachable!()
    }

    #[cfg(not(test))]
    async fn tool(&self, _: ToolCall<'_>, _: NextTool<'_>) -> Result<ToolResult, ToolError> {
        unreachable!()
    }
}

#[tokio::test]
async fn handlers_that_are_configured_out_run_around_nothing() {
    let notes = Arc::new(Records::new());
    let hook = Noting::<str>(notes.clone(), std::marker::PhantomData);
    assert_eq!(hook.around(), AroundMask::MODEL_CALL);
    let (model, _) = script([uses([echo("1", "a")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    agent.hook(hook).build().unwrap().call(go()).await.unwrap();
    assert_eq!(notes.take(), ["asks with 1", "asks with 3"]);
}
