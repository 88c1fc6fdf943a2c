//! The options of these hooks in policy files. Each is a table `with`, read by serde; a value that
//! is not one of its type, and a key that it does not have, are errors of the file.

mod inject_prompt;
mod mcp_pins;
#[cfg(feature = "pii")]
mod pii_detection;
mod rule_of_two;
#[cfg(feature = "pii")]
mod sanitize;
#[cfg(feature = "pii")]
mod secrets;
#[cfg(feature = "words")]
mod sensitive_words;
mod spotlight;
