//! `VectorIndex`: the vectors of a text index, searched exactly, and what a broken embedder leaves.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::future::{BoxFuture, pending};
use hooks_agent_knowledge::{
    EmbedFuture, Embedder, Hybrid, Knowledge, KnowledgeError, KnowledgeFuture, Passage, VectorIndex,
};
use proptest::prelude::*;

use crate::embedders::{Closure, Grams, grams};
use crate::text_index::Place;

fn documents(count: usize) -> Place {
    let place = Place::new(&[]);
    for n in 0..count {
        place.write(&format!("{n:03}.md"), format!("document number {n} about {}", n * 7919));
    }
    place
}

async fn grams_of(place: &Place) -> VectorIndex {
    VectorIndex::new(place.open().await, Grams::default())
}

async fn sources(knowledge: &impl Knowledge, query: &str, limit: usize) -> Vec<String> {
    let found = knowledge.search(query, limit).await.unwrap();
    found.into_iter().map(|passage| passage.source).collect()
}

fn vectors_of(place: &Place) -> Vec<u8> {
    fs::read(place.index().join("vectors.bin")).unwrap()
}

#[tokio::test]
async fn the_nearest_passage_is_first_with_its_cosine() {
    let place = Place::new(&[("a.md", "sweet apples"), ("b.md", "sour lemons"), ("c.md", "rain")]);
    let index = grams_of(&place).await;
    assert_eq!(index.refresh().await.unwrap().embedded, 3);
    let found = index.search("apple", 3).await.unwrap();
    assert_eq!(found[0].source, "a.md");
    assert!(found[0].score > 0.3 && found.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
    assert!((index.search("sour lemons", 1).await.unwrap()[0].score - 1.0).abs() < 1e-5);
    assert!(index.search(" ", 3).await.unwrap().is_empty());
    assert!(index.search("apple", 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_new_texts_are_embedded_and_vanished_ones_are_removed() {
    let place = documents(70);
    let embedder = Grams::default();
    let index = VectorIndex::new(place.open().await, embedder.clone());
    index.refresh().await.unwrap();
    place.write("new.md", "brand new");
    place.write("moved.md", "document number 3 about 23757");
    place.remove("003.md");
    place.remove("004.md");
    let refreshed = index.refresh().await.unwrap();
    assert_eq!((refreshed.embedded, refreshed.removed), (1, 1), "{refreshed:?}");
    assert_eq!(embedder.embedded.load(Ordering::Relaxed), 71);
    assert_eq!(sources(&index, "document number 3 about 23757", 1).await, ["moved.md"]);
    assert!(!sources(&index, "document number 4 about 31676", 70).await.contains(&"004.md".into()));
    assert_eq!(index.refresh().await.unwrap().embedded, 0);
}

#[tokio::test]
async fn vectors_are_kept_and_another_handle_sees_new_ones() {
    let place = documents(5);
    let (index, other) = (grams_of(&place).await, grams_of(&place).await);
    assert!(sources(&other, "document", 9).await.is_empty());
    index.refresh().await.unwrap();
    assert_eq!(sources(&other, "document", 9).await.len(), 5);
    let again = grams_of(&place).await;
    assert_eq!(again.refresh().await.unwrap().embedded, 0);
    assert_eq!(sources(&again, "document", 9).await.len(), 5);
}

#[tokio::test]
async fn the_same_text_in_two_documents_is_embedded_once_and_found_twice() {
    let place = Place::new(&[("a.md", "apples"), ("b.md", "apples")]);
    let index = grams_of(&place).await;
    assert_eq!(index.refresh().await.unwrap().embedded, 1);
    assert_eq!(sources(&index, "apples", 5).await, ["a.md", "b.md"]);
}

#[tokio::test]
async fn refreshes_at_once_embed_once() {
    let place = documents(20);
    let embedder = Grams::default();
    let text = place.open().await;
    let indexes = [0, 1, 2].map(|_| VectorIndex::new(text.clone(), embedder.clone()));
    futures::future::try_join_all(indexes.iter().map(VectorIndex::refresh)).await.unwrap();
    assert_eq!(embedder.embedded.load(Ordering::Relaxed), 20);
}

#[tokio::test]
async fn malformed_vectors_are_errors_and_nothing_is_written() {
    let place = documents(3);
    let text = place.open().await;
    let refresh = async |answer: fn(usize) -> Vec<Vec<f32>>| {
        let embedder = Closure("bad", 4, move |texts: &[String]| {
            let vectors = answer(texts.len());
            Box::pin(async move { Ok(vectors) }) as _
        });
        VectorIndex::new(text.clone(), embedder).refresh().await.unwrap_err()
    };
    let length = refresh(|count| vec![vec![1.0_f32; 3]; count]).await;
    assert_eq!(
        length.to_string(),
        "embedder `bad` returned a vector of length 3, its dimension is 4"
    );
    let count = refresh(|count| vec![vec![1.0_f32; 4]; count - 1]).await;
    assert_eq!(count.to_string(), "embedder `bad` returned 2 vectors for 3 texts");
    for value in
        [|count| vec![vec![f32::NAN; 4]; count], |count| vec![vec![f32::INFINITY; 4]; count]]
    {
        assert!(matches!(refresh(value).await, KnowledgeError::VectorValue { .. }));
    }
    assert!(!place.index().join("vectors.bin").exists());
}

#[tokio::test]
async fn vectors_of_zeros_have_the_score_0() {
    let place = documents(3);
    let zeros = |texts: &[String]| {
        let vectors = vec![vec![0.0_f32; 4]; texts.len()];
        Box::pin(async move { Ok(vectors) }) as _
    };
    let index = VectorIndex::new(place.open().await, Closure("zeros", 4, zeros));
    index.refresh().await.unwrap();
    assert!(index.search("any", 5).await.unwrap().iter().all(|passage| passage.score == 0.0));
}

#[tokio::test]
async fn an_embedder_that_fails_keeps_what_was_made_and_the_next_refresh_goes_on() {
    let place = documents(200);
    let text = place.open().await;
    let left = Arc::new(AtomicUsize::new(2));
    let texts_embedded = Arc::new(AtomicUsize::new(0));
    let (batches, count) = (left.clone(), texts_embedded.clone());
    let embedder = Closure("grams", 512, move |texts: &[String]| {
        let result = match batches.load(Ordering::Relaxed) {
            0 => Err("the server is down".into()),
            some => {
                batches.store(some - 1, Ordering::Relaxed);
                count.fetch_add(texts.len(), Ordering::Relaxed);
                Ok(texts.iter().map(|text| grams(text)).collect())
            }
        };
        Box::pin(async move { result }) as _
    });
    let index = VectorIndex::new(text, embedder);
    let error = index.refresh().await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Embedder { .. }), "{error:?}");
    left.store(99, Ordering::Relaxed);
    assert_eq!(index.refresh().await.unwrap().embedded, 200 - 128);
    assert_eq!(texts_embedded.load(Ordering::Relaxed), 200);
    let grams = VectorIndex::new(place.open().await, Grams::default());
    assert_eq!(sources(&grams, "document", 300).await.len(), 200);
}

#[tokio::test]
async fn an_embedder_that_hangs_ends_after_the_timeout() {
    let place = documents(3);
    let text = place.open().await;
    let hangs = || Closure("hangs", 4, |_: &[String]| Box::pin(pending()) as _);
    let index = VectorIndex::new(text.clone(), hangs()).timeout(Duration::from_millis(1));
    let error = index.refresh().await.unwrap_err();
    assert!(matches!(error, KnowledgeError::TimedOut { .. }), "{error:?}");
    // Of a query, too. It needs a vector to compare with.
    let made = Closure("hangs", 4, |texts: &[String]| {
        let vectors = vec![vec![1.0_f32; 4]; texts.len()];
        Box::pin(async move { Ok(vectors) }) as _
    });
    VectorIndex::new(text, made).refresh().await.unwrap();
    let error = index.search("any", 5).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::TimedOut { .. }), "{error:?}");
}

