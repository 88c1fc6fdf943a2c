//! Event hooks around model calls that end in unusual ways.

use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallOptions, Interrupt};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::message::{GenerateReason, Msg, Usage};
use hooks_agent_core::model::{ChatChunk, ModelAnswer, ModelError, ScriptedAnswer};
use hooks_agent_core::react::ReActAgent;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, script};

/// What a hook does once it has read the answer of the model.
#[derive(Clone)]
enum Then {
    Panic,
    Wait,
    Fail,
    Interrupt(Interrupt),
}

/// Reads the whole answer of the model, twice at once.
struct Reads(Then, Arc<Records<String>>);

#[agent_hook(name = "reads")]
impl Reads {
    async fn read(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let request = call.into_request();
        let (one, two) = futures::join!(next.run(request.clone()), next.run(request.clone()));
        for mut answer in [one?, two?] {
            while let Some(chunk) = answer.next().await {
                if let ChatChunk::Text(text) = chunk? {
                    self.1.push(text);
                }
            }
        }
        match &self.0 {
            Then::Panic => panic!("after the model"),
            Then::Wait => std::future::pending().await,
            Then::Fail => Err(next.fail("not this one")),
            Then::Interrupt(interrupt) => {
                interrupt.interrupt();
                next.run(request).await
            }
        }
    }
}

fn reading(then: Then) -> (Arc<ReActAgent>, Arc<Records<String>>) {
    let read = Arc::new(Records::new());
    let (model, _) = script(["secret", "secret", "secret"]);
    let hook = Reads(then, read.clone());
    (Arc::new(ReActAgent::builder("bot").model(model).hook(hook).build().unwrap()), read)
}

fn remembers(agent: &ReActAgent) -> Vec<String> {
    agent.memory().messages().iter().map(Msg::text).collect()
}

#[tokio::test]
async fn an_answer_that_a_hook_held_back_is_nowhere() {
    let (agent, read) = reading(Then::Panic);
    let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), go()));
    assert!(call.await.unwrap_err().is_panic());
    assert_eq!((remembers(&agent), read.take().len()), (vec!["go".to_owned()], 2));

    let (agent, read) = reading(Then::Wait);
    let mut events = agent.stream(go());
    let mut told = Vec::new();
    while read.take().is_empty() {
        if let std::task::Poll::Ready(event) = futures::poll!(events.next()) {
            told.push(format!("{event:?}"));
        }
    }
    drop(events);
    assert!(!told.concat().contains("secret"), "{told:?}");
    assert_eq!(remembers(&agent), ["go"]);

    let (agent, _) = reading(Then::Fail);
    let error = agent.call(go()).await.unwrap_err();
    let expected = "instance hook `reads` failed at around_model_call: not this one";
    assert_eq!(error.to_string(), expected);
    assert_eq!(remembers(&agent), ["go"]);

    let interrupt = Interrupt::new();
    let (agent, _) = reading(Then::Interrupt(interrupt.clone()));
    let reply = agent.call_with(CallOptions::new().interrupt(interrupt), go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_eq!((reply.text(), remembers(&agent)), (String::new(), vec!["go".to_owned()]));
}

#[tokio::test]
async fn a_model_that_failed_may_be_asked_again_in_the_same_call_of_a_hook() {
    struct Again;

    #[agent_hook]
    impl Again {
        async fn again(
            &self,
            call: ModelCall<'_>,
            next: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let failed = next.run(call.request().clone()).await;
            assert!(failed.is_err());
            next.run(call.into_request()).await
        }
    }

    let (model, _) = script([ModelError::status("m", 500).into(), "done".into()]
        as [hooks_agent_core::model::ScriptedAnswer; 2]);
    let agent = ReActAgent::builder("bot").model(model).hook(Again).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
}

/// Notes the name of the agent's model, and the tokens of the answer.
struct Meter(Arc<Records<String>>);

#[agent_hook(name = "meter")]
impl Meter {
    async fn count(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let (notes, model) = (self.0.clone(), call.model_name().to_owned());
        let request = call.request().clone();
        let answer = next.run(call.into_request()).await?;
        Ok(answer.count_tokens(&request, move |count| {
            let (input, output) = (count.usage.input_tokens, count.usage.output_tokens);
            notes.push(format!("{model} {input} {output} {}", count.is_estimated));
        }))
    }
}

#[tokio::test]
async fn the_tokens_of_an_answer_are_counted_once_however_it_ends() {
    let notes: Arc<Records<String>> = Arc::default();
    let text = |text: &str| Ok(ChatChunk::Text(text.to_owned()));
    let end = |usage| Ok(ChatChunk::end(usage));
    let broken = ModelError::status("scripted", 500);
    let answers = [
        vec![text("12345678"), end(Usage::new(10, 20))],
        vec![text("12345678"), end(Usage::new(10, 0))],
        vec![text("12345678"), end(Usage::default())],
        vec![text("1234"), Err(broken)],
        vec![text("123456789")],
    ];
    let (model, _) = script(answers.map(ScriptedAnswer::Stream));
    let agent = ReActAgent::builder("bot").model(model).hook(Meter(notes.clone())).build().unwrap();
    for number in 0..5 {
        let options = CallOptions::new().thread(number.to_string());
        drop(agent.call_with(options, Msg::user("1234")).await);
    }
    let expected = ["10 20 false", "10 2 true", "1 2 true", "1 1 true", "1 3 true"]
        .map(|it| format!("scripted {it}"));
    assert_eq!(notes.take(), expected);
}
