//! Everything that anybody but a tool may see of a call.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::Script;

/// Notes every event, twice, the stream, a trace, the requests, memory and the reply.
pub(crate) async fn shown_of(builder: ReActAgentBuilder, script: Script) -> String {
    let shown = shown_of_call(builder.model(script.clone()), "go").await;
    format!("{shown} {:?}", script.requests())
}

/// The same of an agent that has its model, without the requests.
pub(crate) async fn shown_of_call(builder: ReActAgentBuilder, input: &str) -> String {
    let (log, file) = (Arc::new(Mutex::new(String::new())), Arc::new(Mutex::new(Vec::new())));
    let trace = JsonlTrace::to_writer(Shared(file.clone())).include_acting_chunks();
    let trace = trace.priority(990).open().unwrap();
    let watch =
        |priority: i32| Everything(log.clone()).with_priority(priority).named(priority.to_string());
    let agent = builder.hook(watch(11)).hook(watch(999)).hook(trace.clone());
    let agent = agent.build().unwrap();
    let mut stream = agent.stream(input);
    while let Some(event) = stream.next().await {
        let shown = match event {
            Ok(event) => format!("{event:?} {}", serde_json::to_string(&event).unwrap()),
            Err(error) => format!("{error} {error:?}"),
        };
        log.lock().unwrap().push_str(&shown);
    }
    drop(stream);
    trace.close();
    let history = agent.threads().memory("default").unwrap().messages();
    let values = agent.threads().memory("default").unwrap().values();
    let lines = String::from_utf8(file.lock().unwrap().clone()).unwrap();
    let json = serde_json::to_string(&history).unwrap();
    let log = log.lock().unwrap();
    format!("{log} {agent:?} {history:?} {json} {values:?} {lines}")
}

struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Notes the `Debug` form of every event, and the texts of errors.
struct Everything(Arc<Mutex<String>>);

impl AgentHook for Everything {
    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let mut shown = format!("{event:?}");
        if let HookEvent::Error(event) = event {
            let mut next: Option<&(dyn std::error::Error + 'static)> = Some(event.error());
            while let Some(error) = next {
                shown = format!("{shown} {error} {error:?}");
                next = error.source();
            }
        }
        self.0.lock().unwrap().push_str(&shown);
        Ok(Flow::Continue)
    }
}
