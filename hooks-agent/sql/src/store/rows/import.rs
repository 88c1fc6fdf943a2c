//! An import as rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use hooks_agent_core::store::{HistoryRow, StoreError, check_name};
use serde_json::{Map, Value};

use crate::database::signed;
use crate::store::rows::json::write_json;

/// What an import writes, as the columns of its rows.
#[derive(Debug)]
pub(crate) struct ImportRows {
    pub(crate) version: i64,
    pub(crate) next: i64,
    /// Sequence numbers, places, versions that replaced them, bodies.
    pub(crate) messages: Vec<(i64, i64, Option<i64>, String)>,
    /// Names, bodies.
    pub(crate) values: Vec<(String, String)>,
    pub(crate) user: Option<Arc<str>>,
}

impl ImportRows {
    pub(crate) fn of(
        rows: &[HistoryRow],
        values: &Map<String, Value>,
        user: Option<Arc<str>>,
    ) -> Result<Self, StoreError> {
        if let Some(user) = &user {
            check_name("id of the user", user)?;
        }
        let mut seen = BTreeSet::new();
        let mut messages = Vec::with_capacity(rows.len());
        for row in rows {
            row.check().map_err(|reason| refused(format!("a message {reason}")))?;
            if !seen.insert(row.seq) {
                return Err(refused(format!("two messages have the number {}", row.seq)));
            }
            let (place, archived) = (signed(row.place), row.archived.map(signed));
            messages.push((signed(row.seq), place, archived, write_json(&row.message)?));
        }
        let archived = messages.iter().filter_map(|(_, _, archived, _)| *archived);
        let mut named = Vec::with_capacity(values.len());
        for (name, body) in values {
            check_name("name of the value", name)?;
            named.push((name.clone(), write_json(body)?));
        }
        Ok(Self {
            version: archived.max().unwrap_or_default().max(1),
            next: seen.last().map_or(0, |seq| signed(*seq).saturating_add(1)),
            messages,
            values: named,
            user,
        })
    }
}

fn refused(reason: String) -> StoreError {
    StoreError::Unreadable { what: "an export".to_owned(), source: reason.into() }
}
