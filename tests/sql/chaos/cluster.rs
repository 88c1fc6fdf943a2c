//! A PostgreSQL of the test's own, which it may end.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use hooks_fixtures::tell;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::Mutex;

/// A server with its data in a folder. Both are removed at the end.
pub(crate) struct Cluster {
    server: Arc<Server>,
    _folder: TempDir,
}

struct Server {
    folder: PathBuf,
    programs: PathBuf,
    port: u16,
    /// One program controls it at a time, also if nobody waits for it any more.
    turn: Mutex<()>,
}

impl Cluster {
    /// Starts a server, if the machine has its programs.
    pub(crate) async fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            tell("skipped: no programs of a PostgreSQL server, such as `initdb`");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // The server does not run as the superuser, who may run the test.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let turn = Mutex::new(());
        let server = Server { folder: folder.path().to_owned(), programs, port, turn };
        let data = server.data();
        let data = data.to_str().unwrap();
        if let Err(error) = server.run("initdb", &["-D", data, "-U", "root", "-A", "trust"]).await {
            tell(format!("skipped: PostgreSQL cannot be started: {error}"));
            return None;
        }
        let cluster = Self { server: Arc::new(server), _folder: folder };
        cluster.control("start").await;
        Some(cluster)
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.port
    }

    /// Ends the server at once, as a crash does, and starts it again.
    pub(crate) async fn restart(&self) {
        self.control("restart").await;
    }

    /// Goes on if this is dropped.
    async fn control(&self, what: &'static str) {
        let server = self.server.clone();
        tokio::spawn(async move { server.control(what).await }).await.unwrap();
    }
}

impl Server {
    async fn control(&self, what: &str) {
        let _turn = self.turn.lock().await;
        let (data, log) = (self.data(), self.folder.join("log"));
        let folder = self.folder.display();
        // What the system has written outlives the server.
        let options =
            format!("-p {} -k {folder} -h 127.0.0.1 -F -c max_connections=200", self.port);
        let [data, log] = [&data, &log].map(|path| path.to_str().unwrap());
        let args = ["-D", data, "-l", log, "-w", "-m", "immediate", "-o", &options, what];
        self.run("pg_ctl", &args).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    }

    async fn run(&self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut command = as_another_user(&self.programs.join(program));
        let ran = command.args(args).current_dir(&self.folder).kill_on_drop(false);
        let Output { status, stderr, .. } =
            ran.output().await.map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&stderr).into_owned()) }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.server.data();
        let mut command = as_another_user(&self.server.programs.join("pg_ctl"));
        let stop = ["-m", "immediate", "-w", "stop"];
        let _ = command.arg("-D").arg(data).args(stop).as_std_mut().output();
    }
}

/// Returns the command of a program that runs as `postgres`, if the superuser runs this test.
fn as_another_user(program: &Path) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|it| {
        use std::os::unix::fs::MetadataExt;
        it.uid() == 0
    });
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

/// Returns the folder of the server's programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(Result::ok);
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.retain(|folder| folder.join("initdb").exists());
    folders.sort();
    folders.pop()
}
