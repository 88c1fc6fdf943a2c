//! What `hooks-agent` promises.

mod around_hooks;
mod calls;
mod events;
mod failures;
mod jsonl;
mod random_stories;
mod react_loop;
mod rewrite;
mod stops;
mod streaming;
