//! Passages with vectors in a table.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_sql::database::{Access, Columns, DatabaseError, Dialect, List, Statement};
use sqlx::{AssertSqlSafe, Postgres, Row};

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::{Knowledge, KnowledgeFuture};
use crate::rag::passage::Passage;
use crate::rag::text_index::TextIndex;
use crate::rag::vectors::embed::Checked;
use crate::rag::vectors::index::{BATCH, Embedded, titled};
use crate::rag::vectors::postgres::connection::Database;
use crate::rag::vectors::postgres::rows::{COLUMNS, id, literal, passage};
use hooks_agent_core::model::Embedder;

/// Passages with vectors in a table of PostgreSQL, for many processes: the extension `vector`
/// (pgvector) compares them. Requires the features `knowledge` and `postgres`.
///
/// The search is exact until the program creates an index of the extension on the column
/// `embedding`, such as `USING hnsw (embedding vector_cosine_ops)`. The score is that of
/// [`VectorIndex`](crate::VectorIndex).
///
/// | setting | default |
/// |---|---|
/// | [`open`](Self::open): URL, table, embedder | required |
/// | [`timeout`](Self::timeout) of a batch, and of the vector of a query | none |
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use hooks_agent::builtin::knowledge::{GenAiEmbedder, Hybrid, PgVectors, TextIndex};
///
/// let text = TextIndex::open("docs", "docs.index").await?;
/// let embedder = GenAiEmbedder::ollama("nomic-embed-text", 768);
/// let url = "postgres://clerk@db.example.com/agents?sslmode=verify-full";
/// let vectors = PgVectors::open(url, "passages", embedder).await?;
/// vectors.refresh(&text).await?;
/// let knowledge = Hybrid::new(text, vectors);
/// # let _ = knowledge;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct PgVectors {
    database: Arc<Database>,
    table: Arc<str>,
    embedder: Checked,
}

impl PgVectors {
    /// Opens the table, and creates it and the extension if they are not there. `table` has small
    /// letters, digits and `_`.
    ///
    /// # Errors
    /// [`KnowledgeError::Database`], also for a server without the extension;
    /// [`KnowledgeError::OtherEmbedder`] if the vectors in the table are of another embedder.
    pub async fn open(
        url: &str,
        table: &str,
        embedder: impl Embedder + 'static,
    ) -> Result<Self, KnowledgeError> {
        check_name(table)?;
        let database = Arc::new(Database::new(url)?);
        let vectors = Self { database, table: table.into(), embedder: Checked::new(embedder) };
        vectors.create().await?;
        vectors.check_embedder().await?;
        Ok(vectors)
    }

