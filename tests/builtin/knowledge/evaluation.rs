//! How often the passage with the answer is found: `cargo test -p hooks-tests --test
//! builtin_knowledge -- --nocapture hit_rate`.

use std::path::{Path, PathBuf};

use hooks_agent::builtin::knowledge::{Knowledge, Passage, TextIndex};

use crate::questions::{CHINESE, ENGLISH, Question, UNANSWERED};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether a path is one of the documents for people who use this repository.
fn is_document(path: &Path) -> bool {
    let path = path.to_str().unwrap();
    let is_page = |name: &str| path.starts_with(&format!("{name}/docs/"));
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&path)
        || ["hooks-core", "hooks-macros", "hooks-agent"].iter().any(|name| {
            path == *name || path == format!("{name}/docs") || is_page(name)
        })
}

async fn open(index: &Path) -> [TextIndex; 2] {
    let english = TextIndex::builder(repository(), index.join("en")).only(is_document);
    let chinese = Path::new(env!("CARGO_MANIFEST_DIR")).join("builtin/knowledge/documents");
    [english.open().await.unwrap(), TextIndex::open(chinese, index.join("zh")).await.unwrap()]
}

fn is_hit(passage: &Passage, (_, source, words): &Question) -> bool {
    passage.source == *source && passage.text.contains(words)
}

/// Returns how many of the questions have their passage among the first 5, with the scores of these.
async fn hits(knowledge: &impl Knowledge, questions: &[Question]) -> (usize, Vec<f32>) {
    let mut scores = Vec::new();
    for question in questions {
        let found = knowledge.search(question.0, 5).await.unwrap();
        match found.iter().position(|passage| is_hit(passage, question)) {
            Some(rank) => {
                println!("{rank} {:.2} (top {:.2}) {}", found[rank].score, found[0].score, question.0);
                scores.push(found[rank].score);
            }
            None => {
                let tops: Vec<_> = found.iter().map(|it| format!("{:.2} {}", it.score, it.place())).collect();
                println!("-  {}: {tops:?}", question.0);
            }
        }
    }
    (scores.len(), scores)
}

#[tokio::test]
async fn the_hit_rate_of_60_questions() {
    let folder = tempfile::tempdir().unwrap();
    let [english, chinese] = open(folder.path()).await;
    let en = hits(&english, &ENGLISH).await;
    let zh = hits(&chinese, &CHINESE).await;
    for question in UNANSWERED {
        let of = if question.is_ascii() { &english } else { &chinese };
        let found = of.search(question, 5).await.unwrap();
        println!("no: {:?} {question}", found.iter().map(|it| it.score).collect::<Vec<_>>());
    }
    let reached = |scores: &[f32]| scores.iter().filter(|score| **score >= 0.5).count();
    println!("full text: {}/40 and {}/20 hits at 5, {} and {} of them reach 0.5", en.0, zh.0, reached(&en.1), reached(&zh.1));
}
