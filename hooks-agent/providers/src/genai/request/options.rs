//! Converts requests and their options.

use genai::chat::{self, ChatOptions, JsonSpec};
use hooks_agent_core::model::{ChatRequest, ReasoningEffort, ResponseFormat, ToolChoice};

use crate::genai::provider::Provider;
use crate::genai::request::messages::WireMessages;

pub(crate) fn wire_options(provider: Provider, model: &str, request: &ChatRequest) -> ChatOptions {
    let options = &request.options;
    let effort = options.reasoning_effort.map(wire_effort);
    // The option to keep thoughts also requests them.
    let asks_thoughts = match provider {
        Provider::Anthropic => true,
        Provider::Gemini => effort.is_some(),
        Provider::OpenAi | Provider::Ollama => false,
    };
    ChatOptions {
        temperature: options.temperature,
        top_p: options.top_p,
        max_tokens: options.max_tokens,
        stop_sequences: options.stop.clone(),
        seed: options.seed,
        reasoning_effort: effort.or_else(|| provider.unsaid_effort(model)),
        tool_choice: wire_tool_choice(provider, request),
        response_format: match &options.response_format {
            ResponseFormat::JsonSchema { name, schema } => {
                Some(JsonSpec::new(name.as_str(), schema.clone()).into())
            }
            _ => None,
        },
        capture_usage: Some(true),
        capture_tool_calls: Some(true),
        capture_reasoning_content: Some(asks_thoughts),
        ..ChatOptions::default()
    }
}

fn wire_effort(effort: ReasoningEffort) -> chat::ReasoningEffort {
    match effort {
        ReasoningEffort::Low => chat::ReasoningEffort::Low,
        ReasoningEffort::Medium => chat::ReasoningEffort::Medium,
        _ => chat::ReasoningEffort::High,
    }
}

/// Omits the choice without tools, which most providers refuse.
fn wire_tool_choice(provider: Provider, request: &ChatRequest) -> Option<chat::ToolChoice> {
    if !sends_tools(provider, request) {
        return None;
    }
    match &request.options.tool_choice {
        ToolChoice::None => Some(chat::ToolChoice::None),
        ToolChoice::Required => Some(chat::ToolChoice::Required),
        ToolChoice::Tool(name) => Some(chat::ToolChoice::tool(name.as_str())),
        _ => None,
    }
}

/// Ollama has no tool choice: to prevent tool calls, no tools are sent.
fn sends_tools(provider: Provider, request: &ChatRequest) -> bool {
    let is_free = provider != Provider::Ollama || request.options.tool_choice != ToolChoice::None;
    is_free && !request.tools.is_empty()
}

pub(crate) fn wire_request(
    provider: Provider,
    resends_thoughts: bool,
    request: ChatRequest,
) -> chat::ChatRequest {
    let tools = sends_tools(provider, &request).then(|| {
        let tools = request.tools.iter().map(|tool| {
            chat::Tool::new(tool.name.as_str())
                .with_description(tool.description.as_str())
                .with_schema(tool.schema.clone())
        });
        tools.collect()
    });
    let messages = WireMessages::new(provider, resends_thoughts).convert(request.messages);
    chat::ChatRequest { tools, ..chat::ChatRequest::new(messages) }
}
