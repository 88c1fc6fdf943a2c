//! The messages of a thread, as its store has them.

use std::collections::HashSet;
use std::sync::Arc;

use hooks_agent_core::message::{ContentBlock, Msg, Role};
use hooks_agent_core::store::{Filter, HistoryRow, Store, StoreError, ThreadKey};
use serde::{Deserialize, Serialize};

use crate::shared::Shows;

/// How many messages are shown, the last ones.
const MOST: usize = 1_000;

/// What a thread has said.
#[derive(Debug, Serialize)]
pub(super) struct Conversation {
    agent: Arc<str>,
    thread: Arc<str>,
    user: Option<Arc<str>>,
    /// Whether a call is in progress, or was cut off.
    busy: bool,
    /// Whether texts are not shown.
    hidden: bool,
    /// Whether earlier messages are left out.
    more: bool,
    messages: Vec<Said>,
}

/// A message of a thread.
#[derive(Debug, Serialize)]
struct Said {
    seq: u64,
    role: Option<Role>,
    name: Option<String>,
    text: Option<String>,
    chars: usize,
    /// The tools that it calls, or that answered.
    tools: Vec<String>,
    /// Whether another message has replaced it.
    archived: bool,
    /// Whether a fork may end with it.
    can_fork: bool,
}

impl Conversation {
    /// Reads a thread.
    pub(super) async fn read(
        store: &Arc<dyn Store>,
        key: &ThreadKey,
        shows: Shows,
    ) -> Result<Self, StoreError> {
        let of_thread = Filter::agent(key.agent()).thread(key.thread());
        let listed = store.threads(of_thread).await?.into_iter().find(|info| info.key == *key);
        let info = listed.ok_or_else(|| StoreError::UnknownThread(key.clone()))?;
        let mut rows = store.history(key).await?;
        rows.sort_by_key(|row| (row.place, row.seq));
        let mut open = HashSet::new();
        let mut messages: Vec<_> =
            rows.into_iter().map(|row| Said::of(row, shows, info.in_call, &mut open)).collect();
        let more = messages.len().saturating_sub(MOST);
        messages.drain(..more);
        Ok(Self {
            agent: key.agent().into(),
            thread: key.thread().into(),
            user: info.user,
            busy: info.in_call,
            hidden: !shows.content,
            more: more > 0,
            messages,
        })
    }
}

impl Said {
    /// Reads a message. `open` are the tool calls before it that have no result.
    ///
    /// What was replaced may be what a hook removed. While a call goes on, hooks may not have seen its answers.
    fn of(row: HistoryRow, shows: Shows, is_busy: bool, open: &mut HashSet<String>) -> Self {
        let archived = row.archived.is_some();
        let Ok(msg) = Msg::deserialize(row.message) else {
            // Of a later program.
            return Self {
                seq: row.seq,
                role: None,
                name: None,
                text: None,
                chars: 0,
                tools: Vec::new(),
                archived,
                can_fork: false,
            };
        };
        if !archived {
            open.extend(msg.tool_uses().map(|call| call.id.clone()));
            for result in msg.tool_results() {
                open.remove(&result.id);
            }
        }
        let called = msg.tool_uses().map(|call| call.name.clone());
        let answered = msg.tool_results().map(|result| result.name.clone());
        let tools = called.chain(answered).collect();
        let text = text_of(&msg);
        let is_final = !is_busy || msg.role != Role::Assistant;
        let is_shown = shows.content && (!archived || shows.removed) && is_final;
        Self {
            seq: row.seq,
            role: Some(msg.role),
            chars: text.chars().count(),
            text: is_shown.then_some(text),
            tools,
            archived,
            can_fork: !archived && open.is_empty(),
            name: Some(msg.name),
        }
    }
}

/// Returns what a message says, and what its tools answered.
fn text_of(msg: &Msg) -> String {
    let texts = msg.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        ContentBlock::ToolResult(result) => Some(result.output.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
