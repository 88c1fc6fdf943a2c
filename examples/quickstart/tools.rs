//! The tools of the quickstart: list files, search text, read a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hooks_agent::tool::{FunctionTool, IntoToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

/// Folders that hold nothing a person wrote.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];
const MAX_HITS: usize = 200;

#[derive(Deserialize, JsonSchema)]
struct ListFiles {
    /// The folder to list, relative to the root; `.` is the root.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct SearchText {
    /// The text to look for; upper and lower case are the same.
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
    let description = "Finds a text in all files; answers `file:line: text`.";
    FunctionTool::new("search_text", description, move |input: SearchText| {
        let root = root.clone();
        blocking(move || search(&root, &input.text.to_lowercase()))
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

fn search(root: &Path, text: &str) -> io::Result<String> {
    let mut hits = Vec::new();
    for file in files(root)? {
        // What is not text has no lines to find.
        let Ok(content) = fs::read_to_string(&file) else { continue };
        for (index, line) in content.lines().enumerate() {
            if line.to_lowercase().contains(text) && hits.len() < MAX_HITS {
                hits.push(format!("{}:{}: {}", relative(root, &file), index + 1, line.trim()));
            }
        }
    }
    Ok(if hits.is_empty() { format!("nothing found for `{text}`") } else { hits.join("\n") })
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                found.push(entry.path());
            } else if kind.is_dir() && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}
