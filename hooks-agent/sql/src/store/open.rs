//! Opens stores by their URL.

use std::path::Path;
use std::sync::Arc;

use hooks_agent_core::store::{Store, StoreError, StoreReport};

/// Where a store is.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    File(&'a Path),
    Postgres,
}

/// Opens the store of a URL, with its default options: `sqlite:PATH` or the path of an SQLite file, or
/// `postgres://..`.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use hooks_agent::store::{self, Filter};
///
/// # let folder = std::env::temp_dir().join(format!("hooks-open-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("agents.db").display().to_string();
/// let store = store::open(&format!("sqlite:{path}")).await?;
/// assert!(store.waiting(Filter::all()).await?.is_empty());
/// assert!(store::open("mysql://localhost/agents").await.is_err());
/// # drop(store);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`SqliteStore::open`](crate::store::SqliteStore::open) and
/// [`PostgresStore::connect`](crate::store::PostgresStore::connect); [`StoreError::Open`] if the feature
/// of the store is off, or no store has such a URL.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match place(url)? {
        Place::File(path) => open_file(path).await,
        Place::Postgres => open_server(url).await,
    }
}

/// Opens the store of a URL to read alone, as [`open`] does otherwise: it is neither made nor migrated.
///
/// # Errors
/// Those of [`SqliteStore::read_only`](crate::store::SqliteStore::read_only) and
/// [`PostgresStore::read_only`](crate::store::PostgresStore::read_only), and of [`open`].
pub async fn open_read_only(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match place(url)? {
        Place::File(path) => read_file(path).await,
        Place::Postgres => read_server(url).await,
    }
}

/// Opens the store of a URL to read alone and counts what it has, in its first namespace. Of another
/// namespace or schema, ask [`Store::report`].
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::store::StoreError> {
/// println!("{}", hooks_agent::store::check("agents.db").await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`open_read_only`].
pub async fn check(url: &str) -> Result<StoreReport, StoreError> {
    open_read_only(url).await?.report().await
}

/// A URL may have a password: errors quote no more than its scheme.
fn place(url: &str) -> Result<Place<'_>, StoreError> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return match path {
            ":memory:" => Err(refused("a store in memory is `MemoryStore`".to_owned())),
            path => Ok(Place::File(Path::new(path))),
        };
    }
    match url.split_once("://") {
        Some(("postgres" | "postgresql", _)) => Ok(Place::Postgres),
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Err(refused(format!(
                "no store has the scheme `{scheme}`: `sqlite:` and `postgres://` are known"
            )))
        }
        None if !["postgres:", "postgresql:"].iter().any(|scheme| url.starts_with(scheme)) => {
            Ok(Place::File(Path::new(url)))
        }
        _ => Err(refused("the URL cannot be read: write `postgres://..` or a path".to_owned())),
    }
}

#[cfg(feature = "sqlite")]
async fn open_file(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::store::SqliteStore::open(path).await?))
}

#[cfg(not(feature = "sqlite"))]
async fn open_file(_: &Path) -> Result<Arc<dyn Store>, StoreError> {
    Err(refused("a file needs the feature `sqlite` of `hooks-agent`".to_owned()))
}

#[cfg(feature = "postgres")]
async fn open_server(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::store::PostgresStore::connect(url).await?))
}

#[cfg(feature = "sqlite")]
async fn read_file(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::store::SqliteStore::read_only(path).await?))
}

#[cfg(not(feature = "sqlite"))]
async fn read_file(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    open_file(path).await
}

#[cfg(feature = "postgres")]
async fn read_server(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::store::PostgresStore::read_only(url).await?))
}

#[cfg(not(feature = "postgres"))]
async fn read_server(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    open_server(url).await
}

#[cfg(not(feature = "postgres"))]
async fn open_server(_: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(refused("PostgreSQL needs the feature `postgres` of `hooks-agent`".to_owned()))
}

fn refused(reason: String) -> StoreError {
    StoreError::Open { reason, source: None }
}
