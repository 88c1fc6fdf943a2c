//! The lines of a tape: what is on them, how they are written and read. It knows neither hooks nor
//! calls that run.

mod canonical;
mod chain;
mod chunks;
mod line;
mod parts;
mod reader;

pub(crate) use canonical::{Hasher, Key, line_of, text_of, without_ids};
pub(crate) use chain::Chain;
pub(crate) use chunks::{Played, chunk_value, error_value, played};
pub(crate) use line::{CallLine, DecisionLine, EndLine, Line, ModelLine, ToolLine};
pub(crate) use parts::{Parts, Written};
pub(crate) use reader::{Place, Reader, Tail, bytes_at, parse};

/// The name of the format, in the header.
pub(crate) const FORMAT: &str = "hooks-tape";

/// The version of the format that this module writes.
pub(crate) const VERSION: u64 = 2;

/// The oldest version that it reads: without digests and a last line, with whole requests.
pub(crate) const OLDEST: u64 = 1;
