//! Tests of the module `replay`.

mod conversations;
mod damage;
mod drift;
mod errors;
mod kills;
mod laws;
mod modes;
mod program;
mod record;
mod redaction;
mod reruns;
mod sealed;
mod size;
mod sub_agents;
mod threads;
