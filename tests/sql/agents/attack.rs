//! Parts that the attacks on stored threads share.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hooks_agent_core::message::unanswered_tool_uses;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Store;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::agents::stores::Place;

pub(crate) const ADA: &str = "ada";

pub(crate) fn on_ada() -> CallOptions {
    CallOptions::new().thread(ADA)
}

/// A model that repeats all that the user said.
pub(crate) fn echo() -> ScriptedModel {
    ScriptedModel::new("echo", |request| {
        let said = request.messages.iter().filter(|msg| msg.role == Role::User);
        said.map(Msg::text).collect::<Vec<_>>().join("|")
    })
}

pub(crate) fn echoing(store: Arc<dyn Store>) -> ReActAgent {
    ReActAgent::builder("clerk").model(echo()).store(store).build().unwrap()
}

/// Everything that the file of a store has, as text.
pub(crate) async fn rows(place: &Place) -> String {
    let options = SqliteConnectOptions::new().filename(place.file());
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    let mut all = String::new();
    for table in ["thread", "message", "value", "tool_call", "question"] {
        let names =
            sqlx::query(AssertSqlSafe(format!("SELECT name FROM pragma_table_info('{table}')")));
        let names = names.fetch_all(&mut conn).await.unwrap();
        for name in names.iter().map(|row| row.get::<String, _>(0)) {
            let sql = format!("SELECT CAST(\"{name}\" AS TEXT) FROM \"{table}\"");
            for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut conn).await.unwrap() {
                all.push_str(&row.get::<Option<String>, _>(0).unwrap_or_default());
                all.push('\n');
            }
        }
    }
    all
}

pub(crate) async fn in_time<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), call).await.expect("the thread is blocked")
}

pub(crate) fn assert_valid(agent: &ReActAgent, thread: &str) {
    let history = agent.threads().memory(thread).unwrap().messages();
    assert!(unanswered_tool_uses(&history).is_empty(), "{history:?}");
    let ids: Vec<_> = history.iter().flat_map(Msg::tool_results).map(|it| it.id.clone()).collect();
    let calls: usize = history.iter().map(|msg| msg.tool_uses().count()).sum();
    assert_eq!(ids.len(), calls, "{history:?}");
}

/// Polls a call this many times, and drops it.
pub(crate) async fn polled<T>(call: impl Future<Output = T>, times: usize) -> Option<T> {
    let (mut call, mut left) = (Box::pin(call), times);
    poll_fn(move |cx| {
        left -= 1;
        match call.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
