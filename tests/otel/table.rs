//! The spans and the metrics of the specification, as data.

/// A kind of span.
pub(crate) struct SpanRow {
    /// The first word of its name.
    pub(crate) operation: &'static str,
    pub(crate) is_client: bool,
    /// The attributes of a call that uses all of them, without content.
    pub(crate) attributes: &'static [&'static str],
    pub(crate) content: &'static [&'static str],
}

/// A metric, with its unit and labels; `error.type` comes with errors.
pub(crate) struct MetricRow {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) is_histogram: bool,
    pub(crate) labels: &'static [&'static str],
}

pub(crate) const SPANS: [SpanRow; 3] = [
    SpanRow {
        operation: "invoke_agent",
        is_client: false,
        attributes: &[
            "gen_ai.agent.id",
            "gen_ai.agent.name",
            "gen_ai.conversation.id",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.response.finish_reasons",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "hooks.outcome",
            "hooks.reason",
            "hooks.run.id",
        ],
        content: &["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"],
    },
    SpanRow {
        operation: "chat",
        is_client: true,
        attributes: &[
            "gen_ai.conversation.id",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.max_tokens",
            "gen_ai.request.model",
            "gen_ai.request.stop_sequences",
            "gen_ai.request.stream",
            "gen_ai.request.temperature",
            "gen_ai.request.top_p",
            "gen_ai.response.finish_reasons",
            "gen_ai.response.model",
            "gen_ai.response.time_to_first_chunk",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
        ],
        content: &[
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.system_instructions",
            "gen_ai.tool.definitions",
        ],
    },
    SpanRow {
        operation: "execute_tool",
        is_client: false,
        attributes: &[
            "gen_ai.operation.name",
            "gen_ai.tool.call.id",
            "gen_ai.tool.description",
            "gen_ai.tool.name",
            "gen_ai.tool.type",
        ],
        content: &["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"],
    },
];

const MODEL: &[&str] = &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const TOKENS: &[&str] = &[
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
];
const TYPED_TOKENS: &[&str] = &[
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.token.type",
];
const AGENT: &[&str] = &["gen_ai.agent.name"];

const DECISIONS: MetricRow = MetricRow {
    name: "hooks.decisions",
    unit: "{decision}",
    is_histogram: false,
    labels: &["hooks.event", "hooks.flow", "hooks.hook"],
};

pub(crate) const METRICS: [MetricRow; 5] = [
    seconds("gen_ai.client.operation.duration", MODEL),
    seconds("gen_ai.client.operation.time_per_output_chunk", MODEL),
    seconds("gen_ai.client.operation.time_to_first_chunk", MODEL),
    MetricRow {
        name: "gen_ai.client.token.usage",
        unit: "{token}",
        is_histogram: true,
        labels: TYPED_TOKENS,
    },
    DECISIONS,
];

pub(crate) const NEWEST_METRICS: [MetricRow; 12] = [
    seconds("gen_ai.client.inference.duration", MODEL),
    count("gen_ai.client.inference.operation.input_tokens", "{token}", true, TOKENS),
    count("gen_ai.client.inference.operation.output_tokens", "{token}", true, TOKENS),
    seconds("gen_ai.client.inference.time_per_output_chunk", MODEL),
    seconds("gen_ai.client.inference.time_to_first_chunk", MODEL),
    count("gen_ai.client.inference.usage.input_tokens", "{token}", false, TOKENS),
    count("gen_ai.client.inference.usage.output_tokens", "{token}", false, TOKENS),
    seconds("gen_ai.execute_tool.duration", &["gen_ai.tool.name"]),
    seconds("gen_ai.invoke_agent.duration", AGENT),
    count("gen_ai.invoke_agent.inference_calls", "{inference_call}", true, AGENT),
    count("gen_ai.invoke_agent.tool_calls", "{tool_call}", true, AGENT),
    DECISIONS,
];

const fn seconds(name: &'static str, labels: &'static [&'static str]) -> MetricRow {
    count(name, "s", true, labels)
}

const fn count(
    name: &'static str,
    unit: &'static str,
    is_histogram: bool,
    labels: &'static [&'static str],
) -> MetricRow {
    MetricRow { name, unit, is_histogram, labels }
}
