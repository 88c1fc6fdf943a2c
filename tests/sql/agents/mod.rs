//! Agents on a store: what a call finds after another process, and after a crash.

mod attack;
mod attacked;
mod bad_input;
mod cut_off_calls;
mod cut_offs;
mod cycles;
mod forgotten;
mod gate;
pub(crate) mod guarded;
mod hidden;
mod limits;
mod lost_lease;
mod ownership;
mod people;
mod quotas;
mod quotas_around;
mod random_steps;
mod rewound;
mod shared;
mod shutdown;
mod steering;
mod stores;
mod sub_agents;
mod threads;
mod values;
