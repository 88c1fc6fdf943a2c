//! Calls that stop or ask, and what people decide.

mod approvers;
mod askers;
mod decisions;
mod notes;
mod observed_decisions;
mod questions;
mod random_questions;
mod recovered;
mod result_order;
mod stops;
mod sub_agent_questions;
