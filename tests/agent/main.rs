//! What `hooks-agent` promises.

mod around_hooks;
mod builtins;
mod calls;
mod decisions;
mod events;
mod failures;
mod finish_reasons;
mod function_tools;
mod gate;
mod governance;
mod jsonl;
mod limits;
mod questions;
mod queues;
mod random_questions;
mod random_redactions;
mod random_stories;
mod react_loop;
mod rewrite;
mod stops;
mod streaming;
mod sub_agent_questions;
mod unfinished_answers;
