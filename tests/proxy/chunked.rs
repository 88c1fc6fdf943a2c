//! However an answer is cut into chunks, and wherever it breaks off, nothing of a word is released.

use axum::body::Bytes;
use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::react::HookSet;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::forms::{Chat, Form, Messages, Responses};
use crate::rig::{Reply, Rig};

const TEXT: &str = "A bluebird, another bluebird and a blue-bird on a bluebell: bluebird";
const RELEASED: &str = "A ********, another ******** and a blue-bird on a bluebell: ********";

/// An answer, cut into deltas and into chunks of bytes, which may break off.
#[derive(Clone, Debug)]
struct Cut {
    form: Form,
    deltas: Vec<usize>,
    chunks: Vec<usize>,
    /// After how many thousandths of the bytes.
    breaks_off: Option<usize>,
}

fn cuts() -> impl Strategy<Value = Cut> {
    let forms = prop_oneof![Just(Chat), Just(Responses), Just(Messages)];
    let deltas = prop::collection::vec(1..12_usize, 1..40);
    let chunks = prop::collection::vec(1..400_usize, 1..40);
    let breaks_off = prop::option::of(0..1000_usize);
    (forms, deltas, chunks, breaks_off).prop_map(|(form, deltas, chunks, breaks_off)| Cut {
        form,
        deltas,
        chunks,
        breaks_off,
    })
}

/// Splits bytes into pieces of these lengths, over and over.
fn split<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

impl Cut {
    fn reply(&self) -> Reply {
        let deltas = split(TEXT.as_bytes(), &self.deltas);
        let deltas: Vec<_> = deltas.into_iter().map(|it| str::from_utf8(it).unwrap()).collect();
        let mut bytes = self.form.text_events(&deltas).concat().into_bytes();
        if let Some(thousandths) = self.breaks_off {
            bytes.truncate(bytes.len() * thousandths / 1000);
        }
        let chunks = split(&bytes, &self.chunks);
        Reply::chunks(chunks.into_iter().map(Bytes::copy_from_slice).collect())
    }
}

#[test]
fn what_is_released_does_not_depend_on_chunks() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let words = SensitiveWords::new(WordList::new(["bluebird"]).unwrap());
    let rig = runtime.block_on(Rig::new(HookSet::of(words)));
    let mut runner =
        TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let checked = runner.run(&cuts(), |cut| {
        rig.replies(cut.reply());
        let answer = runtime.block_on(rig.post(cut.form, &cut.form.prompt("Hi", true)));
        let read = cut.form.read(true, &answer);
        prop_assert!(!read.text.contains("bluebird"), "{read:?}");
        prop_assert!(RELEASED.starts_with(&read.text), "{read:?}");
        match cut.breaks_off {
            None => {
                prop_assert_eq!(read.text.as_str(), RELEASED);
                prop_assert!(read.has_end && read.error.is_none());
            }
            Some(_) => prop_assert!(!read.has_end && read.error.is_some(), "{read:?}"),
        }
        Ok(())
    });
    checked.unwrap();
}
