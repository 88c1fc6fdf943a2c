//! Calls that are recorded, and replayed without a model and without tools.
//!
//! A [`Tape`] is a hook. It [records](Tape::record) what the model and the tools of an agent answer, and
//! [replays](Tape::replay) it: no model is asked and no tool runs, while all other hooks run for real.
//! The results of the hooks are compared with the recording; the differences are the [`Drift`].
//! [The guide] has the modes, the format and what is not on a tape.
//!
//! This crate is the feature `replay` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/replay/index.html
//!
//! | type | what it is |
//! |---|---|
//! | [`Tape`], [`TapeBuilder`] | the hook that records or replays |
//! | [`Drift`], [`DriftEntry`] | what differs |
//! | [`Redact`], [`Patterns`] | what must not be on a tape |
//! | [`Recording`] | a tape that was read |
//! | [`TapeText`], [`TapeCall`] | a tape of calls that something else has kept |
//! | [`rerun()`] | the recorded calls again, with other hooks, without the program |

mod builder;
mod drift;
mod error;
mod format;
mod hook;
mod live;
mod play;
mod player;
mod recorder;
mod recording;
mod redact;
mod request;
mod rerun;
mod runs;
mod settle;
mod tape;
mod text;

pub use builder::TapeBuilder;
pub use drift::{Drift, DriftEntry, DriftKind, Verdict};
pub use error::TapeError;
pub use recording::{RecordedAgent, RecordedCall, RecordedDecision, Recording};
pub use redact::{Found, Patterns, Redact};
pub use rerun::{Rerun, rerun};
pub use tape::Tape;
pub use text::{TapeCall, TapeText};
