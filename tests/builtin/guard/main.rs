//! Built-in hooks that guard: what an agent may say, read and do.

mod doors;
mod everything;
mod inject_prompt;
mod pii_addresses;
mod pii_custom;
mod pii_detection;
mod pii_find;
mod pii_folded;
mod pii_ids;
mod pii_numbers;
mod pii_overlap;
mod pii_people;
mod pii_replacement;
mod pii_set;
mod pii_stream;
mod recognizer;
mod rule_of_two;
mod sanitize;
mod secrets;
mod sensitive_words;
mod spoken;
mod spotlight;
mod tool_approval;
mod tool_params;
mod vault;
mod words;
