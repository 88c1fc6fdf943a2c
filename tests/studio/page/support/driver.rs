//! The program that leads the browser.

use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The programs that the tests need.
pub(crate) struct Programs {
    pub(crate) driver: PathBuf,
    pub(crate) browser: PathBuf,
}

impl Programs {
    /// Looks for them in the path.
    pub(crate) fn find() -> Option<Self> {
        let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(find);
        Some(Self { driver: find("chromedriver")?, browser: browser? })
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A driver on a free port, which ends with this value.
pub(crate) struct Driver {
    pub(crate) address: String,
    // Ends before the folder goes.
    _process: Child,
    _folder: TempDir,
}

impl Driver {
    /// Starts it, again if it ends at once: its port may be taken in one of the two families of addresses.
    pub(crate) async fn start(programs: &Programs) -> Self {
        for _ in 0..5 {
            if let Some(driver) = Self::try_start(programs).await {
                return driver;
            }
        }
        panic!("the driver ends before it names its port");
    }

    async fn try_start(programs: &Programs) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut process = Command::new(&programs.driver)
            .arg("--port=0")
            // The browser is killed, and leaves what it has there.
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the driver starts");
        let output = process.stdout.take().expect("the output is a pipe");
        let mut lines = BufReader::new(output).lines();
        let port = loop {
            let line = lines.next_line().await.expect("the driver writes text")?;
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                break port.trim_end_matches('.').to_owned();
            }
        };
        // What it writes later is read, so that it never waits.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let address = format!("http://127.0.0.1:{port}");
        Some(Self { address, _process: process, _folder: folder })
    }
}
