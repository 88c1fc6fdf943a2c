//! Stores whose server is behind a proxy.

use std::time::Duration;

use hooks_agent_sql::store::{PostgresOptions, PostgresStore};
use hooks_fixtures::Proxy;

use crate::backend::{Backend, SERVER, postgres};

/// How long an operation may take in these tests.
pub(crate) const LIMIT: Duration = Duration::from_millis(600);

/// How long a store waits that has its answer.
const PATIENT: Duration = Duration::from_secs(20);

/// A server behind a proxy.
pub(crate) struct Wired {
    pub(crate) backend: Backend,
    pub(crate) proxy: Proxy,
}

impl Wired {
    /// Returns a schema on the server, if there is one, with a proxy before it.
    pub(crate) async fn new() -> Option<Self> {
        let backend = postgres().await?;
        drop(backend.store().await);
        let proxy = Proxy::start("127.0.0.1:5432").await.unwrap();
        Some(Self { backend, proxy })
    }

    /// Returns the address of the database behind the proxy.
    pub(crate) fn url(&self) -> String {
        SERVER.replace("127.0.0.1", &self.proxy.address().to_string())
    }

    /// Returns options with the limits of these tests.
    pub(crate) fn options(&self) -> PostgresOptions {
        let Backend::Postgres(schema) = &self.backend else { panic!("the server is PostgreSQL") };
        PostgresStore::options()
            .schema(schema.name())
            .connections(2)
            .connect_timeout(LIMIT)
            .statement_timeout(LIMIT)
            .maintenance_timeout(LIMIT)
            .keep_alive(Duration::from_millis(200))
    }

    /// Opens a store through the proxy. Its first connection knows the statements of a thread.
    pub(crate) async fn store(&self) -> PostgresStore {
        self.options().connect(&self.url()).await.unwrap()
    }

    /// The same, where the server answers in the end: on a busy machine too.
    pub(crate) async fn patient_store(&self) -> PostgresStore {
        let options = self.options().connect_timeout(PATIENT).statement_timeout(PATIENT);
        options.maintenance_timeout(PATIENT).connect(&self.url()).await.unwrap()
    }
}
