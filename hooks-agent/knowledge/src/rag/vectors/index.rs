//! Vectors of the passages of a text index.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::rag::blocking;
use crate::rag::digest::Digest;
use crate::rag::error::KnowledgeError;
use crate::rag::hybrid::Hybrid;
use crate::rag::knowledge::{Knowledge, KnowledgeFuture};
use crate::rag::lock::lock_between;
use crate::rag::passage::Passage;
use crate::rag::text_index::{Refreshed, TextIndex};
use crate::rag::vectors::embed::Checked;
use crate::rag::vectors::file;
use crate::rag::vectors::matrix::Matrix;
use hooks_agent_core::model::Embedder;

/// The file of the vectors, in the folder of the text index.
const NAME: &str = "vectors.bin";

/// The file that is locked while vectors are made.
const LOCK: &str = ".hooks-vectors.lock";

/// How many texts an embedder is given at once.
pub(super) const BATCH: usize = 64;

/// How many new vectors are written at once, at least.
const SAVE_EVERY: usize = 1024;

/// The passages of a [`TextIndex`], searched by vectors of an [`Embedder`].
///
/// The vectors are in the file `vectors.bin` in the folder of the text index, by digests of their
/// texts: a text that moves, or is in two documents, is embedded once. They are loaded into memory,
/// 4 bytes for each number, and every search compares all of them, so it finds what is nearest.
///
/// The score of a passage is the cosine of the two vectors, or 0 if it is negative. Embedders differ:
/// of many, texts that have nothing in common have a cosine above 0. Look at the scores of yours before
/// you choose a [threshold](crate::Rag::threshold).
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new): text index, embedder | required |
/// | [`timeout`](Self::timeout) of a batch, and of the vector of a query | none |
///
/// # Errors
/// Of [`refresh`](Self::refresh) and of a search: [`KnowledgeError::Embedder`],
/// [`TimedOut`](KnowledgeError::TimedOut), and [`VectorCount`](KnowledgeError::VectorCount),
/// [`VectorLength`](KnowledgeError::VectorLength) or [`VectorValue`](KnowledgeError::VectorValue) for
/// vectors that cannot be used: nothing of their batch is written.
/// [`OtherEmbedder`](KnowledgeError::OtherEmbedder) if the file is of another embedder, and
/// [`DamagedVectors`](KnowledgeError::DamagedVectors) if it is cut off.
#[derive(Clone)]
#[must_use]
pub struct VectorIndex {
    text: TextIndex,
    embedder: Checked,
    path: PathBuf,
    loaded: Arc<Mutex<(Option<Stamp>, Arc<Matrix>)>>,
}

type Stamp = (SystemTime, u64);

/// What [`VectorIndex::refresh`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Embedded {
    /// What the refresh of the text index did.
    pub documents: Refreshed,
    /// How many texts were embedded.
    pub embedded: usize,
    /// How many vectors were removed, because their texts vanished.
    pub removed: usize,
}

impl VectorIndex {
    /// Searches the passages of a text index by vectors of this embedder. [`refresh`](Self::refresh)
    /// makes the vectors.
    pub fn new(text: TextIndex, embedder: impl Embedder + 'static) -> Self {
        let path = text.folder().join(NAME);
        Self { text, embedder: Checked::new(embedder), path, loaded: Arc::default() }
    }

