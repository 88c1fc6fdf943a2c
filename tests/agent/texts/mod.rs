//! Lists of messages, texts that hooks rewrite, and records of calls.

mod json_forms;
mod jsonl;
mod message_lists;
mod random_redactions;
mod rewrite;
mod rewrite_places;
mod rewriters;
