//! The search in the index.

use std::path::Path;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, DisjunctionMaxQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, TantivyDocument, TantivyError, Term};

use crate::rag::error::KnowledgeError;
use crate::rag::passage::Passage;
use crate::rag::text_index::failure::{damaged, on_index};
use crate::rag::text_index::reader::Commit;
use crate::rag::text_index::schema::Fields;
use crate::rag::text_index::words;

/// How much a pair of characters weighs that is in no text. Many pairs of a question are no words, but
/// the end of one and the start of the next.
const UNKNOWN_PAIR: f32 = 0.25;

/// A query, and what the words that it is made of weigh together.
struct Weighed {
    query: BooleanQuery,
    weight: f32,
}

pub(super) fn search(
    folder: &Path,
    fields: &Fields,
    commit: &Commit,
    query: &str,
    limit: usize,
) -> Result<Vec<Passage>, KnowledgeError> {
    let words = words::of_query(query, &commit.languages);
    if words.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let searcher = &commit.searcher;
    let found = on_index(folder, || {
        let Some(weighed) = weigh(searcher, fields, words)? else { return Ok(Vec::new()) };
        // The collector takes room for all of the limit.
        let most = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX).max(1);
        let top = TopDocs::with_limit(limit.min(most)).order_by_score();
        let found = searcher.search(&weighed.query, &top)?.into_iter();
        let stored = found
            .map(|(score, at)| Ok((score / weighed.weight, searcher.doc::<TantivyDocument>(at)?)));
        stored.collect::<Result<Vec<_>, TantivyError>>()
    })?;
    let passages = found.into_iter().map(|(score, stored)| {
        let mut passage = fields
            .passage(&stored)
            .ok_or_else(|| damaged(folder, "a passage of it has no text"))?;
        passage.score = score.clamp(0.0, 1.0);
        Ok(passage)
    });
    passages.collect()
}

/// Makes a query of words, each in several forms. Returns `None` if no text has one of them.
fn weigh(
    searcher: &Searcher,
    fields: &Fields,
    words: Vec<Vec<String>>,
) -> Result<Option<Weighed>, TantivyError> {
    let total: u64 = searcher.segment_readers().iter().map(|it| u64::from(it.max_doc())).sum();
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let mut weight = 0.0;
    for forms in words {
        let mut texts = 0;
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        let is_pair = forms.iter().all(|form| words::is_pair(form));
        for form in forms {
            let term = Term::from_field_text(fields.words, &form);
            let with_form = searcher.doc_freq(&term)?;
            if with_form > 0 {
                texts = texts.max(with_form);
                queries.push(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
            }
        }
        let doubt = if is_pair && texts == 0 { UNKNOWN_PAIR } else { 1.0 };
        weight += doubt * rareness(texts, total);
        match queries.len() {
            0 => {}
            1 => clauses.extend(queries.pop().map(|query| (Occur::Should, query))),
            _ => clauses.push((Occur::Should, Box::new(DisjunctionMaxQuery::new(queries)))),
        }
    }
    Ok((!clauses.is_empty()).then(|| Weighed { query: BooleanQuery::new(clauses), weight }))
}

/// Returns the inverse document frequency of BM25, as `tantivy` calculates it.
#[allow(clippy::cast_precision_loss)]
fn rareness(texts: u64, total: u64) -> f32 {
    (1.0 + ((total - texts.min(total)) as f32 + 0.5) / (texts as f32 + 0.5)).ln()
}
