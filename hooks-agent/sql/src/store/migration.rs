//! One version of the schema of a store.

use std::fmt;

/// One version of the schema of a store, as a dry run shows it and a migration applies it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # #[cfg(feature = "sqlite")] {
/// use hooks_agent::store::SqliteStore;
///
/// # let folder = std::env::temp_dir().join(format!("hooks-dry-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("agents.db");
/// for migration in SqliteStore::options().dry_run(&path).await? {
///     println!("{migration}");
/// }
/// assert!(!path.exists());
/// # std::fs::remove_dir_all(folder)?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migration {
    /// The version that the schema has afterwards.
    pub version: u64,
    /// The statements, each ended by a semicolon.
    pub sql: String,
}

/// Writes the version as a comment, and the statements.
impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-- schema version {}\n{}", self.version, self.sql)
    }
}
