//! How often the passage with the answer is found: `cargo test -p hooks-tests --test
//! builtin_knowledge -- --nocapture hit_rate`.

use std::path::{Path, PathBuf};

use hooks_agent::builtin::knowledge::{Knowledge, Passage, TextIndex, VectorIndex};

use crate::embedders::Grams;
use crate::questions::{CHINESE, ENGLISH, Question, UNANSWERED};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Pages that came after the questions: each page more has more words of every question.
const LATER: [&str; 8] = [
    "hooks-agent/docs/ag_ui.md",
    "hooks-agent/docs/command.md",
    "hooks-agent/docs/guest.md",
    "hooks-agent/docs/journal.md",
    "hooks-agent/docs/otel.md",
    "hooks-agent/docs/policy.md",
    "hooks-agent/docs/replay.md",
    "hooks-agent/docs/studio.md",
];

/// Whether a path is one of the documents that the questions are about.
fn is_document(path: &Path) -> bool {
    let path = path.to_str().unwrap();
    if LATER.contains(&path) {
        return false;
    }
    let is_page = |name: &str| path.starts_with(&format!("{name}/docs/"));
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&path)
        || ["hooks-core", "hooks-macros", "hooks-agent"]
            .iter()
            .any(|name| path == *name || path == format!("{name}/docs") || is_page(name))
}

async fn open(index: &Path) -> [TextIndex; 2] {
    let english = TextIndex::builder(repository(), index.join("en")).only(is_document);
    let chinese = Path::new(env!("CARGO_MANIFEST_DIR")).join("builtin/knowledge/documents");
    [english.open().await.unwrap(), TextIndex::open(chinese, index.join("zh")).await.unwrap()]
}

fn is_hit(passage: &Passage, (_, source, words): &Question) -> bool {
    passage.source == *source && passage.text.contains(words)
}

/// How well questions are answered.
#[derive(Debug, Default)]
struct Rate {
    /// How many have their passage among the first 5.
    hits: usize,
    /// How many of these passages reach the default threshold.
    reached: usize,
}

async fn rate(knowledge: &impl Knowledge, questions: &[Question]) -> Rate {
    let mut rate = Rate::default();
    for question in questions {
        let found = knowledge.search(question.0, 5).await.unwrap();
        match found.iter().find(|passage| is_hit(passage, question)) {
            Some(passage) => {
                rate.hits += 1;
                rate.reached += usize::from(passage.score >= THRESHOLD);
            }
            None => println!("missed: {}", question.0),
        }
    }
    rate
}

/// How many passages of questions without an answer reach the threshold.
async fn wrong(english: &impl Knowledge, chinese: &impl Knowledge) -> usize {
    let mut wrong = 0;
    for question in UNANSWERED {
        let asked = if question.is_ascii() {
            english.search(question, 5)
        } else {
            chinese.search(question, 5)
        };
        let found = asked.await.unwrap();
        wrong += found.iter().filter(|passage| passage.score >= THRESHOLD).count();
    }
    wrong
}

/// The default of `Rag`.
const THRESHOLD: f32 = 0.5;

#[tokio::test]
async fn the_hit_rate_of_60_questions() {
    let folder = tempfile::tempdir().unwrap();
    let [english, chinese] = open(folder.path()).await;
    let (en, zh) = (rate(&english, &ENGLISH).await, rate(&chinese, &CHINESE).await);
    let wrong = wrong(&english, &chinese).await;
    println!("full text: of 40 English {en:?}, of 20 Chinese {zh:?}, without an answer {wrong}");
    assert!(en.hits >= 32 && zh.hits >= 16, "{en:?} {zh:?}");
    assert!(en.reached >= 28 && zh.reached >= 12 && wrong <= 3, "{en:?} {zh:?} {wrong}");

    let [vectors, wide] = [english, chinese].map(|text| VectorIndex::new(text, Grams::default()));
    vectors.refresh().await.unwrap();
    wide.refresh().await.unwrap();
    let alone = (rate(&vectors, &ENGLISH).await, rate(&wide, &CHINESE).await);
    println!("vectors: of 40 English {:?}, of 20 Chinese {:?}", alone.0, alone.1);
    let (en, zh) =
        (rate(&vectors.with_text(), &ENGLISH).await, rate(&wide.with_text(), &CHINESE).await);
    println!("hybrid: of 40 English {en:?}, of 20 Chinese {zh:?}");
    assert!(en.hits >= 30 && zh.hits >= 15, "{en:?} {zh:?}");
}
