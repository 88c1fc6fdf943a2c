//! A PostgreSQL of the test's own, which it may end.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use hooks_fixtures::tell;
use tempfile::TempDir;
use tokio::process::Command;

/// A server with its data in a folder. Both are removed at the end.
pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
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
        let cluster = Self { folder, programs, port };
        let data = cluster.data();
        let data = data.to_str().unwrap();
        if let Err(error) = cluster.run("initdb", &["-D", data, "-U", "root", "-A", "trust"]).await
        {
            tell(format!("skipped: PostgreSQL cannot be started: {error}"));
            return None;
        }
        cluster.control("start").await;
        Some(cluster)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server at once, as a crash does, and starts it again.
    pub(crate) async fn restart(&self) {
        self.control("restart").await;
    }

    async fn control(&self, what: &str) {
        let (data, log) = (self.data(), self.folder.path().join("log"));
        let folder = self.folder.path().display();
        // What the system has written outlives the server.
        let options =
            format!("-p {} -k {folder} -h 127.0.0.1 -F -c max_connections=200", self.port);
        let [data, log] = [&data, &log].map(|path| path.to_str().unwrap());
        let args = ["-D", data, "-l", log, "-w", "-m", "immediate", "-o", &options, what];
        self.run("pg_ctl", &args).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    }

    async fn run(&self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut command = as_another_user(&self.programs.join(program));
        let ran = command.args(args).current_dir(self.folder.path()).kill_on_drop(false);
        let Output { status, stderr, .. } =
            ran.output().await.map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&stderr).into_owned()) }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        let mut command = as_another_user(&self.programs.join("pg_ctl"));
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
