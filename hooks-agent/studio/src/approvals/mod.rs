//! What waits for a person: listed from the stores of the agents, decided in them, and resumed.

mod announced;
mod decide;
mod desk;
mod request;
mod resume;
mod shown;

pub(super) use announced::Announced;
pub(super) use decide::Refused;
pub(super) use desk::Desk;
pub(super) use request::DecisionRequest;
