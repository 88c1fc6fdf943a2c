//! The tools of the quickstart: list files, search text, read a file.

use std::fs;
use std::io;
use std::path::Path;

use hooks_agent::tool::{FunctionTool, IntoToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::{files, relative, search};

#[derive(Deserialize, JsonSchema)]
struct ListFiles {
    /// The folder to list, relative to the root; `.` is the root.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct SearchText {
    /// The words to look for; upper and lower case are the same.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// The file, relative to the root.
    path: String,
    /// The first line to read, counted from 1.
    #[serde(default)]
    from: Option<usize>,
    /// How many lines to read.
    #[serde(default)]
    lines: Option<usize>,
}

pub(crate) fn list_files(root: &Path) -> FunctionTool {
    let root = root.to_owned();
    FunctionTool::new("list_files", "Lists all files below a folder.", move |input: ListFiles| {
        let root = root.clone();
        blocking(move || {
            let files = files(&root.join(input.path))?;
            Ok(files.iter().map(|file| relative(&root, file)).collect::<Vec<_>>().join("\n"))
        })
    })
}

pub(crate) fn search_text(root: &Path) -> FunctionTool {
    let root = root.to_owned();
    let description = "Finds the lines that have most of some words; answers `file:line: text`.";
    FunctionTool::new("search_text", description, move |input: SearchText| {
        let root = root.clone();
        blocking(move || search(&root, &input.text))
    })
}

pub(crate) fn read_file(root: &Path) -> FunctionTool {
    let root = root.to_owned();
    FunctionTool::new("read_file", "Reads lines of a file.", move |input: ReadFile| {
        let root = root.clone();
        blocking(move || {
            let text = fs::read_to_string(root.join(&input.path))?;
            let from = input.from.unwrap_or(1).max(1);
            let lines = text.lines().skip(from - 1).take(input.lines.unwrap_or(200));
            Ok(lines.collect::<Vec<_>>().join("\n"))
        })
    })
}

/// File systems block, so their work goes to threads that may.
async fn blocking(
    work: impl FnOnce() -> io::Result<String> + Send + 'static,
) -> impl IntoToolOutput {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other).flatten()
}
