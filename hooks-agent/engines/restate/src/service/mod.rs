//! A ready-made virtual object that serves agents, and the desk of its questions.

mod agents;
mod desk;
mod feed;
mod publisher;
mod request;

pub use agents::Agents;
pub use desk::Desk;
pub(crate) use desk::{Asked, DESK};
pub use feed::{Feed, StreamPart, StreamRequest};
pub use request::CallRequest;
