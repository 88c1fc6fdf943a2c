//! The stores that tests run on, and an agent whose tool calls wait for people.

use std::path::PathBuf;
use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::{Msg, ToolUse};
use hooks_agent_core::model::{ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::store::{DecisionError, Filter, Store, StoreError, Waiting};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_core::tool::FunctionTool;
use hooks_agent_sql::store::SqliteStore;
use hooks_fixtures::Records;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::backend::{self, Backend};

/// A store that is opened as often as a test has processes.
pub(crate) enum Place {
    Memory(MemoryStore),
    Sqlite(tempfile::TempDir),
    Postgres(Backend),
}

/// One place of each kind that the machine has.
pub(crate) async fn places() -> Vec<Place> {
    let server = backend::postgres().await.map(Place::Postgres);
    [Place::Memory(MemoryStore::new()), sqlite()].into_iter().chain(server).collect()
}

pub(crate) fn sqlite() -> Place {
    Place::Sqlite(tempfile::tempdir().unwrap())
}

impl Place {
    /// Opens the store as another process does.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Sqlite(_) => Arc::new(SqliteStore::open(self.file()).await.unwrap()),
            Self::Postgres(server) => server.store().await,
        }
    }

    /// The file of a store that has one.
    pub(crate) fn file(&self) -> PathBuf {
        let Self::Sqlite(folder) = self else { panic!("the store has no file") };
        folder.path().join("agents.db")
    }

    /// Executes SQL on the file.
    pub(crate) async fn execute(&self, sql: &'static str) -> u64 {
        use sqlx::Connection;
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.file());
        let mut conn = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let done = sqlx::query(sql).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        done.rows_affected()
    }
}

pub(crate) type Paid = Arc<Records<u64>>;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Payment {
    pub(crate) euros: u64,
}

pub(crate) fn pay(id: &str, euros: u64) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "euros": euros }))
}

/// The tool `pay`, which notes what it paid.
pub(crate) fn pay_tool(paid: &Paid) -> FunctionTool {
    let paid = paid.clone();
    FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
        paid.push(euros);
        async move { format!("paid {euros}") }
    })
}

/// A model that makes these tool calls when it is asked to pay, and else repeats what it read last.
pub(crate) fn payer(calls: impl IntoIterator<Item = ToolUse>) -> ScriptedModel {
    let calls: Vec<_> = calls.into_iter().collect();
    ScriptedModel::new("payer", move |request| -> ScriptedAnswer {
        let last =
            request.messages.iter().rev().take_while(|msg| msg.tool_results().next().is_some());
        let mut results: Vec<_> = last
            .flat_map(Msg::tool_results)
            .map(|result| result.output.as_str().to_owned())
            .collect();
        results.reverse();
        match results.is_empty() && request.last_text().starts_with("Pay") {
            true => hooks_fixtures::scripted_agents::uses(calls.clone()),
            false if results.is_empty() => format!("heard: {}", request.last_text()).into(),
            false => results.join("; ").into(),
        }
    })
}

/// An agent that pays 12 euros, without a hook.
pub(crate) fn builder(store: Arc<dyn Store>, paid: &Paid) -> ReActAgentBuilder {
    let model = payer([pay("1", 12)]);
    ReActAgent::builder("clerk").model(model).tool(pay_tool(paid)).store(store)
}

/// An agent that pays 12 euros, if people let it.
pub(crate) fn clerk(store: Arc<dyn Store>, paid: &Paid) -> ReActAgent {
    builder(store, paid).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
}

/// The questions that wait for a decision.
pub(crate) async fn waiting(store: &dyn Store) -> Vec<Waiting> {
    store.waiting(Filter::agent("clerk")).await.unwrap()
}

/// Why a decision was refused.
pub(crate) fn refused(error: AgentError) -> DecisionError {
    let AgentError::Store(StoreError::Decision(error)) = error else { panic!("{error:?}") };
    error
}