    /// Sets the longest time of a batch, and of the vector of a query. Requires a runtime of tokio with
    /// time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.embedder.timeout = Some(timeout);
        self
    }

    /// Searches by words and by vectors, which finds more than words alone only if the embedder knows
    /// meanings, as that of a model does. Vectors that count letters or words find less: see
    /// [how often](https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_knowledge/index.html#how-often-the-passage-is-found).
    pub fn with_text(self) -> Hybrid {
        Hybrid::new(self.text.clone(), self)
    }

    /// Refreshes the text index, embeds the texts that have no vector, and removes vectors whose texts
    /// vanished. Waits until no other process does so.
    ///
    /// # Errors
    /// Those of [`TextIndex::refresh`] and those of [the type](Self#errors). If the embedder fails, or
    /// takes too long, the vectors that it made before are written, and the next refresh goes on
    /// from there.
    pub async fn refresh(&self) -> Result<Embedded, KnowledgeError> {
        let documents = self.text.refresh().await?;
        let _lock = lock_between(self.text.folder(), LOCK).await?;
        let digests = self.text.digests().await?;
        let mut matrix = Matrix::clone(&*self.load().await?);
        let before = matrix.digests.len();
        let alive: HashSet<&Digest> = digests.iter().collect();
        matrix.retain(|digest| alive.contains(digest));
        let removed = before - matrix.digests.len();
        let known: HashSet<Digest> = matrix.digests.iter().copied().collect();
        let mut seen = HashSet::new();
        let is_new = |it: &&Digest| !known.contains(*it) && seen.insert(**it);
        let missing: Vec<Digest> = digests.iter().filter(is_new).copied().collect();
        let embedded = self.embed_missing(matrix, &missing, removed > 0).await?;
        Ok(Embedded { documents, embedded, removed })
    }

    /// Embeds texts and saves now and then. Returns how many there were.
    async fn embed_missing(
        &self,
        mut matrix: Matrix,
        missing: &[Digest],
        mut is_changed: bool,
    ) -> Result<usize, KnowledgeError> {
        let (mut embedded, mut unsaved) = (0, 0);
        for batch in missing.chunks(BATCH) {
            let texts = self.texts(batch).await?;
            let (digests, texts): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
            let vectors = match self.embedder.embed(&texts).await {
                Ok(vectors) => vectors,
                Err(error) => {
                    if matches!(
                        error,
                        KnowledgeError::Embedder { .. } | KnowledgeError::TimedOut { .. }
                    ) && (is_changed || unsaved > 0)
                    {
                        self.save(matrix).await?;
                    }
                    return Err(error);
                }
            };
            for (digest, vector) in digests.iter().zip(&vectors) {
                matrix.push(*digest, vector);
            }
            embedded += vectors.len();
            unsaved += vectors.len();
            // The more there are, the rarer all of them are written.
            if unsaved >= SAVE_EVERY.max(matrix.digests.len() / 4) {
                matrix = self.save(matrix).await?;
                (unsaved, is_changed) = (0, false);
            }
        }
        if is_changed || unsaved > 0 {
            self.save(matrix).await?;
        }
        Ok(embedded)
    }

    /// Returns the texts of digests, each once.
    async fn texts(&self, digests: &[Digest]) -> Result<Vec<(Digest, String)>, KnowledgeError> {
        let found = self.text.by_digests(digests.to_vec()).await?;
        let mut seen = HashSet::new();
        let first = found.into_iter().filter(|(digest, _)| seen.insert(*digest));
        Ok(first.map(|(digest, passage)| (digest, titled(&passage))).collect())
    }

    async fn save(&self, matrix: Matrix) -> Result<Matrix, KnowledgeError> {
        let (path, embedder) = (self.path.clone(), self.embedder.embedder.clone());
        blocking::run(move |_| file::save(&path, &matrix, &*embedder).map(|()| matrix)).await
    }

    /// Returns the vectors as they are in the file now.
    async fn load(&self) -> Result<Arc<Matrix>, KnowledgeError> {
        let (path, embedder) = (self.path.clone(), self.embedder.embedder.clone());
        let loaded = self.loaded.clone();
        blocking::run(move |_| {
            let stamp = stamp(&path);
            let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
            if stamp.is_none() || loaded.0 != stamp {
                *loaded = (stamp, Arc::new(file::load(&path, &*embedder)?));
            }
            Ok(loaded.1.clone())
        })
        .await
    }

    async fn search_now(&self, query: &str, limit: usize) -> Result<Vec<Passage>, KnowledgeError> {
        let matrix = self.load().await?;
        if matrix.digests.is_empty() || query.trim().is_empty() {
            return Ok(Vec::new());
        }
        let vector = self.embedder.embed_query(query).await?;
        let nearest = blocking::run(move |_| Ok(matrix.nearest(&vector, limit))).await?;
        let digests = nearest.iter().map(|(_, digest)| *digest).collect();
        let mut passages: HashMap<Digest, Vec<Passage>> = HashMap::new();
        for (digest, passage) in self.text.by_digests(digests).await? {
            passages.entry(digest).or_default().push(passage);
        }
        let ranked = nearest.into_iter().flat_map(|(cosine, digest)| {
            let mut same = passages.remove(&digest).unwrap_or_default();
            for passage in &mut same {
                passage.score = cosine.clamp(0.0, 1.0);
            }
            same
        });
        Ok(ranked.take(limit).collect())
    }
}

/// Returns the text of a passage that is embedded: its title, which names the subject, and its text.
pub(super) fn titled(passage: &Passage) -> String {
    match &passage.title {
        Some(title) => format!("{title}\n{}", passage.text),
        None => passage.text.clone(),
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl Knowledge for VectorIndex {
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        Box::pin(self.search_now(query, limit))
    }
}

impl fmt::Debug for VectorIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorIndex")
            .field("file", &self.path)
            .field("embedder", &self.embedder.embedder.name())
            .field("timeout", &self.embedder.timeout)
            .finish_non_exhaustive()
    }
}