#[tokio::test]
async fn vectors_of_another_embedder_are_refused_and_stay() {
    let place = documents(3);
    let index = grams_of(&place).await;
    index.refresh().await.unwrap();
    let before = vectors_of(&place);
    let other = Closure("other", 4, |_: &[String]| Box::pin(pending()) as _);
    let other = VectorIndex::new(place.open().await, other);
    for error in [other.refresh().await.unwrap_err(), other.search("a", 1).await.unwrap_err()] {
        assert!(matches!(error, KnowledgeError::OtherEmbedder { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains("`grams`") && text.contains("`other`") && text.contains("vectors.bin")
        );
    }
    assert_eq!(vectors_of(&place), before);
}

#[tokio::test]
async fn a_file_that_is_cut_off_is_an_error_that_says_what_to_delete() {
    let place = documents(3);
    grams_of(&place).await.refresh().await.unwrap();
    let path = place.index().join("vectors.bin");
    let whole = vectors_of(&place);
    for len in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        let error = grams_of(&place).await.search("document", 1).await.unwrap_err();
        assert!(matches!(error, KnowledgeError::DamagedVectors { .. }), "{len}: {error:?}");
        assert!(error.to_string().contains("delete this file"), "{error}");
    }
    let huge =
        br#"{"format":"hooks vectors 1","embedder":"grams","dimension":512,"count":99999999999}"#;
    fs::write(&path, [&huge[..], b"\n"].concat()).unwrap();
    grams_of(&place).await.search("document", 1).await.unwrap_err();
    fs::remove_file(&path).unwrap();
    assert_eq!(grams_of(&place).await.refresh().await.unwrap().embedded, 3);
}

#[tokio::test]
async fn a_new_file_that_was_not_finished_changes_nothing() {
    let place = documents(3);
    let index = grams_of(&place).await;
    index.refresh().await.unwrap();
    File::create(place.index().join("vectors.new")).unwrap().set_len(100).unwrap();
    assert_eq!(sources(&grams_of(&place).await, "document", 9).await.len(), 3);
    place.write("new.md", "new");
    index.refresh().await.unwrap();
    assert_eq!(sources(&index, "document", 9).await.len(), 4);
}

/// Returns these names with falling scores.
#[derive(Clone)]
struct Ranked(Vec<&'static str>);

impl Knowledge for Ranked {
    fn search<'a>(&'a self, _: &'a str, limit: usize) -> KnowledgeFuture<'a> {
        let score = |rank: usize| 1.0 - f32::from(u8::try_from(rank).unwrap()) / 100.0;
        let found = self.0.iter().enumerate();
        let found = found.map(|(rank, name)| Passage::new(*name, *name, score(rank)));
        let found = found.take(limit).collect();
        Box::pin(async move { Ok(found) })
    }
}

#[tokio::test]
async fn hybrid_orders_by_the_sum_of_reciprocal_ranks() {
    let hybrid = Hybrid::new(Ranked(vec!["a", "b", "c", "d"]), Ranked(vec!["x", "c", "b"]));
    // b: 1/62 + 1/63; c: 1/63 + 1/62, later in the first list; a and x: 1/61.
    assert_eq!(sources(&hybrid, "any", 9).await, ["b", "c", "a", "x", "d"]);
    let found = hybrid.search("any", 2).await.unwrap();
    assert_eq!(found.len(), 2);
    assert!((found[0].score - 0.99).abs() < 1e-6, "the higher one of both: {found:?}");
}

#[tokio::test]
async fn hybrid_fails_if_one_side_fails() {
    struct Broken;
    impl Knowledge for Broken {
        fn search<'a>(&'a self, _: &'a str, _: usize) -> KnowledgeFuture<'a> {
            Box::pin(async { Err(KnowledgeError::other("down")) })
        }
    }
    let hybrid = Hybrid::new(Ranked(vec!["a"]), Broken);
    assert_eq!(hybrid.search("any", 5).await.unwrap_err().to_string(), "down");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// The search is exact: it returns what sorting all cosines returns.
    #[test]
    fn the_nearest_are_those_of_the_highest_cosines(
        vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 19), 1..40),
        query in prop::collection::vec(-1.0_f32..1.0, 19),
        limit in 1_usize..50,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let place = documents(vectors.len());
            let (all, asked) = (vectors.clone(), query.clone());
            let embedder = Closure("random", 19, move |texts: &[String]| {
                let vector = |text: &String| match text.split_whitespace().nth(2) {
                    Some(number) => all[number.parse::<usize>().unwrap()].clone(),
                    None => asked.clone(),
                };
                let vectors = texts.iter().map(vector).collect();
                Box::pin(async move { Ok(vectors) }) as _
            });
            assert_eq!(embedder.dimension(), 19);
            let index = VectorIndex::new(place.open().await, embedder);
            index.refresh().await.unwrap();
            let found = index.search("query", limit).await.unwrap();
            assert_eq!(found.len(), limit.min(vectors.len()));
            let cosine = |a: &[f32], b: &[f32]| {
                let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
                dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
            };
            let mut expected: Vec<_> = vectors.iter().map(|it| cosine(it, &query).max(0.0)).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            for (passage, expected) in found.iter().zip(expected) {
                assert!((passage.score - expected).abs() < 1e-4, "{passage:?} {expected}");
            }
        });
    }
}

