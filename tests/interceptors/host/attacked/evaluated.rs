//! Evaluate only changes nothing.

use std::sync::{Arc, Mutex};

use agent_hooks::{AgentContext, Verdict};
use futures::{StreamExt, stream};
use hooks_agent_core::model::{ChatChunk, ModelAnswer, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{AskPeople, Interceptors, Output, Profile, intercept};

use crate::attacked::{Chunks, busy, by_chunk, check, end, text, thinking};
use crate::support::{deciding, deny, looker, memory_of, saying, transform};

/// Evaluate only changes nothing.
#[tokio::test]
async fn evaluate_only_changes_nothing_of_a_method_outside_of_a_call() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let agent = looker(interceptors.evaluate_only(true));
    let cx = agent.context(CallOptions::new());
    let asked = agent.model_call(cx.clone(), ChatRequest::new(Msg::user("Go"))).await;
    assert!(asked.is_ok(), "{:?}", asked.err());
}

#[test]
fn evaluate_only_changes_nothing_without_a_runtime() {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let agent = saying("Hello.", interceptors.evaluate_only(true));
    let reply = futures::executor::block_on(agent.call("Go"));
    assert!(reply.is_ok(), "{:?}", reply.err());
}

/// Evaluate only passes all chunks, whatever they are.
#[tokio::test]
async fn evaluate_only_passes_what_comes_after_the_end() {
    struct Counts(Arc<Mutex<Vec<String>>>);
    #[agent_hook]
    impl Counts {
        async fn around_model(
            &self,
            call: ModelCall<'_>,
            next: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let answer = next.run(call.into_request()).await?;
            let seen = self.0.clone();
            Ok(answer.map_stream(move |mut rest| {
                Box::pin(
                    stream::unfold((), move |()| async {
                        None::<(Result<ChatChunk, ModelError>, ())>
                    })
                    .chain(stream::once(async move {
                        let mut all = Vec::new();
                        while let Some(chunk) = rest.next().await {
                            all.push(format!("{chunk:?}"));
                        }
                        *seen.lock().unwrap() = all;
                        end()
                    })),
                )
            }))
        }
    }
    let chunks = vec![text("one"), end(), text("two"), end()];
    let mut seen = Vec::new();
    for is_hooked in [false, true] {
        let all = Arc::new(Mutex::new(Vec::new()));
        let agent =
            ReActAgent::builder("bot").model(Chunks(chunks.clone())).hook(Counts(all.clone()));
        let agent = if is_hooked {
            let (interceptors, _) = deciding(|_| Verdict::allow());
            agent.hook(interceptors.evaluate_only(true))
        } else {
            agent
        };
        let _ = agent.build().unwrap().call("Go").await;
        seen.push(all.lock().unwrap().clone());
    }
    assert_eq!(seen[0], seen[1]);
}

/// Evaluate only changes no event, whatever interceptors say or do.
#[tokio::test]
async fn evaluate_only_changes_no_event_and_no_memory() {
    async fn seen(agent: &ReActAgent) -> Vec<String> {
        let mut seen = Vec::new();
        {
            let mut stream = agent.stream("Go");
            while let Some(event) = stream.next().await {
                let event = event.unwrap();
                let kind = serde_json::to_value(&event.kind).unwrap();
                seen.push(format!("{} {kind}", event.agent));
            }
        }
        seen.push(memory_of(agent));
        seen
    }
    fn plain(at_once: bool) -> Interceptors {
        let _ = at_once;
        Interceptors::new(Profile::default()).add("allow", intercept(|_| Verdict::allow()))
    }
    type Decide = fn(&AgentContext) -> Verdict;
    let decides_so: [Decide; 5] = [
        |_| deny("would"),
        |_| transform("$target", "other"),
        |_| transform("$target.content", "other"),
        |_| panic!("on purpose"),
        |_| Verdict::escalate(Some("ask".to_owned()), None),
    ];
    for at_once in [false, true] {
        for output in [Output::Buffered, by_chunk(), Output::incremental()] {
            // What an agent without the hook does.
            let bare = {
                let agent = busy(plain(at_once).evaluate_only(true), at_once);
                seen(&agent).await
            };
            for decide in decides_so {
                let (interceptors, records) = deciding(decide);
                let interceptors = interceptors.ask_people(AskPeople::new()).output(output);
                let agent = busy(interceptors.evaluate_only(true).most_bytes(20), at_once);
                assert_eq!(seen(&agent).await, bare);
                assert_eq!(check(&records), Ok(()));
            }
            let none = busy(Interceptors::new(Profile::RunAll).evaluate_only(true), at_once);
            assert_eq!(seen(&none).await, bare);
        }
    }
    // The chunks of an agent without the hook at all.
    let bare =
        ReActAgent::builder("bot").model(Chunks(vec![thinking("t"), text("a"), text("b"), end()]));
    let bare = seen(&bare.build().unwrap()).await;
    let (interceptors, _) = deciding(|_| deny("would"));
    let agent =
        ReActAgent::builder("bot").model(Chunks(vec![thinking("t"), text("a"), text("b"), end()]));
    let agent = agent.hook(interceptors.evaluate_only(true)).build().unwrap();
    assert_eq!(seen(&agent).await, bare);
}
