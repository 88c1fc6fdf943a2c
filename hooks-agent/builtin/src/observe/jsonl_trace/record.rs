//! One line of a trace, with the fields of an event.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use hooks_agent_core::event::HookEvent;
use hooks_agent_core::round::JumpTo;

/// The fields of a line, in the order in which they are written.
#[derive(Default)]
pub(super) struct Record(Vec<(&'static str, Value)>);

impl Record {
    pub(super) fn put(&mut self, key: &'static str, value: impl Serialize) {
        // A value that cannot be written as JSON becomes null.
        self.0.push((key, serde_json::to_value(value).unwrap_or(Value::Null)));
    }

    pub(super) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    pub(super) fn fields_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Value)> {
        self.0.iter_mut().map(|(key, value)| (*key, value))
    }

    /// Adds the fields of this kind of event.
    pub(super) fn put_event(&mut self, event: &HookEvent<'_>) {
        match event {
            HookEvent::PreCall(event) => self.put("input_messages", event.messages()),
            HookEvent::PostCall(event) => {
                self.put("final_message", event.context().shown_answer(event.final_message()));
            }
            HookEvent::PreReasoning(event) => {
                self.put("model_name", event.model_name());
                self.put("generate_options", event.options());
                self.put("input_messages", event.messages());
                self.put("effective_generate_options", event.options());
            }
            HookEvent::ReasoningChunk(event) => {
                self.put("model_name", Value::Null);
                self.put("generate_options", Value::Null);
                self.put("incremental_chunk", event.incremental());
                self.put("accumulated", event.accumulated());
            }
            HookEvent::PostReasoning(event) => {
                self.put("model_name", event.model_name());
                self.put("generate_options", Value::Null);
                self.put("reasoning_message", event.context().shown_answer(event.message()));
                self.put("stop_requested", event.control().is_stopped());
                let goes_back = event.control().jumps_to() == Some(JumpTo::Model);
                self.put("goto_reasoning_requested", goes_back);
                if goes_back {
                    self.put("goto_reasoning_msgs", event.control().jump_messages());
                }
            }
            HookEvent::PreActing(event) => self.put("tool_use", event.tool_use()),
            HookEvent::ActingChunk(event) => {
                self.put("tool_use", event.tool_use());
                self.put("incremental_chunk", event.chunk());
                self.put("chunk", event.chunk());
            }
            HookEvent::PostActing(event) => {
                self.put("tool_use", event.tool_use());
                self.put("tool_result", event.tool_result());
            }
            HookEvent::PreSummary(event) => {
                self.put("model_name", event.model_name());
                self.put("input_messages", event.messages());
                self.put("max_iterations", event.max_iterations());
                self.put("current_iteration", event.current_iteration());
                self.put("effective_generate_options", event.options());
            }
            HookEvent::SummaryChunk(event) => {
                self.put("incremental_chunk", event.incremental());
                self.put("accumulated", event.accumulated());
            }
            HookEvent::PostSummary(event) => {
                self.put("summary_message", event.context().shown_answer(event.message()));
            }
            HookEvent::Error(event) => {
                let error = event.error();
                self.put("error_class", event.error_kind());
                self.put("error_message", error.to_string());
                let causes = std::iter::successors(error.source(), |&cause| cause.source());
                let causes: Vec<_> = causes.map(ToString::to_string).collect();
                self.put("stacktrace", causes.join("\n"));
            }
            HookEvent::Settled(event) => self.put("outcome", json!(event.outcome().to_string())),
            _ => {}
        }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