#[tokio::test]
async fn a_limit_may_be_any_number() {
    let place = documents(3);
    let index = grams_of(&place).await;
    index.refresh().await.unwrap();
    for limit in [1 << 40, usize::MAX] {
        assert_eq!(sources(&index, "document", limit).await.len(), 3);
        assert_eq!(sources(&index.clone().with_text(), "document", limit).await.len(), 3);
    }
}

#[tokio::test]
async fn more_passages_than_ranks_are_ordered() {
    struct Many;
    impl Knowledge for Many {
        fn search<'a>(&'a self, _: &'a str, _: usize) -> KnowledgeFuture<'a> {
            let found = (0..70_000).map(|n| Passage::new("text", n.to_string(), 0.7)).collect();
            Box::pin(async move { Ok(found) })
        }
    }
    let found = Hybrid::new(Many, Many).search("anything", 20_000).await.unwrap();
    assert_eq!((found.len(), &*found[0].source, &*found[19_999].source), (20_000, "0", "19999"));
}

#[tokio::test]
async fn a_file_of_vectors_cut_off_anywhere_is_damage_and_no_panic() {
    let place = documents(2);
    grams_of(&place).await.refresh().await.unwrap();
    let whole = vectors_of(&place);
    let step = |at: &usize| *at < 200 || at.is_multiple_of(97);
    for len in (0..whole.len()).filter(step) {
        fs::write(place.index().join("vectors.bin"), &whole[..len]).unwrap();
        let error = grams_of(&place).await.search("document", 1).await.unwrap_err();
        assert!(matches!(error, KnowledgeError::DamagedVectors { .. }), "{len}: {error:?}");
    }
}

/// Lets other work of its thread go on before it answers.
struct Yields;

impl Embedder for Yields {
    fn name(&self) -> &'static str {
        "yields"
    }

    fn dimension(&self) -> usize {
        512
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok(texts.iter().map(|text| grams(text)).collect())
        })
    }
}

/// Returns whether two refreshes at once end that share what `run` gives them.
fn both_end(run: impl FnOnce(BoxFuture<'static, ()>) + Send + 'static) -> bool {
    let (end, ended) = mpsc::channel();
    thread::spawn(move || {
        run(Box::pin(async move {
            let place = documents(3);
            let index = VectorIndex::new(place.open().await, Yields);
            let (one, other) = futures::join!(index.refresh(), index.refresh());
            assert_eq!(one.unwrap().embedded + other.unwrap().embedded, 3);
            end.send(()).unwrap();
        }));
    });
    ended.recv_timeout(Duration::from_secs(20)).is_ok()
}

#[test]
fn two_refreshes_on_one_thread_end_without_a_runtime() {
    assert!(both_end(futures::executor::block_on));
}

#[test]
fn two_refreshes_end_with_one_thread_for_blocking_work() {
    assert!(both_end(|work| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().max_blocking_threads(1).build().unwrap().block_on(work);
    }));
}
