//! Files that are read, and files that are left out.

use std::os::unix::fs::symlink;

use hooks_agent_knowledge::{Knowledge, KnowledgeError, TextIndex};

use crate::text_index::{Place, first, sources};

#[tokio::test]
async fn only_chosen_files_and_folders_are_read() {
    let place = Place::new(&[("a.md", "apples"), ("target/b.md", "apples"), ("c.md", "apples")]);
    let index = TextIndex::builder(place.documents(), place.index())
        .only(|path| !path.starts_with("target") && path.to_str() != Some("c.md"));
    assert_eq!(sources(&index.open().await.unwrap(), "apples").await, ["a.md"]);
}

#[tokio::test]
async fn hidden_files_links_and_other_formats_are_left_out() {
    let place = Place::new(&[("a.md", "apples"), (".git/b.md", "apples"), (".c.md", "apples")]);
    place.write("d.rs", "apples");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("e.md"), "apples").unwrap();
    symlink(outside.path(), place.documents().join("out")).unwrap();
    symlink(outside.path().join("e.md"), place.documents().join("e.md")).unwrap();
    symlink(place.documents(), place.documents().join("loop")).unwrap();
    assert_eq!(sources(&place.open().await, "apples").await, ["a.md"]);
}

#[tokio::test]
async fn a_file_beyond_the_limit_is_skipped_and_reported() {
    let place = Place::new(&[("a.md", "apples"), ("b.md", "bananas and more bananas")]);
    let index = TextIndex::builder(place.documents(), place.index()).max_file_bytes(10);
    let index = index.open().await.unwrap();
    assert_eq!(sources(&index, "bananas").await, [""; 0]);
    let skipped = index.refresh().await.unwrap().skipped;
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].source, "b.md");
    assert_eq!(skipped[0].reason, "it has 24 bytes, the limit is 10");
}

#[tokio::test]
async fn a_file_that_is_no_text_any_more_has_no_passages() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    place.write("a.md", b"apples \xff\xfe");
    let refreshed = index.refresh().await.unwrap();
    assert_eq!(refreshed.skipped[0].reason, "it is not UTF-8: byte 7 is no character");
    assert_eq!(sources(&index, "apples").await, [""; 0]);
}

#[tokio::test]
async fn a_search_returns_at_most_the_limit_and_scores_from_0_to_1() {
    let place = Place::new(&[]);
    for n in 0..20 {
        place.write(&format!("{n}.md"), format!("apples {}", "apples ".repeat(n)));
    }
    place.write("other.md", "pears");
    let index = place.open().await;
    let found = index.search("apples", 7).await.unwrap();
    assert_eq!(found.len(), 7);
    assert!(found.iter().all(|it| (0.0..=1.0).contains(&it.score)), "{found:?}");
    assert!(found.is_sorted_by(|a, b| a.score >= b.score));
    assert!(index.search("apples", 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn odd_queries_find_nothing_and_break_nothing() {
    let place = Place::new(&[("a.md", "apples AND pears (green) \"quoted\" title:word")]);
    let index = place.open().await;
    for query in ["", " ", "\0", "?!", "(", "\"", "xyzzy", "a:b:c AND (", "🦀", "\u{301}"] {
        assert_eq!(sources(&index, query).await, [""; 0], "{query:?}");
    }
    assert_eq!(sources(&index, "green OR AND (").await, ["a.md"]);
    let long = format!("apples {}", "word ".repeat(100_000));
    assert_eq!(first(&index, &long).await.source, "a.md");
}

#[tokio::test]
async fn a_folder_with_other_files_does_not_become_an_index() {
    let place = Place::new(&[("a.md", "apples")]);
    let error = TextIndex::open(place.documents(), place.documents()).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::NotAnIndex { .. }), "{error:?}");
    assert!(error.to_string().contains("folder of its own"), "{error}");
}

#[tokio::test]
async fn dropping_a_refresh_leaves_the_index_whole() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    for n in 0..300 {
        place.write(&format!("more/{n}.md"), "bananas");
    }
    let mut refresh = Box::pin(index.refresh());
    assert!(futures::poll!(&mut refresh).is_pending());
    drop(refresh);
    // The next one waits for the end of the dropped one.
    assert_eq!(index.refresh().await.unwrap().skipped, []);
    assert_eq!(index.passages().await.unwrap(), 301);
}

#[tokio::test]
async fn a_limit_may_be_any_number() {
    let place = Place::new(&[("a.md", "apples"), ("b.md", "apples and pears")]);
    let index = place.open().await;
    for limit in [1 << 40, usize::MAX] {
        assert_eq!(index.search("apples", limit).await.unwrap().len(), 2);
    }
}
