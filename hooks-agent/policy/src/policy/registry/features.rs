//! Built-in hooks that files may not use, or only with a feature.

use std::fmt;

use hooks_agent_core::text::misspelt;

/// The built-in hooks that need a feature.
const FEATURES: [(&str, &str); 12] = [
    ("audit_log", "audit"),
    ("egress_guard", "rules"),
    ("model_retry", "retry"),
    ("pii_detection", "pii"),
    ("provenance", "provenance"),
    ("quotas", "rules"),
    ("rate_limit", "rate-limit"),
    ("rules", "rules"),
    ("sanitize", "pii"),
    ("secrets", "pii"),
    ("sensitive_words", "words"),
    ("tool_retry", "retry"),
];

/// A built-in hook that is added in code alone.
pub(crate) struct InCode {
    /// The name that a file would have for it.
    pub(crate) name: &'static str,
    hook: &'static str,
    /// What a file cannot give it.
    needs: &'static str,
}

const IN_CODE: [InCode; 17] = [
    in_code("auto_context", "AutoContext", "a model"),
    in_code("judge", "Judge", "a model"),
    in_code("long_term_memory", "LongTermMemory", "memories"),
    in_code("model_fallback", "ModelFallback", "a model"),
    in_code("monitoring", "Monitoring", "a recorder of metrics"),
    in_code("open_telemetry", "OpenTelemetry", "an exporter"),
    in_code("rag", "Rag", "knowledge to search"),
    in_code("skills", "Skills", "tools, which an agent has when it is built"),
    in_code("streaming", "Streaming", "a receiver"),
    in_code("structured_output", "StructuredOutput", "a type"),
    in_code("studio", "Studio", "a server"),
    in_code("summarization", "Summarization", "a model"),
    in_code("todo_list", "TodoList", "a tool, which an agent has when it is built"),
    in_code("tool_approval", "ToolApproval", "somebody who decides"),
    in_code("tool_emulator", "ToolEmulator", "a model"),
    in_code("tool_params", "ToolParams", "values of the program"),
    in_code("tool_selector", "ToolSelector", "a model or a search"),
];

const fn in_code(name: &'static str, hook: &'static str, needs: &'static str) -> InCode {
    InCode { name, hook, needs }
}

impl InCode {
    /// Returns the hook of this name, or of a misspelt one.
    pub(crate) fn of(uses: &str) -> Option<&'static Self> {
        let names = IN_CODE.iter().map(|it| it.name);
        let name = misspelt(uses, names).unwrap_or(uses);
        IN_CODE.iter().find(|it| it.name == name)
    }
}

impl fmt::Display for InCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, hook, needs } = self;
        write!(f, "`{name}` needs code: {needs}; add `{hook}` by `.hook(..)` to the agent")
    }
}

/// Returns the feature of a built-in hook that is not registered.
pub(crate) fn feature_of(uses: &str) -> Option<&'static str> {
    FEATURES.iter().find(|(name, _)| *name == uses).map(|(_, feature)| *feature)
}
