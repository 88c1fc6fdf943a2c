//! The rate at which the passage with the answer is found, and shown to the model by default:
//! `cargo test -p hooks-agent-knowledge-tests --test knowledge -- --nocapture hit_rate`.
//!
//! `corpus` has the pages of this repository as they were once, and does not follow them: a page more
//! has more words of every question. The defaults of `Rag` are chosen by these 60 questions, and
//! measured by those of `held_out`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hooks_agent_core::prelude::*;
use hooks_agent_knowledge::{Knowledge, Passage, Passages, Rag, TextIndex, VectorIndex};

use crate::embedders::Grams;
use crate::held_out::{HELD_OUT, NOT_HELD, copy_documents};
use crate::questions::{CHINESE, ENGLISH, Question, UNANSWERED};

async fn open(documents: &str, index: &Path) -> TextIndex {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    TextIndex::open(folder.join(documents), index.join(documents)).await.unwrap()
}

fn is_hit(passage: &Passage, (_, source, words): &Question) -> bool {
    passage.source == *source && passage.text.contains(words)
}

/// The passages that `Rag` shows by default.
async fn shown(knowledge: &(impl Knowledge + Clone + 'static), question: &str) -> Vec<Passage> {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let keep = shown.clone();
    let keep = on(move |event: &mut PostCall<'_>| {
        let found = event.context().get::<Passages>();
        let found = found.iter().flat_map(|found| found.iter().cloned());
        keep.lock().unwrap().extend(found);
    });
    let model = ScriptedModel::new("script", |_| "done");
    let builder = ReActAgent::builder("bot").model(model).hook(Rag::new(knowledge.clone()));
    builder.hook(keep).build().unwrap().call(question).await.unwrap();
    shown.lock().unwrap().clone()
}

/// How well questions are answered.
#[derive(Debug, Default)]
struct Rate {
    /// How many have their passage among the first 5.
    hits: usize,
    /// How many of these passages are shown.
    shown: usize,
}

async fn rate(knowledge: &(impl Knowledge + Clone + 'static), questions: &[Question]) -> Rate {
    let mut rate = Rate::default();
    for question in questions {
        let found = knowledge.search(question.0, 5).await.unwrap();
        if found.iter().any(|passage| is_hit(passage, question)) {
            rate.hits += 1;
            let shown = shown(knowledge, question.0).await;
            rate.shown += usize::from(shown.iter().any(|passage| is_hit(passage, question)));
        } else {
            println!("missed: {}", question.0);
        }
    }
    rate
}

/// How many questions without an answer have passages that are shown.
async fn wrong(knowledge: &(impl Knowledge + Clone + 'static), questions: &[&str]) -> usize {
    let mut wrong = 0;
    for question in questions {
        wrong += usize::from(!shown(knowledge, question).await.is_empty());
    }
    wrong
}

#[tokio::test]
async fn the_hit_rate_of_60_questions() {
    let folder = tempfile::tempdir().unwrap();
    let english = open("corpus", folder.path()).await;
    let chinese = open("documents", folder.path()).await;
    let (en, zh) = (rate(&english, &ENGLISH).await, rate(&chinese, &CHINESE).await);
    let (of_english, of_chinese): (Vec<_>, Vec<_>) =
        UNANSWERED.iter().partition(|question| question.is_ascii());
    let wrong = wrong(&english, &of_english).await + wrong(&chinese, &of_chinese).await;
    println!("words: of 40 English {en:?}, of 20 Chinese {zh:?}, without an answer {wrong} of 12");
    assert!(en.hits >= 38 && zh.hits >= 20, "{en:?} {zh:?}");
    assert!(en.shown >= 38 && zh.shown >= 20 && wrong <= 1, "{en:?} {zh:?} {wrong}");

    let [vectors, wide] = [english, chinese].map(|text| VectorIndex::new(text, Grams::default()));
    vectors.refresh().await.unwrap();
    wide.refresh().await.unwrap();
    let alone = (rate(&vectors, &ENGLISH).await, rate(&wide, &CHINESE).await);
    println!("letters: of 40 English {:?}, of 20 Chinese {:?}", alone.0, alone.1);
    let both =
        (rate(&vectors.with_text(), &ENGLISH).await, rate(&wide.with_text(), &CHINESE).await);
    println!("both: of 40 English {:?}, of 20 Chinese {:?}", both.0, both.1);
    // Vectors without a model make words worse, as the guide says.
    assert!(both.0.hits < en.hits && both.1.hits <= zh.hits, "{both:?}");
    assert!(both.0.hits >= 30 && both.1.hits >= 15, "{both:?}");
}

#[tokio::test]
async fn the_hit_rate_of_held_out_questions() {
    let (folder, documents) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy_documents(documents.path());
    let index = TextIndex::open(documents.path(), folder.path().join("index")).await.unwrap();
    let held_out = rate(&index, &HELD_OUT).await;
    let wrong = wrong(&index, &NOT_HELD).await;
    println!("words: of 55 {held_out:?}, without an answer {wrong} of 20");
    assert!(held_out.hits >= 45 && held_out.shown + 2 >= held_out.hits, "{held_out:?}");
    assert!(wrong <= 7, "{wrong}");
}
