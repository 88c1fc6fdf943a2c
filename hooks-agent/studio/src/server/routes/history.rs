//! Runs of the history.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use hooks_agent_core::store::{RunCursor, RunFilter, StoreError};
use serde::Deserialize;

use crate::server::answer::{error, invalid, json, store_failed};
use crate::server::app::App;

/// How many runs are listed, unless the page asks for others.
const RUNS: u32 = 100;
const MOST: u32 = 500;

/// Which runs are listed.
#[derive(Deserialize)]
pub(super) struct Wanted {
    agent: Option<String>,
    user: Option<String>,
    thread: Option<String>,
    state: Option<String>,
    q: Option<String>,
    since: Option<u64>,
    until: Option<u64>,
    before: Option<String>,
    limit: Option<u32>,
}

impl Wanted {
    fn filter(self) -> Result<RunFilter, String> {
        let mut filter = RunFilter::all().limit(self.limit.unwrap_or(RUNS).min(MOST));
        filter.agent = self.agent.map(Into::into);
        filter.user = self.user.map(Into::into);
        filter.thread = self.thread.map(Into::into);
        filter.state = self.state.map(Into::into);
        filter.words = self.q.filter(|words| !words.trim().is_empty());
        (filter.since, filter.until) = (self.since, self.until);
        filter.before = match self.before {
            Some(cursor) => Some(cursor.parse::<RunCursor>().map_err(|error| error.to_string())?),
            None => None,
        };
        Ok(filter)
    }
}

/// Lists runs that are kept, the newest first.
pub(super) async fn history(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Response {
    let history = app.desk.shared.history.get();
    let Some((history, runs)) = history.and_then(|it| Some((it, it.runs()?))) else {
        let message = "no runs are kept beyond the memory of the program";
        return error(StatusCode::NOT_FOUND, "no_history", message);
    };
    let filter = match wanted.filter() {
        Ok(filter) => filter,
        Err(message) => return invalid(&message),
    };
    match runs.list(filter).await {
        Ok(page) => {
            let next = serde_json::json!(page.next.map(|cursor| cursor.to_string()));
            let (lost, listed) = (history.lost(), page.summaries.join(","));
            let body = format!("{{\"runs\":[{listed}],\"next\":{next},\"lost\":{lost}}}");
            json(StatusCode::OK, body)
        }
        Err(StoreError::Run(refused)) => invalid(&refused.to_string()),
        Err(error) => store_failed(&error),
    }
}
