//! The versions of the schema, in order.

/// One version of the schema.
pub(crate) struct Version {
    pub(crate) version: i64,
    /// Statements, each ended by a semicolon.
    pub(crate) sql: &'static str,
    /// What follows in SQLite.
    #[cfg(feature = "sqlite")]
    pub(crate) sqlite: &'static str,
    /// What follows in PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(crate) postgres: &'static str,
}

/// The versions, each made from the one before.
pub(crate) const MIGRATIONS: &[Version] = &[
    version(1, include_str!("schema_1.sql")),
    version(2, include_str!("schema_2.sql")),
    version(3, include_str!("schema_3.sql")),
    Version {
        #[cfg(feature = "sqlite")]
        sqlite: include_str!("sqlite/schema_4.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("postgres/schema_4.sql"),
        ..version(4, include_str!("schema_4.sql"))
    },
    Version {
        #[cfg(feature = "sqlite")]
        sqlite: include_str!("sqlite/schema_5.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("postgres/schema_5.sql"),
        ..version(5, include_str!("schema_5.sql"))
    },
];

/// Returns a version that is the same in all databases.
const fn version(version: i64, sql: &'static str) -> Version {
    Version {
        version,
        sql,
        #[cfg(feature = "sqlite")]
        sqlite: "",
        #[cfg(feature = "postgres")]
        postgres: "",
    }
}

/// The version of the schema that this program writes.
pub(crate) const LATEST: i64 = 5;
