//! Converts a request for the crate.

use std::sync::Arc;

use genai::chat::{
    self, ChatMessage, ChatOptions, ChatRole, ContentPart, JsonSpec, MessageContent,
};
use serde_json::json;

use crate::message::{ContentBlock, Messages, Msg, Role, ToolUse};
use crate::model::genai::provider::Provider;
use crate::model::{ChatRequest, ReasoningEffort, ResponseFormat, ToolChoice};

pub(super) fn wire_options(provider: Provider, model: &str, request: &ChatRequest) -> ChatOptions {
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
            ResponseFormat::Text => None,
            ResponseFormat::JsonSchema { name, schema } => {
                Some(JsonSpec::new(name.as_str(), schema.clone()).into())
            }
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
        ReasoningEffort::High => chat::ReasoningEffort::High,
    }
}

/// Omits the choice without tools, which most providers refuse.
fn wire_tool_choice(provider: Provider, request: &ChatRequest) -> Option<chat::ToolChoice> {
    if !sends_tools(provider, request) {
        return None;
    }
    match &request.options.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(chat::ToolChoice::None),
        ToolChoice::Required => Some(chat::ToolChoice::Required),
        ToolChoice::Tool(name) => Some(chat::ToolChoice::tool(name.as_str())),
    }
}

/// Ollama has no tool choice: to prevent tool calls, no tools are sent.
fn sends_tools(provider: Provider, request: &ChatRequest) -> bool {
    let is_free = provider != Provider::Ollama || request.options.tool_choice != ToolChoice::None;
    is_free && !request.tools.is_empty()
}

pub(super) fn wire_request(provider: Provider, request: ChatRequest) -> chat::ChatRequest {
    let tools = sends_tools(provider, &request).then(|| {
        let tools = request.tools.iter().map(|tool| {
            chat::Tool::new(tool.name.as_str())
                .with_description(tool.description.as_str())
                .with_schema(tool.schema.clone())
        });
        tools.collect()
    });
    let messages = wire_messages(provider, request.messages);
    chat::ChatRequest { tools, ..chat::ChatRequest::new(messages) }
}

/// Anthropic requires the results of one answer in one message; a message of Ollama has one result.
fn wire_messages(provider: Provider, messages: Messages) -> Vec<ChatMessage> {
    let mut wire: Vec<ChatMessage> = Vec::new();
    for msg in messages {
        let Msg { role, content, .. } = Arc::unwrap_or_clone(msg);
        let parts: Vec<_> =
            content.into_iter().flat_map(|block| wire_parts(provider, block)).collect();
        let last = wire.last_mut().filter(|last| last.role == ChatRole::Tool);
        match (role, provider, last) {
            _ if parts.is_empty() => {}
            (Role::Tool, Provider::Anthropic, Some(last)) => {
                last.content.extend(parts);
            }
            (Role::Tool, Provider::Ollama, _) => {
                wire.extend(parts.into_iter().map(|part| ChatMessage::tool(vec![part])));
            }
            _ => wire.push(ChatMessage::new(wire_role(role), MessageContent::from_parts(parts))),
        }
    }
    wire
}

fn wire_role(role: Role) -> ChatRole {
    match role {
        Role::System => ChatRole::System,
        Role::User => ChatRole::User,
        Role::Assistant => ChatRole::Assistant,
        Role::Tool => ChatRole::Tool,
    }
}

/// Thoughts are sent back only to a provider that requires them, and only signed ones, which the
/// provider can verify.
fn wire_parts(provider: Provider, block: ContentBlock) -> Vec<ContentPart> {
    match block {
        ContentBlock::Text { text } => vec![ContentPart::Text(text)],
        ContentBlock::Thinking { thinking, signature: Some(signature) }
            if provider == Provider::Anthropic =>
        {
            vec![ContentPart::ThoughtSignature(signature), ContentPart::ReasoningContent(thinking)]
        }
        ContentBlock::RedactedThinking { data } if provider == Provider::Anthropic => {
            let block = json!({ "type": "redacted_thinking", "data": data });
            vec![ContentPart::from_custom(block, None)]
        }
        ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => Vec::new(),
        ContentBlock::ToolUse(call) => vec![ContentPart::ToolCall(wire_call(provider, call))],
        ContentBlock::ToolResult(result) => {
            let prefix = if result.is_error { "Error: " } else { "" };
            let output = format!("{prefix}{}", result.output);
            let response = chat::ToolResponse::new(result.id, output).with_fn_name(result.name);
            vec![ContentPart::ToolResponse(response)]
        }
    }
}

fn wire_call(provider: Provider, call: ToolUse) -> chat::ToolCall {
    let signature = call.signature.filter(|_| provider == Provider::Gemini);
    chat::ToolCall {
        call_id: call.id,
        fn_name: call.name,
        fn_arguments: call.input,
        thought_signatures: signature.map(|signature| vec![signature]),
    }
}
