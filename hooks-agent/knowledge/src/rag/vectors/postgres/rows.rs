//! Passages as rows of a table.

use std::fmt::Write;

use hooks_agent_sql::database::DatabaseError;
use sqlx::postgres::PgRow;
use sqlx::{Error, Row};

use crate::rag::digest;
use crate::rag::passage::Passage;

/// Returns the identity of a passage: of another text, another place or another title, another one.
pub(super) fn id(passage: &Passage) -> String {
    let Passage { text, source, range, title, .. } = passage;
    let place = format!("{}..{}", range.start, range.end);
    let parts = [text, source, &place, title.as_deref().unwrap_or_default()];
    digest::written(digest::of(&parts.map(str::as_bytes)))
}

/// Returns a vector as the extension reads it.
pub(super) fn literal(vector: &[f32]) -> String {
    let mut literal = String::with_capacity(vector.len() * 10);
    for (at, value) in vector.iter().enumerate() {
        literal.push(if at == 0 { '[' } else { ',' });
        let _ = write!(literal, "{value}");
    }
    literal.push(']');
    literal
}

/// Returns the passage of a row, as [`COLUMNS`] lists it, and its score.
pub(super) fn passage(row: &PgRow) -> Result<Passage, DatabaseError> {
    let place = |column| row.try_get::<i64, _>(column).map(|at| usize::try_from(at).unwrap_or(0));
    let line = |column| {
        let line = row.try_get::<Option<i64>, _>(column)?;
        Ok::<_, Error>(line.and_then(|line| usize::try_from(line).ok()))
    };
    let lines = line("first_line")?.zip(line("last_line")?);
    let text: String = row.try_get("passage")?;
    #[allow(clippy::cast_possible_truncation)]
    let score = row.try_get::<f64, _>("score")?.clamp(0.0, 1.0) as f32;
    Ok(Passage::new(text, row.try_get::<String, _>("source")?, score)
        .with_range(place("range_start")?..place("range_end")?)
        .with_lines(lines.map(|(first, last)| first..=last))
        .with_title(row.try_get::<Option<String>, _>("title")?))
}

/// The columns of a passage.
pub(super) const COLUMNS: &str =
    "passage, source, range_start, range_end, first_line, last_line, title";
