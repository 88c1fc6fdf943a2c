//! The versions of the schema, in order.

/// One version of the schema.
pub(crate) struct Version {
    pub(crate) version: i64,
    /// Statements, each ended by a semicolon.
    pub(crate) sql: &'static str,
}

/// The versions, each made from the one before.
pub(crate) const MIGRATIONS: &[Version] = &[
    Version { version: 1, sql: include_str!("schema_1.sql") },
    Version { version: 2, sql: include_str!("schema_2.sql") },
    Version { version: 3, sql: include_str!("schema_3.sql") },
    Version { version: 4, sql: include_str!("schema_4.sql") },
];

/// The version of the schema that this program writes.
pub(crate) const LATEST: i64 = 4;
