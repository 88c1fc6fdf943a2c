//! Tool calls that wait for a person: listed from the agents' stores, decided there, and resumed.

mod announced;
mod decide;
mod desk;
mod remembered;
mod request;
mod resume;
mod shown;

pub(super) use announced::Announced;
pub(super) use decide::Refused;
pub(super) use desk::{Desk, Login};
pub(super) use request::DecisionRequest;
pub(super) use shown::hide;