    /// Sets the longest time of a batch, and of the vector of a query. Requires a runtime of tokio with
    /// time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.embedder.timeout = Some(timeout);
        self
    }

    /// Refreshes the text index, and makes the table have its passages and no others: embeds those
    /// that are new, and removes those that vanished. Each batch is a transaction of its own.
    ///
    /// # Errors
    /// Those of [`TextIndex::refresh`], of the database and of the embedder. What was written before
    /// stays, and the next refresh goes on from there.
    pub async fn refresh(&self, text: &TextIndex) -> Result<Embedded, KnowledgeError> {
        let documents = text.refresh().await?;
        let stored = self.ids().await?;
        let mut alive = HashSet::new();
        let mut embedded = 0;
        for digests in text.digests().await?.chunks(BATCH) {
            let passages = text.by_digests(digests.to_vec()).await?;
            let mut fresh: Vec<(String, Passage)> = Vec::new();
            for (_, passage) in passages {
                let id = id(&passage);
                if alive.insert(id.clone()) && !stored.contains(&id) {
                    fresh.push((id, passage));
                }
            }
            for batch in fresh.chunks(BATCH) {
                embedded += batch.len();
                self.insert(batch).await?;
            }
        }
        let gone: Vec<String> = stored.into_iter().filter(|id| !alive.contains(id)).collect();
        let removed = gone.len();
        self.remove(gone).await?;
        Ok(Embedded { documents, embedded, removed })
    }

    async fn create(&self) -> Result<(), KnowledgeError> {
        let (table, dimension) = (&self.table, self.embedder.embedder.dimension());
        // Two processes that create it at once wait for each other.
        let create = format!(
            "BEGIN; SELECT pg_advisory_xact_lock(7307199); \
             CREATE EXTENSION IF NOT EXISTS vector; \
             CREATE TABLE IF NOT EXISTS {table} (id text PRIMARY KEY, embedder text NOT NULL, \
             passage text NOT NULL, source text NOT NULL, range_start bigint NOT NULL, \
             range_end bigint NOT NULL, first_line bigint, last_line bigint, title text, \
             embedding vector({dimension}) NOT NULL); COMMIT"
        );
        self.database
            .run("create the extension `vector` and the table", |conn| {
                async move {
                    sqlx::raw_sql(AssertSqlSafe(create)).execute(conn).await?;
                    Ok(())
                }
                .boxed()
            })
            .await
    }

    async fn check_embedder(&self) -> Result<(), KnowledgeError> {
        let stored = format!(
            "SELECT (SELECT atttypmod FROM pg_attribute WHERE attrelid = $1::regclass AND attname = \
             'embedding') AS dimension, (SELECT embedder FROM {} LIMIT 1) AS embedder",
            self.table
        );
        let table = self.table.to_string();
        let row = self
            .database
            .run("read the table", |conn| {
                async move {
                    let rows = Postgres::fetch(conn, statement(stored).bind(table)).await?;
                    rows.into_iter().next().ok_or(DatabaseError::from(sqlx::Error::RowNotFound))
                }
                .boxed()
            })
            .await?;
        let given = &self.embedder.embedder;
        let stored_dimension =
            row.try_get::<i32, _>("dimension").ok().and_then(|it| usize::try_from(it).ok());
        let stored = row.try_get::<Option<String>, _>("embedder").ok().flatten();
        let stored = stored.unwrap_or_else(|| given.name().to_owned());
        let stored_dimension = stored_dimension.unwrap_or_default();
        if (&*stored, stored_dimension) == (given.name(), given.dimension()) {
            return Ok(());
        }
        Err(KnowledgeError::OtherEmbedder {
            place: self.table.to_string(),
            stored,
            stored_dimension,
            given: given.name().to_owned(),
            given_dimension: given.dimension(),
        })
    }

    async fn ids(&self) -> Result<HashSet<String>, KnowledgeError> {
        let ids = format!("SELECT id FROM {}", self.table);
        self.database
            .run("read the passages", |conn| {
                async move {
                    let rows = Postgres::fetch(conn, statement(ids)).await?;
                    rows.iter().map(|row| row.text(0)).collect()
                }
                .boxed()
            })
            .await
    }

    async fn insert(&self, batch: &[(String, Passage)]) -> Result<(), KnowledgeError> {
        let texts: Vec<_> = batch.iter().map(|(_, passage)| titled(passage)).collect();
        let vectors = self.embedder.embed(&texts).await?;
        let insert = format!(
            "INSERT INTO {} (id, embedder, {COLUMNS}, embedding) VALUES \
             ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::vector) ON CONFLICT (id) DO NOTHING",
            self.table
        );
        let (batch, embedder) = (batch.to_vec(), self.embedder.embedder.name().to_owned());
        self.database
            .run("write passages", |conn| {
                async move {
                    let mut transaction = Postgres::begin(conn, Access::Write, None).await?;
                    for ((id, passage), vector) in batch.into_iter().zip(vectors) {
                        let line = |line: usize| i64::try_from(line).unwrap_or(i64::MAX);
                        let lines = passage.lines.as_ref();
                        let insert = statement(insert.clone())
                            .bind(id)
                            .bind(&embedder)
                            .bind(without_nul(passage.text))
                            .bind(passage.source)
                            .bind(line(passage.range.start))
                            .bind(line(passage.range.end))
                            .bind(lines.map(|lines| line(*lines.start())))
                            .bind(lines.map(|lines| line(*lines.end())))
                            .bind(passage.title.map(without_nul))
                            .bind(literal(&vector));
                        Postgres::execute(&mut transaction, insert).await?;
                    }
                    Ok(transaction.commit().await?)
                }
                .boxed()
            })
            .await
    }

    async fn remove(&self, ids: Vec<String>) -> Result<(), KnowledgeError> {
        if ids.is_empty() {
            return Ok(());
        }
        let remove = format!("DELETE FROM {} WHERE id = ANY($1)", self.table);
        self.database
            .run("remove passages", |conn| {
                async move {
                    let remove = statement(remove).bind(List::texts(ids));
                    Postgres::execute(conn, remove).await.map(drop)
                }
                .boxed()
            })
            .await
    }

    async fn search_now(&self, query: &str, limit: usize) -> Result<Vec<Passage>, KnowledgeError> {
        if limit == 0 || query.trim().is_empty() {
            return Ok(Vec::new());
        }
        let vector = literal(&self.embedder.embed_query(query).await?);
        // The distance to a vector of zeros is no number.
        let search = format!(
            "SELECT {COLUMNS}, coalesce(1 - nullif(embedding <=> $1::vector, 'NaN'), 0) AS score \
             FROM {} ORDER BY embedding <=> $1::vector LIMIT $2",
            self.table
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.database
            .run("search", |conn| {
                async move {
                    let query = statement(search).bind(vector).bind(limit);
                    Postgres::fetch(conn, query).await?.iter().map(passage).collect()
                }
                .boxed()
            })
            .await
    }
}

/// Returns a statement without a name, which poolers take that give each transaction another session.
fn statement(sql: String) -> Statement<'static> {
    Statement::written(sql).unnamed()
}

/// PostgreSQL takes no NUL characters.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text }
}

/// Checks the name of a table, which is part of statements.
fn check_name(table: &str) -> Result<(), KnowledgeError> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_name = table.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && table.bytes().next().is_some_and(is_letter)
        && table.len() <= 63;
    if is_name {
        return Ok(());
    }
    let reason = format!("`{table}` is no name: write up to 63 small letters, digits and `_`");
    Err(KnowledgeError::Database { action: "name the table", source: reason.into() })
}

impl Knowledge for PgVectors {
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        Box::pin(self.search_now(query, limit))
    }
}

impl fmt::Debug for PgVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgVectors")
            .field("table", &self.table)
            .field("embedder", &self.embedder.embedder.name())
            .field("timeout", &self.embedder.timeout)
            .finish_non_exhaustive()
    }
}
