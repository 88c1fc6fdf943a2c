//! The metrics, by name.

use metrics::{Recorder, Unit};

pub(super) const CALLS: &str = "hooks_agent.calls";
pub(super) const IN_FLIGHT: &str = "hooks_agent.calls_in_flight";
pub(super) const TOOL_CALLS: &str = "hooks_agent.tool_calls";
pub(super) const ERRORS: &str = "hooks_agent.errors";
pub(super) const SHADOW: &str = "hooks_agent.shadow";
pub(super) const CALL_DURATION: &str = "gen_ai.invoke_agent.duration";
pub(super) const MODEL_DURATION: &str = "gen_ai.client.operation.duration";
pub(super) const FIRST_CHUNK: &str = "gen_ai.client.operation.time_to_first_chunk";
pub(super) const TOOL_DURATION: &str = "gen_ai.execute_tool.duration";
pub(super) const TOKENS: &str = "gen_ai.client.token.usage";

pub(super) const MODEL: &str = "gen_ai.response.model";
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const HOOK: &str = "hook";
pub(super) const ERROR_TYPE: &str = "error.type";

/// Describes the metrics to a recorder.
pub(super) fn describe(recorder: &dyn Recorder) {
    let counters = [
        (CALLS, "Calls of agents that ended."),
        (TOOL_CALLS, "Tool calls that have a result."),
        (ERRORS, "Failures of models, tools and hooks."),
        (SHADOW, "What hooks in shadow would have done."),
    ];
    for (name, text) in counters {
        recorder.describe_counter(name.into(), Some(Unit::Count), text.into());
    }
    let text = "Calls of agents that run.";
    recorder.describe_gauge(IN_FLIGHT.into(), Some(Unit::Count), text.into());
    let durations = [
        (CALL_DURATION, "Duration of a call of an agent."),
        (MODEL_DURATION, "Duration of a call of a model."),
        (FIRST_CHUNK, "Time to the first chunk of a model's answer."),
        (TOOL_DURATION, "Duration of a tool call that ran."),
    ];
    for (name, text) in durations {
        recorder.describe_histogram(name.into(), Some(Unit::Seconds), text.into());
    }
    let text = "Tokens of a call of a model.";
    recorder.describe_histogram(TOKENS.into(), Some(Unit::Count), text.into());
}
