//! The Restate server.

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::Client;
use tokio::process::{Child, Command};

use crate::Done;

/// How long the server may take until it answers.
const LONGEST: Duration = Duration::from_secs(12);

/// Returns the program of the server: of npm in `target/restate`, or on `PATH`.
pub(crate) fn find() -> Option<PathBuf> {
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let cpu = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let installed = format!(
        "{}/../target/restate/node_modules/@restatedev/restate-server-{os}-{cpu}/bin/restate-server",
        env!("CARGO_MANIFEST_DIR")
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("restate-server"));
    std::iter::once(PathBuf::from(installed)).chain(on_path).find(|path| path.is_file())
}

/// A server on ports that were free, with its data in a folder.
pub(crate) struct Server {
    program: PathBuf,
    folder: PathBuf,
    ports: [u16; 3],
    client: Client,
    process: Option<Child>,
}

impl Server {
    pub(crate) async fn start(program: PathBuf, folder: &Path, client: &Client) -> Done<Self> {
        std::fs::create_dir_all(folder)?;
        let free: [TcpListener; 3] = [bind()?, bind()?, bind()?];
        let mut ports = [0; 3];
        for (port, listener) in ports.iter_mut().zip(&free) {
            *port = listener.local_addr()?.port();
        }
        drop(free);
        let (folder, client) = (folder.to_owned(), client.clone());
        let mut server = Self { program, folder, ports, client, process: None };
        server.restart().await?;
        Ok(server)
    }

    /// Starts the server on its data, and waits until it answers.
    pub(crate) async fn restart(&mut self) -> Done {
        let [ingress, admin, node] = self.ports;
        let log = OpenOptions::new().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = Command::new(&self.program);
        command
            .arg("--base-dir")
            .arg(self.folder.join("data"))
            .args(["--node-name=one", "--listen-mode=tcp"])
            .env("RESTATE_INGRESS__BIND_ADDRESS", format!("127.0.0.1:{ingress}"))
            .env("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}"))
            .env("RESTATE_BIND_ADDRESS", format!("127.0.0.1:{node}"))
            .env("RESTATE_ADVERTISED_ADDRESS", format!("http://127.0.0.1:{node}/"))
            .env("TMPDIR", &self.folder)
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MB")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        // The program of npm starts the server as its child: both are killed as a group.
        #[cfg(unix)]
        command.process_group(0);
        self.process = Some(command.spawn()?);
        for url in
            [format!("{}/health", self.admin()), format!("{}/restate/health", self.ingress())]
        {
            let began = Instant::now();
            while !self.client.get(&url).send().await.is_ok_and(|it| it.status().is_success()) {
                if began.elapsed() > LONGEST {
                    let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                    return Err(format!("the server does not answer at {url}:\n{log}").into());
                }
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        }
        Ok(())
    }

    /// Kills the server, without a chance to clean up, and waits until it is gone.
    pub(crate) async fn kill(&mut self) -> Done {
        self.end();
        if let Some(mut process) = self.process.take() {
            process.wait().await?;
        }
        while self.client.get(self.admin()).send().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    fn end(&mut self) {
        let Some(process) = &mut self.process else { return };
        #[cfg(unix)]
        if let Some(group) = process.id().and_then(|id| i32::try_from(id).ok())
            && let Some(group) = rustix::process::Pid::from_raw(group)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = process.start_kill();
    }

    /// The address of calls.
    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// The address of the admin API.
    pub(crate) fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn bind() -> std::io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
}
