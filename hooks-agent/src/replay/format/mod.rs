//! The lines of a tape: what is on them, how they are written and read. It knows neither hooks nor
//! calls that run.

mod canonical;
mod chunks;
mod line;
mod reader;

pub(in crate::replay) use canonical::{Hasher, Key, line_of, text_of, without_ids};
pub(in crate::replay) use chunks::{Played, chunk_value, error_value, played};
pub(in crate::replay) use line::{Kind, Line};
pub(in crate::replay) use reader::{Place, Reader, bytes_at, parse};

/// The name of the format, in the header.
pub(in crate::replay) const FORMAT: &str = "hooks-tape";

/// The version of the format that this module writes and reads.
pub(in crate::replay) const VERSION: u64 = 1;
