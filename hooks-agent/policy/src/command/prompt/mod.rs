//! Questions to a model about an event. Nothing here knows what the answer means.

mod ask;
mod question;

pub(super) use ask::Prompt;
