//! The host: an agent that does what interceptors say.

mod blocked;
mod emission;
mod held;
mod identity;
mod interceptors;
mod labels;
mod order;
mod people;
mod points;
mod profile;
mod session;
mod source;
mod surface;

pub use blocked::Blocked;
pub use identity::{CustomIdentity, Identity};
pub use interceptors::{Interceptors, Output, Segment};
pub use people::AskPeople;
pub use profile::Profile;
pub use surface::{declaration, surface};
