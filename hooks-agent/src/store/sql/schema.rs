//! The migrations of the schema, in order.

/// One version of the schema.
pub(crate) struct Migration {
    pub(crate) version: i64,
    /// Statements, each ended by a semicolon.
    pub(crate) sql: &'static str,
}

/// The migrations, by version.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { version: 1, sql: include_str!("schema_1.sql") }];

/// The version of the schema that this program writes.
pub(crate) const LATEST: i64 = 1;
