//! Hooks that guard: what an agent may say, read and do.

#[cfg(feature = "pii")]
mod bech32;
#[cfg(any(feature = "pii", feature = "words"))]
mod fold;
mod inject_prompt;
mod judge;
mod mcp_pins;
#[cfg(feature = "pii")]
pub mod pii;
#[cfg(feature = "pii")]
mod pii_detection;
#[cfg(feature = "policy")]
mod policy;
mod rule_of_two;
#[cfg(feature = "pii")]
mod sanitize;
#[cfg(feature = "pii")]
mod secrets;
#[cfg(feature = "words")]
mod sensitive_words;
mod spotlight;
mod tool_approval;
#[cfg(feature = "secrets")]
mod tool_params;
#[cfg(feature = "pii")]
mod vault;
#[cfg(feature = "words")]
mod words;

pub use inject_prompt::{InjectPrompt, Position};
pub use judge::Judge;
pub use mcp_pins::{McpPins, McpPinsError};
#[cfg(feature = "pii")]
pub use pii_detection::PiiDetection;
pub use rule_of_two::{Labels, RuleOfTwo};
#[cfg(feature = "pii")]
pub use sanitize::{Sanitize, SanitizeError};
#[cfg(feature = "pii")]
pub use secrets::{SecretKind, SecretScanner, Secrets, UnknownSecret};
#[cfg(feature = "words")]
pub use sensitive_words::SensitiveWords;
pub use spotlight::{Spotlight, Style};
pub use tool_approval::{ApprovalRequest, Decision, IntoDecision, ToolApproval};
#[cfg(feature = "secrets")]
pub use tool_params::ToolParams;
#[cfg(feature = "pii")]
pub use vault::{RevealedStream, Vault, VaultError, VaultKey};
#[cfg(feature = "words")]
pub use words::{WordList, WordListError, WordMatch};
