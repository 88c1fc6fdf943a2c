//! Exports that somebody made up: checked and bounded.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Filter, HistoryRow, ImportError, ImportOptions, StoreError, StoredMessage, export, import,
};
use hooks_agent_core::thread::MemoryStore;
use serde_json::{Map, json};
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, message, step};

on_each! {
    a_thread_goes_on_from_the_largest_numbers_that_an_import_may_have,
    numbers_that_leave_no_room_are_refused_and_write_nothing,
    a_step_without_a_next_number_is_an_error,
}

const HEADER: &str = r#"{"v":1,"agent":"clerk","thread":"ada","values":{}}"#;

/// The largest number that an import may have.
const LARGEST: u64 = (1 << 53) - 1;

fn row(seq: u64, place: u64, archived: Option<u64>) -> HistoryRow {
    HistoryRow::new(seq, place, archived, json!({ "role": "user", "name": "u", "content": [] }))
}

fn lines(rows: &[HistoryRow]) -> String {
    let rows = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n");
    format!("{HEADER}\n{}", rows.collect::<String>())
}

async fn a_thread_goes_on_from_the_largest_numbers_that_an_import_may_have(backend: &Backend) {
    let store = backend.store().await;
    let rows = [row(0, 0, Some(LARGEST)), row(LARGEST, LARGEST, None)];
    import(&*store, lines(&rows).as_bytes()).await.unwrap();
    let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
    let agent = ReActAgent::builder("clerk").model(model).store(store.clone()).build().unwrap();
    let ada = || CallOptions::new().thread("ada");
    assert_eq!(agent.call_with(ada(), "hello").await.unwrap().text(), "2");
    assert_eq!(agent.call_with(ada(), "again").await.unwrap().text(), "4");
    let kept = store.history(&key("ada")).await.unwrap();
    assert_eq!(kept.last().unwrap().seq, LARGEST + 4);
}

async fn numbers_that_leave_no_room_are_refused_and_write_nothing(backend: &Backend) {
    let store = backend.store().await;
    for number in [LARGEST + 1, (1 << 63) - 2, (1 << 63) - 1, 1 << 63, u64::MAX] {
        for row in [row(number, 0, None), row(0, number, None), row(0, 0, Some(number))] {
            let text = lines(std::slice::from_ref(&row));
            let error = import(&*store, text.as_bytes()).await.unwrap_err();
            assert!(matches!(error, ImportError::Line { line: 2, .. }), "{number}: {error:?}");
            let error = store.import(&key("ada"), vec![row], Map::new(), None).await.unwrap_err();
            assert!(matches!(error, StoreError::Unreadable { .. }), "{number}: {error:?}");
            assert_eq!(store.threads(Filter::all()).await.unwrap(), [], "{number}");
        }
    }
}

async fn a_step_without_a_next_number_is_an_error(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    for number in [(1 << 63) - 1, u64::MAX] {
        let mut last = step(0);
        last.messages = vec![message(number, "hello")];
        let mut placed = step(0);
        let msg = placed.messages[0].msg.clone();
        placed.messages = vec![StoredMessage::new(0, number, msg)];
        for refused in [last, placed, step(number)] {
            let error = store.commit(&lease, &refused).await.unwrap_err();
            assert!(matches!(error, StoreError::Failed(_)), "{number}: {error:?}");
        }
    }
    store.commit(&lease, &step(0)).await.unwrap();
}

/// A line that never ends, and how much of it was read.
struct Endless(u64);

impl AsyncRead for Endless {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        unreachable!("lines are read from the buffer")
    }
}

impl AsyncBufRead for Endless {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(&[b'x'; 4096]))
    }

    fn consume(mut self: Pin<&mut Self>, bytes: usize) {
        self.0 += bytes as u64;
    }
}

#[tokio::test]
async fn a_line_that_never_ends_is_read_up_to_its_limit() {
    let mut reader = Endless(0);
    let options = ImportOptions::new().longest_line(100_000);
    let error = options.import(&MemoryStore::new(), &mut reader).await.unwrap_err();
    let expected =
        "line 1 of the export has more than 100000 bytes: raise `ImportOptions::longest_line`";
    assert_eq!(error.to_string(), expected);
    assert_eq!(reader.0, 100_001);
    let mut reader = Endless(0);
    let error = import(&MemoryStore::new(), &mut reader).await.unwrap_err();
    assert!(matches!(error, ImportError::Line { line: 1, .. }), "{error:?}");
    assert_eq!(reader.0, (16 << 20) + 1);
}

#[tokio::test]
async fn an_export_is_read_up_to_its_limit() {
    let rows: Vec<_> = (0..100).map(|seq| row(seq, seq, None)).collect();
    let text = lines(&rows);
    let length = text.len() as u64;
    let exact = ImportOptions::new().longest_export(length);
    let store = MemoryStore::new();
    exact.import(&store, text.as_bytes()).await.unwrap();
    let mut again = Vec::new();
    export(&store, &key("ada"), &mut again).await.unwrap();
    let less = ImportOptions::new().longest_export(length - 1);
    let error = less.import(&MemoryStore::new(), text.as_bytes()).await.unwrap_err();
    let expected = "line 101 of the export is past the longest export that is read: raise \
                    `ImportOptions::longest_export`";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_line_of_exactly_the_limit_is_read() {
    let text = lines(&[row(0, 0, None)]);
    let longest = text.lines().map(str::len).max().unwrap() as u64;
    let exact = ImportOptions::new().longest_line(longest);
    exact.import(&MemoryStore::new(), text.as_bytes()).await.unwrap();
    let less = ImportOptions::new().longest_line(longest - 1);
    assert!(less.import(&MemoryStore::new(), text.as_bytes()).await.is_err());
}
