//! The features of built-in hooks.

/// The built-in hooks that need a feature.
const FEATURES: [(&str, &str); 7] = [
    ("audit_log", "audit"),
    ("model_retry", "retry"),
    ("pii_detection", "pii"),
    ("rate_limit", "rate-limit"),
    ("sanitize", "pii"),
    ("sensitive_words", "words"),
    ("tool_retry", "retry"),
];

/// Returns the feature of a built-in hook that is not registered.
pub(in crate::policy) fn feature_of(uses: &str) -> Option<&'static str> {
    FEATURES.iter().find(|(name, _)| *name == uses).map(|(_, feature)| *feature)
}
