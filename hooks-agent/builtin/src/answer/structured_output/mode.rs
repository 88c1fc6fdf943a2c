//! Modes in which the model is asked for a typed answer.

/// How the model is asked for JSON of a schema.
///
/// | | [`Format`](Mode::Format) | [`Tool`](Mode::Tool) | [`Prompt`](Mode::Prompt) |
/// |---|---|---|---|
/// | `OpenAI` and compatible servers | yes, strict: no maps | yes | yes |
/// | Anthropic | newer models | yes, not while it is made to think | yes |
/// | Gemini | yes; older models not together with tools | yes | yes |
/// | Ollama's own API | no: the call fails | no: the call fails | yes |
/// | partial values while streaming | yes | at the end: tool calls arrive whole | yes |
///
/// Ollama takes a format by `GenAiModel::openai_compatible` with its `/v1/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// By the provider's [format of answers](hooks_agent_core::model::ResponseFormat), in every round.
    Format,
    /// By a tool that takes the answer: the model has to call it, or in a round with other tools one of
    /// them. What it calls the tool with is the text of its answer: no tool runs, hooks of tool calls do
    /// not see it, and those of texts do.
    Tool,
    /// By the schema in the system message.
    Prompt,
}
