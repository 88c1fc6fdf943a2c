//! The index follows its folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use hooks_agent_knowledge::{KnowledgeError, Refreshed, TextIndex};

use crate::text_index::{Place, first, sources};

fn counts(refreshed: &Refreshed) -> [usize; 4] {
    [refreshed.added, refreshed.changed, refreshed.removed, refreshed.unchanged]
}

#[tokio::test]
async fn only_what_changed_is_read_again() {
    let place = Place::new(&[("a.md", "apples"), ("b.txt", "bananas"), ("deep/c.md", "cherries")]);
    let index = place.open().await;
    assert_eq!(counts(&index.refresh().await.unwrap()), [0, 0, 0, 3]);
    place.write("a.md", "apricots");
    place.write("d.md", "dates");
    place.remove("deep/c.md");
    assert_eq!(counts(&index.refresh().await.unwrap()), [1, 1, 1, 1]);
    assert_eq!(sources(&index, "apricots").await, ["a.md"]);
    assert_eq!(sources(&index, "dates").await, ["d.md"]);
    assert_eq!(sources(&index, "bananas").await, ["b.txt"]);
    assert_eq!(sources(&index, "apples").await, [""; 0]);
    assert_eq!(sources(&index, "cherries").await, [""; 0]);
    assert_eq!(index.passages().await.unwrap(), 3);
}

#[tokio::test]
async fn a_moved_document_is_found_where_it_is() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    fs::rename(place.documents().join("a.md"), place.documents().join("b.md")).unwrap();
    assert_eq!(counts(&index.refresh().await.unwrap()), [1, 0, 1, 0]);
    assert_eq!(sources(&index, "apples").await, ["b.md"]);
}

#[tokio::test]
async fn an_index_that_is_opened_again_has_its_documents() {
    let place = Place::new(&[("a.md", "apples")]);
    drop(place.open().await);
    let again = TextIndex::builder(place.documents(), place.index()).search_only();
    let again = again.open().await.unwrap();
    assert_eq!(sources(&again, "apples").await, ["a.md"]);
    assert_eq!(counts(&again.refresh().await.unwrap()), [0, 0, 0, 1]);
}

#[tokio::test]
async fn another_size_of_passages_reads_everything_again() {
    let text = "apples are red. ".repeat(100);
    let place = Place::new(&[("a.md", &text)]);
    let one = place.open().await.passages().await.unwrap();
    let smaller = TextIndex::builder(place.documents(), place.index()).passage_size(200);
    let smaller = smaller.open().await.unwrap().passages().await.unwrap();
    assert!(smaller > one, "{smaller} {one}");
}

#[tokio::test]
async fn a_folder_that_vanishes_is_an_error_and_the_index_stays() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    fs::remove_dir_all(place.documents()).unwrap();
    let error = index.refresh().await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Folder { .. }), "{error:?}");
    assert!(error.to_string().contains("documents"), "{error}");
    assert_eq!(sources(&index, "apples").await, ["a.md"]);
    place.write("a.md", "apples");
    assert_eq!(counts(&index.refresh().await.unwrap()), [0, 0, 0, 1]);
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_an_error_when_it_is_opened() {
    let place = Place::new(&[]);
    let missing = place.documents().join("none");
    let error = TextIndex::open(missing, place.index()).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Folder { .. }), "{error:?}");
}

#[tokio::test]
async fn a_second_handle_sees_what_the_first_one_indexes() {
    let place = Place::new(&[("a.md", "apples")]);
    let (one, other) = (place.open().await, place.open().await);
    place.write("b.md", "bananas");
    one.refresh().await.unwrap();
    assert_eq!(sources(&other, "bananas").await, ["b.md"]);
}

#[tokio::test]
async fn refreshes_at_once_take_turns() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    place.write("b.md", "bananas");
    let all = (0..8).map(|_| index.refresh());
    let done = futures::future::try_join_all(all).await.unwrap();
    assert_eq!(done.iter().map(|it| it.added).sum::<usize>(), 1);
    assert_eq!(index.passages().await.unwrap(), 2);
}

#[tokio::test]
async fn searches_go_on_during_refreshes() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    let writer = async {
        for n in 0..20 {
            place.write("b.md", format!("bananas {n}"));
            index.refresh().await.unwrap();
        }
    };
    let reader = async {
        for _ in 0..200 {
            assert_eq!(sources(&index, "apples").await, ["a.md"]);
        }
    };
    futures::join!(writer, reader);
    assert!(first(&index, "bananas").await.text.contains("19"));
}

#[tokio::test]
async fn a_name_that_is_not_utf_8_is_skipped_with_the_reason() {
    let place = Place::new(&[("a.md", "apples")]);
    for name in [&b"\xff.md"[..], b"\xfe.md"] {
        fs::write(place.documents().join(OsStr::from_bytes(name)), "apples").unwrap();
    }
    let index = place.open().await;
    assert_eq!(sources(&index, "apples").await, ["a.md"]);
    let skipped = index.refresh().await.unwrap().skipped;
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0].reason.contains("UTF-8"), "{skipped:?}");
}
