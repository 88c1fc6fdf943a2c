//! Calls of agents, their limits and their effects.

mod contexts;
mod custom_agents;
mod cycles;
mod gate;
mod limits;
mod owned_calls;
mod part_calls;
mod queues;
mod seams;
mod streaming;
mod thread_values;
mod threads;
