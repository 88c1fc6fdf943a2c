//! An index that is cut off, or was never one.

use std::fs::{self, File};
use std::path::Path;

use hooks_agent_knowledge::{Knowledge, KnowledgeError, TextIndex};

use crate::text_index::{Place, largest, sources};

fn cut(path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

async fn a_damaged() -> (Place, TextIndex) {
    let place = Place::new(&[]);
    for n in 0..50 {
        place.write(&format!("{n}.md"), format!("apples number {n}"));
    }
    let index = place.open().await;
    (place, index)
}

/// The error says which folder to delete; deleting it helps.
async fn assert_says_what_to_do(place: &Place) {
    let error = TextIndex::open(place.documents(), place.index()).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Damaged { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(place.index().to_str().unwrap()) && text.contains("delete"), "{text}");
    fs::remove_dir_all(place.index()).unwrap();
    assert_eq!(place.open().await.passages().await.unwrap(), 50);
}

#[tokio::test]
async fn a_cut_list_of_segments_is_found_when_it_is_opened() {
    let (place, index) = a_damaged().await;
    drop(index);
    cut(&place.index().join("meta.json"), 40);
    assert_says_what_to_do(&place).await;
}

#[tokio::test]
async fn cut_files_are_found_when_the_index_is_opened_or_searched() {
    for ending in [".term", ".idx", ".store", ".fieldnorm", ".fast"] {
        let (place, index) = a_damaged().await;
        drop(index);
        let file = largest(&place.index(), ending);
        cut(&file, fs::metadata(&file).unwrap().len() / 2);
        let opened = TextIndex::builder(place.documents(), place.index()).search_only();
        let ended = match opened.open().await {
            Ok(index) => index.search("apples", 50).await.map(drop),
            Err(error) => Err(error),
        };
        let error = ended.unwrap_err();
        assert!(matches!(error, KnowledgeError::Damaged { .. }), "{ending}: {error:?}");
        fs::remove_dir_all(place.index()).unwrap();
        assert_eq!(place.open().await.passages().await.unwrap(), 50);
    }
}

#[tokio::test]
async fn a_missing_segment_is_found_when_the_index_is_opened() {
    let (place, index) = a_damaged().await;
    drop(index);
    fs::remove_file(largest(&place.index(), ".term")).unwrap();
    assert_says_what_to_do(&place).await;
}

#[tokio::test]
async fn an_index_of_another_program_is_refused() {
    let place = Place::new(&[("a.md", "apples")]);
    fs::create_dir(place.index()).unwrap();
    fs::write(place.index().join("meta.json"), "{}").unwrap();
    let error = TextIndex::open(place.documents(), place.index()).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn an_index_folder_that_vanishes_is_an_error_and_comes_back_when_it_is_opened() {
    let place = Place::new(&[("a.md", "apples")]);
    let index = place.open().await;
    fs::remove_dir_all(place.index()).unwrap();
    let error = index.search("apples", 5).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::Index { .. }), "{error:?}");
    index.refresh().await.unwrap_err();
    assert_eq!(sources(&place.open().await, "apples").await, ["a.md"]);
}

#[tokio::test]
async fn a_creation_that_was_cut_off_goes_on() {
    let place = Place::new(&[("a.md", "apples")]);
    fs::create_dir(place.index()).unwrap();
    fs::write(place.index().join(".managed.json"), "[]").unwrap();
    fs::write(place.index().join(".tmpX"), "half").unwrap();
    assert_eq!(sources(&place.open().await, "apples").await, ["a.md"]);
}
