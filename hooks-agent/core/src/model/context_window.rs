//! The context windows of known models.

/// The context windows of known models, in tokens, by the start of the name. The first match counts.
/// From the providers' pages of models.
const KNOWN: &[(&str, u64)] = &[
    ("gpt-6", 1_050_000),
    ("gpt-5.4-mini", 400_000),
    ("gpt-5.4-nano", 400_000),
    ("gpt-5.4", 1_050_000),
    ("gpt-5.3-codex-spark", 128_000),
    ("gpt-5", 400_000),
    ("gpt-oss", 131_072),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude-", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-", 1_048_576),
    ("deepseek-", 128_000),
];

/// Returns the context window of a known model in tokens, by the start of its name.
///
/// Known are models of `OpenAI`, Anthropic, Google and `DeepSeek`. Models that one runs oneself have the
/// window that their server gives them, so they are not known.
///
/// ```
/// use hooks_agent::model::known_context_window;
///
/// assert_eq!(known_context_window("gpt-4o-mini"), Some(128_000));
/// assert_eq!(known_context_window("mine"), None);
/// ```
#[must_use]
pub fn known_context_window(model: &str) -> Option<u64> {
    let known = KNOWN.iter().find(|(start, _)| model.starts_with(start));
    known.map(|(_, tokens)| *tokens)
}
