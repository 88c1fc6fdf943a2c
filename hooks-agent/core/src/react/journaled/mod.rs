//! The steps of a call in its journal: a hook around the model, the tools and compressions.

mod hook;
mod recording;

pub(super) use hook::JournalHook;
