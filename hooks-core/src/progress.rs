//! How far a phase came that starts as a plain function.

use crate::point::HookPoint;
use crate::snapshot::{Cursor, Snapshot};

/// How far the sync hooks at the start of a phase came.
pub(crate) enum Progress<A: HookPoint<Args>, Args: 'static, T> {
    /// To the end, with this.
    Done(T),
    /// The hook at this place has to be waited for, or is watched.
    Waits(Snapshot<A, Args>, Cursor),
}
