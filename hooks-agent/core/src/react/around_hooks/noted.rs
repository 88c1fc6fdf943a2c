//! Reports the duration and the result of a call inside of a hook to watchers.

use std::time::Instant;

use hooks_core::BoxFuture;

use crate::hook::NoteInside;
use crate::message::ToolResult;

/// Notes how long a call inside of a hook ran and how it ended, if somebody watches.
pub(super) fn noted<'a, T, E>(
    note: Option<&'a dyn NoteInside>,
    inside: BoxFuture<'a, Result<T, E>>,
    result_of: fn(&T) -> Option<&ToolResult>,
) -> BoxFuture<'a, Result<T, E>>
where
    T: Send + 'a,
    E: Send + 'a,
{
    let Some(note) = note else { return inside };
    Box::pin(async move {
        let start = Instant::now();
        let ended = inside.await;
        note.got(ended.as_ref().ok().and_then(result_of), ended.is_err(), start.elapsed());
        ended
    })
}
