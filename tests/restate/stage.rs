//! A server of Restate with one worker.

use tempfile::TempDir;
use tokio::process::Child;

use crate::engine::{Engine, free_port};
use crate::worker::{World, start_build};

pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) world: World,
    port: u16,
    worker: Option<Child>,
    _folder: TempDir,
}

impl Stage {
    /// Starts a server and a worker of the newest build; `None` if no server is installed.
    pub(crate) async fn new() -> Option<Self> {
        Self::of_build("new").await
    }

    /// Starts a server and a worker of a build; `None` if no server is installed.
    pub(crate) async fn of_build(build: &str) -> Option<Self> {
        let engine = Engine::start().await?;
        let folder = tempfile::tempdir().unwrap();
        let (world, port) = (World(folder.path().into()), free_port());
        let mut stage = Self { engine, world, port, worker: None, _folder: folder };
        stage.start(build).await;
        stage.engine.register(port).await;
        Some(stage)
    }

    /// Starts a worker of a build.
    pub(crate) async fn start(&mut self, build: &str) {
        self.worker = Some(start_build(self.port, &self.world.0, build).await);
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Takes a worker that was started beside.
    pub(crate) fn adopt(&mut self, worker: Child) {
        self.worker = Some(worker);
    }

    /// Kills the worker.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.kill().await.unwrap();
        }
    }

    /// Kills the worker and the server, and starts both.
    pub(crate) async fn restart(&mut self) {
        self.kill().await;
        self.engine.kill().await;
        self.engine.restart().await;
        self.start("new").await;
    }

    /// Waits until the worker has ended by itself.
    pub(crate) async fn ended(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.wait().await.unwrap();
        }
    }
}
