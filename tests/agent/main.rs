//! What `hooks-agent` promises.

mod around_hooks;
mod builtins;
mod calls;
mod events;
mod failures;
mod function_tools;
mod gate;
mod governance;
mod jsonl;
mod limits;
mod random_redactions;
mod random_stories;
mod react_loop;
mod rewrite;
mod stops;
mod streaming;
mod unfinished_answers;
