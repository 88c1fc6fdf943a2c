//! The lines of a tape: what is on them, how they are written and read. It knows neither hooks nor
//! calls that run.

mod canonical;
mod chain;
mod chunks;
mod line;
mod parts;
mod reader;

pub(in crate::replay) use canonical::{Hasher, Key, line_of, text_of, without_ids};
pub(in crate::replay) use chain::Chain;
pub(in crate::replay) use chunks::{Played, chunk_value, error_value, played};
pub(in crate::replay) use line::{Kind, Line};
pub(in crate::replay) use parts::{Parts, Written};
pub(in crate::replay) use reader::{Place, Reader, Tail, bytes_at, parse};

/// The name of the format, in the header.
pub(in crate::replay) const FORMAT: &str = "hooks-tape";

/// The version of the format that this module writes.
pub(in crate::replay) const VERSION: u64 = 2;

/// The oldest version that it reads: without digests and a last line, with whole requests.
pub(in crate::replay) const OLDEST: u64 = 1;
