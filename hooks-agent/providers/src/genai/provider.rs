//! The differences between providers.

use genai::adapter::AdapterKind;
use genai::chat::{ReasoningEffort, StreamEnd};
use hooks_agent_core::model::{ChatRequest, ModelOptions, ResponseFormat, ToolChoice, ToolSpec};

use crate::genai::attachment::{Attachment, AttachmentKind};
use hooks_agent_core::message::{ContentBlock, Messages, Role};
use hooks_agent_core::model;

/// The provider whose API is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

impl Provider {
    pub(super) fn adapter(self) -> AdapterKind {
        match self {
            Self::OpenAi => AdapterKind::OpenAI,
            Self::Anthropic => AdapterKind::Anthropic,
            Self::Gemini => AdapterKind::Gemini,
            Self::Ollama => AdapterKind::Ollama,
        }
    }

    /// Returns the name in traces, as OpenTelemetry has it.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gcp.gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the default endpoint.
    pub(super) fn endpoint(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Self::Ollama => "http://localhost:11434/",
        }
    }

    /// Returns the path that is appended to the endpoint.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "chat/completions",
            Self::Anthropic => "messages",
            Self::Gemini => "models/..",
            Self::Ollama => "api/chat",
        }
    }

    /// Returns why a request cannot be sent as it is meant, and the remedy.
    pub(super) fn refusal(self, request: &ChatRequest) -> Option<String> {
        let reserved = request.tools.iter().find(|tool| self.reserves(&tool.name));
        if let Some(ToolSpec { name, .. }) = reserved {
            return Some(format!("`{name}` is the provider's own tool, give yours another name"));
        }
        let is_schema =
            matches!(request.options.response_format, ResponseFormat::JsonSchema { .. });
        if self == Self::Ollama && is_schema {
            let cure = "ask it by `GenAiModel::openai_compatible` with its `/v1/`";
            return Some(format!("a JSON schema cannot be sent to Ollama's own API, {cure}"));
        }
        if let Some(what) = unknown_option(&request.options) {
            return Some(format!("the request has a {what} that this version cannot send"));
        }
        self.tool_refusal(&request.options.tool_choice, &request.tools)
            .or_else(|| self.message_refusal(&request.messages))
    }

    fn message_refusal(self, messages: &Messages) -> Option<String> {
        let mut blocks = messages.iter().flat_map(|msg| {
            let role = msg.role;
            msg.content.iter().map(move |block| (role, block))
        });
        blocks.find_map(|(role, block)| match (block, role) {
            (ContentBlock::ToolResult(result), Role::Tool) => {
                result.output.blocks().iter().find_map(|block| self.output_refusal(block))
            }
            (ContentBlock::ToolResult(result), _) if !result.output.blocks().is_empty() => {
                Some("a tool result with blocks is not in a message of a tool, move it".to_owned())
            }
            (ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::File(_), role) => {
                self.media_refusal(block).or_else(|| role_refusal(role))
            }
            (
                ContentBlock::Text { .. }
                | ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::ToolUse(_)
                | ContentBlock::ToolResult(_),
                _,
            ) => None,
            (block, _) => {
                let kind = block.kind_name();
                Some(format!("a message has a block `{kind}` that this version cannot send"))
            }
        })
    }

    fn output_refusal(self, block: &ContentBlock) -> Option<String> {
        match block {
            ContentBlock::Text { .. } => None,
            ContentBlock::Image(_) | ContentBlock::Audio(_) | ContentBlock::File(_) => {
                self.media_refusal(block)
            }
            _ => Some(
                "the output of a tool has a block that is neither text nor an image, audio or a \
                 file, return its text"
                    .to_owned(),
            ),
        }
    }

    fn media_refusal(self, block: &ContentBlock) -> Option<String> {
        let attachment = match Attachment::of(block) {
            Ok(attachment) => attachment?,
            Err(reason) => return Some(reason),
        };
        let (kind, is_url) = (attachment.kind, attachment.is_url());
        if self.takes(kind, is_url) {
            return None;
        }
        let name = self.name();
        Some(if is_url && self.takes(kind, false) {
            format!("{name} takes no URLs of {kind}, send the bytes or ask another provider")
        } else {
            format!("{name} takes no {kind}, send text or ask another provider")
        })
    }

    /// Returns whether messages of the user can have such media.
    fn takes(self, kind: AttachmentKind, is_url: bool) -> bool {
        use AttachmentKind::{Image, Pdf, Text, Video};
        match self {
            Self::OpenAi => !is_url || matches!(kind, Image | Video),
            Self::Anthropic => matches!(kind, Image | Pdf) || (kind == Text && !is_url),
            Self::Gemini => true,
            Self::Ollama => kind == Image && !is_url,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI's API",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Ollama => "Ollama",
        }
    }

    fn tool_refusal(self, choice: &ToolChoice, tools: &[ToolSpec]) -> Option<String> {
        let is_forced = matches!(choice, ToolChoice::Required | ToolChoice::Tool(_));
        match choice {
            ToolChoice::Required if tools.is_empty() => Some(
                "a tool call is required and the request has no tools, add one or leave the \
                 choice to the model"
                    .to_owned(),
            ),
            ToolChoice::Tool(name) if tools.iter().all(|tool| tool.name != *name) => {
                Some(format!("the call of `{name}` is required and the request has no such tool"))
            }
            _ if is_forced && self == Self::Ollama => Some(
                "Ollama cannot be made to call a tool, leave the choice to the model or ask \
                 another provider"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Returns whether a tool of this name would become one that runs at the provider.
    fn reserves(self, tool: &str) -> bool {
        match self {
            Self::Anthropic => tool == "web_search",
            Self::Gemini => {
                ["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"]
                    .contains(&tool)
            }
            Self::OpenAi | Self::Ollama => false,
        }
    }

    /// Returns the effort that is sent for none. Without an effort, the crate would cut a model
    /// name that ends like one, such as `-max`, and send that effort.
    pub(super) fn unsaid_effort(self, model: &str) -> Option<ReasoningEffort> {
        let (cut, _) = ReasoningEffort::from_model_name(model);
        cut.and(match self {
            Self::OpenAi => Some(ReasoningEffort::Budget(0)),
            Self::Anthropic | Self::Gemini => Some(ReasoningEffort::Zero),
            Self::Ollama => None,
        })
    }

    /// Returns whether the crate made up the end, because the stream ended without one.
    pub(super) fn is_cut(self, end: &StreamEnd) -> bool {
        match self {
            Self::OpenAi | Self::Anthropic => false,
            Self::Gemini => end.captured_stop_reason.is_none(),
            Self::Ollama => end.captured_usage.is_none(),
        }
    }
}

fn role_refusal(role: Role) -> Option<String> {
    let place = match role {
        Role::User => return None,
        Role::System => "a system message",
        Role::Assistant => "a message of the model",
        Role::Tool => "a message of a tool, outside of a result",
    };
    Some(format!("media are in {place}, put them in a message of the user"))
}

/// Returns which option is of a kind that came later, and would be left out.
fn unknown_option(options: &ModelOptions) -> Option<&'static str> {
    use model::ReasoningEffort::{High, Low, Medium};
    let ModelOptions { response_format, tool_choice, reasoning_effort, .. } = options;
    let is_known =
        matches!(response_format, ResponseFormat::Text | ResponseFormat::JsonSchema { .. });
    if !is_known {
        return Some("response format");
    }
    let is_known = matches!(
        tool_choice,
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Tool(_)
    );
    if !is_known {
        return Some("tool choice");
    }
    reasoning_effort
        .filter(|effort| !matches!(effort, Low | Medium | High))
        .map(|_| "reasoning effort")
}
