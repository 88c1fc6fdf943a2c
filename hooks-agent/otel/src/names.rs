//! Names of spans, attributes, metrics and environment variables.
//!
//! Those of the semantic conventions for generative AI are in development there, so they are here and
//! nowhere else.

/// The version of the conventions whose names are used by default.
pub(super) const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";
pub(super) const SCOPE: &str = "hooks-agent";

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
pub(super) const CHAT: &str = "chat";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";

pub(super) const AGENT_ID: &str = "gen_ai.agent.id";
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const CACHE_CREATION_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const SERVER_PORT: &str = "server.port";
pub(super) const STOP_SEQUENCES: &str = "gen_ai.request.stop_sequences";
pub(super) const STREAM: &str = "gen_ai.request.stream";
pub(super) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(super) const TEMPERATURE: &str = "gen_ai.request.temperature";
pub(super) const TIME_TO_FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_DEFINITIONS: &str = "gen_ai.tool.definitions";
pub(super) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOP_P: &str = "gen_ai.request.top_p";

/// A value that is not one of the known ones.
pub(super) const OTHER: &str = "_OTHER";

// Names of this crate.
pub(super) const SHADOW: &str = "hooks.shadow";
pub(super) const DECISION: &str = "hooks.decision";
pub(super) const EVENT: &str = "hooks.event";
pub(super) const FLOW: &str = "hooks.flow";
pub(super) const HOOK: &str = "hooks.hook";
pub(super) const OUTCOME: &str = "hooks.outcome";
pub(super) const REASON: &str = "hooks.reason";
pub(super) const RUN_ID: &str = "hooks.run.id";

/// The event with the content of a model call.
pub(super) const CHAT_DETAILS: &str = "gen_ai.client.inference.operation.details";
/// The event with the content of a call of an agent. The conventions have none.
pub(super) const AGENT_DETAILS: &str = "hooks.invoke_agent.details";
/// The event with the content of a tool call. The conventions have none.
pub(super) const TOOL_DETAILS: &str = "hooks.execute_tool.details";

// Metrics of version 1.41.
pub(super) const OPERATION_DURATION: &str = "gen_ai.client.operation.duration";
pub(super) const OPERATION_FIRST_CHUNK: &str = "gen_ai.client.operation.time_to_first_chunk";
pub(super) const OPERATION_PER_CHUNK: &str = "gen_ai.client.operation.time_per_output_chunk";
pub(super) const TOKEN_USAGE: &str = "gen_ai.client.token.usage";

// Metrics of the newest version, by opt-in; the first seven replace those above.
pub(super) const INFERENCE_DURATION: &str = "gen_ai.client.inference.duration";
pub(super) const INFERENCE_FIRST_CHUNK: &str = "gen_ai.client.inference.time_to_first_chunk";
pub(super) const INFERENCE_PER_CHUNK: &str = "gen_ai.client.inference.time_per_output_chunk";
pub(super) const INFERENCE_INPUT: &str = "gen_ai.client.inference.usage.input_tokens";
pub(super) const INFERENCE_OUTPUT: &str = "gen_ai.client.inference.usage.output_tokens";
pub(super) const OPERATION_INPUT: &str = "gen_ai.client.inference.operation.input_tokens";
pub(super) const OPERATION_OUTPUT: &str = "gen_ai.client.inference.operation.output_tokens";
pub(super) const AGENT_DURATION: &str = "gen_ai.invoke_agent.duration";
pub(super) const AGENT_INFERENCES: &str = "gen_ai.invoke_agent.inference_calls";
pub(super) const AGENT_TOOLS: &str = "gen_ai.invoke_agent.tool_calls";
pub(super) const TOOL_DURATION: &str = "gen_ai.execute_tool.duration";

// Metrics of this crate.
pub(super) const DECISIONS: &str = "hooks.decisions";

// Environment variables.
pub(super) const ENV_CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
pub(super) const ENV_OPT_IN: &str = "OTEL_SEMCONV_STABILITY_OPT_IN";
/// What the variable contains for the newest version of the conventions.
pub(super) const OPT_IN: &str = "gen_ai_latest_experimental";
pub(super) const ENV_DISABLED: &str = "OTEL_SDK_DISABLED";
pub(super) const ENV_METRICS_EXPORTER: &str = "OTEL_METRICS_EXPORTER";
pub(super) const ENV_TRACES_EXPORTER: &str = "OTEL_TRACES_EXPORTER";
pub(super) const ENV_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
pub(super) const ENV_METRICS_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
pub(super) const ENV_TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
pub(super) const ENV_TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
