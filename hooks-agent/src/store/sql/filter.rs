//! A filter as the parameters of a statement.

use crate::store::Filter;
use crate::store::sql::number::millis;

/// The parameters of a filter.
pub(crate) struct FilterRow<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) thread: Option<&'a str>,
    pub(crate) user: Option<&'a str>,
    pub(crate) unused_for: Option<i64>,
    pub(crate) is_decided: i64,
    pub(crate) limit: i64,
}

impl<'a> FilterRow<'a> {
    /// Returns none if a name of the filter cannot be stored: nothing has it.
    pub(crate) fn of(filter: &'a Filter) -> Option<Self> {
        let names = [filter.agent.as_deref(), filter.thread.as_deref(), filter.user.as_deref()];
        if names.iter().flatten().any(|name| name.contains('\0')) {
            return None;
        }
        let [agent, thread, user] = names;
        Some(Self {
            agent,
            thread,
            user,
            unused_for: filter.unused_for.map(millis),
            is_decided: i64::from(filter.is_decided),
            limit: filter.limit.map_or(i64::MAX, i64::from),
        })
    }
}
