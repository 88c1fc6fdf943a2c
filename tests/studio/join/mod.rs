//! Workers that join a studio.

mod decisions;
mod interrupts;
mod messages;
mod outages;
mod runs;
mod support;
