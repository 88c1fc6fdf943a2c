//! Converts messages.

use std::sync::Arc;

use genai::chat::{ChatMessage, ChatRole, ContentPart, MessageContent, ToolCall, ToolResponse};
use serde_json::json;

use crate::genai::provider::Provider;
use crate::genai::request::media::{anthropic_block, media_part};
use hooks_agent_core::message::{ContentBlock, Messages, Msg, Role, ToolResult, ToolUse};

/// Converts messages for a provider.
pub(super) struct WireMessages {
    provider: Provider,
    /// Whether thoughts without a signature are sent back with tool calls.
    resends_thoughts: bool,
    messages: Vec<ChatMessage>,
    /// The media of the latest tool results. A message of a tool cannot have them at most
    /// providers: they follow the last one, in a message of the user.
    attached: Vec<ContentPart>,
}

impl WireMessages {
    pub(super) fn new(provider: Provider, resends_thoughts: bool) -> Self {
        Self { provider, resends_thoughts, messages: Vec::new(), attached: Vec::new() }
    }

    pub(super) fn convert(mut self, messages: Messages) -> Vec<ChatMessage> {
        for msg in messages {
            self.push(Arc::unwrap_or_clone(msg));
        }
        self.push_attached();
        self.messages
    }

    /// Anthropic requires the results of one answer in one message; a message of Ollama has one
    /// result.
    fn push(&mut self, msg: Msg) {
        let Msg { role, content, .. } = msg;
        if role != Role::Tool {
            self.push_attached();
        }
        let has_calls = content.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
        let resends_thoughts = self.resends_thoughts && has_calls;
        let parts: Vec<_> =
            content.into_iter().flat_map(|block| self.parts(block, resends_thoughts)).collect();
        let last = self.messages.last_mut().filter(|last| last.role == ChatRole::Tool);
        match (role, self.provider, last) {
            _ if parts.is_empty() => {}
            (Role::Tool, Provider::Anthropic, Some(last)) => last.content.extend(parts),
            (Role::Tool, Provider::Ollama, _) => {
                self.messages.extend(parts.into_iter().map(|part| ChatMessage::tool(vec![part])));
            }
            _ => {
                let content = MessageContent::from_parts(parts);
                self.messages.push(ChatMessage::new(wire_role(role), content));
            }
        }
    }

    fn push_attached(&mut self) {
        if !self.attached.is_empty() {
            let content = MessageContent::from_parts(std::mem::take(&mut self.attached));
            self.messages.push(ChatMessage::user(content));
        }
    }

    /// Thoughts are sent back only to a provider that requires them. A signature lets it verify
    /// them.
    fn parts(&mut self, block: ContentBlock, resends_thoughts: bool) -> Vec<ContentPart> {
        let provider = self.provider;
        match block {
            // Providers refuse an empty text.
            ContentBlock::Text { text } if text.is_empty() => Vec::new(),
            ContentBlock::Text { text } => vec![ContentPart::Text(text)],
            ContentBlock::Thinking { thinking, signature: Some(signature) }
                if provider == Provider::Anthropic =>
            {
                let thinking = ContentPart::ReasoningContent(thinking);
                vec![ContentPart::ThoughtSignature(signature), thinking]
            }
            ContentBlock::Thinking { thinking, signature: None }
                if resends_thoughts && provider == Provider::OpenAi =>
            {
                vec![ContentPart::ReasoningContent(thinking)]
            }
            ContentBlock::RedactedThinking { data } if provider == Provider::Anthropic => {
                let block = json!({ "type": "redacted_thinking", "data": data });
                vec![ContentPart::from_custom(block, None)]
            }
            ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::File(_) => {
                media_part(provider, &block).into_iter().collect()
            }
            ContentBlock::ToolUse(call) => vec![ContentPart::ToolCall(wire_call(provider, call))],
            ContentBlock::ToolResult(result) => vec![self.result(result)],
            // Thoughts of another provider. Other blocks were refused.
            _ => Vec::new(),
        }
    }

    /// Converts a result: its texts as one, then its media.
    fn result(&mut self, result: ToolResult) -> ContentPart {
        let ToolResult { id, name, output, is_error, .. } = result;
        let texts = output.blocks().iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let texts = [output.as_str()].into_iter().chain(texts).filter(|text| !text.is_empty());
        let text = texts.collect::<Vec<_>>().join("\n");
        let text = if is_error { format!("Error: {text}") } else { text };
        if self.provider == Provider::Anthropic {
            let media: Vec<_> = output.blocks().iter().filter_map(anthropic_block).collect();
            if !media.is_empty() {
                // The API refuses an empty text.
                let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                let content: Vec<_> = text.into_iter().chain(media).collect();
                let result =
                    json!({ "type": "tool_result", "tool_use_id": id, "content": content });
                return ContentPart::from_custom(result, None);
            }
        }
        let media = output.blocks().iter().filter_map(|block| media_part(self.provider, block));
        let media: Vec<_> = media.collect();
        if !media.is_empty() {
            let origin = format!("From the tool `{name}`, as part of the result `{id}`:");
            self.attached.push(ContentPart::Text(origin));
            self.attached.extend(media);
        }
        ContentPart::ToolResponse(ToolResponse::new(id, text).with_fn_name(name))
    }
}

fn wire_role(role: Role) -> ChatRole {
    match role {
        Role::System => ChatRole::System,
        Role::User => ChatRole::User,
        Role::Assistant => ChatRole::Assistant,
        Role::Tool => ChatRole::Tool,
    }
}

fn wire_call(provider: Provider, call: ToolUse) -> ToolCall {
    let signature = call.signature.filter(|_| provider == Provider::Gemini);
    ToolCall {
        call_id: call.id,
        fn_name: call.name,
        fn_arguments: call.input,
        thought_signatures: signature.map(|signature| vec![signature]),
    }
}
