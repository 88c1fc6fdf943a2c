//! Workers that joined the studio: what they send is added to the ring, and what the page decides about it goes back to
//! them as commands.

mod joined;
mod kinds;
mod message;
mod questions;
mod runs;
mod unshown;
mod worker;

pub(super) use joined::Joined;
#[cfg(feature = "join")]
pub(super) use message::{Answer, Command, Hidden, MOST_QUESTIONS};
pub(super) use message::{MOST_BYTES, Order, Outcome, Person, Sent};
pub(super) use unshown::denies;
