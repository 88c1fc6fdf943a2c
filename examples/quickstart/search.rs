//! Finds the lines of a folder that say most about a text.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold nothing a person wrote.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];
/// How many lines are found at most.
const MOST_LINES: usize = 20;
/// What a word counts that is in a line beside the one that is looked at.
const BESIDE: f64 = 0.5;

/// A line with words of the text.
struct Line {
    /// The file, and the number of the line in it, from 1.
    place: (usize, usize),
    text: String,
    words: Vec<bool>,
}

/// Returns the lines that have most words of the text, as `file:line: text`, the best first. A rare
/// word counts for more than a frequent one; the lines before and after count for half.
pub(crate) fn search(root: &Path, text: &str) -> io::Result<String> {
    let wanted: Vec<_> = words(text).into_iter().collect();
    let files = files(root)?;
    let mut lines = Vec::new();
    let mut read = 0;
    for (file, path) in files.iter().enumerate() {
        // What is not text has no lines to find.
        let Ok(content) = fs::read_to_string(path) else { continue };
        for (index, text) in content.lines().enumerate() {
            read += 1;
            let here = words(text);
            let words: Vec<_> = wanted.iter().map(|word| here.contains(word)).collect();
            if words.contains(&true) {
                let text = text.trim().to_owned();
                lines.push(Line { place: (file, index + 1), text, words });
            }
        }
    }
    let weights: Vec<_> = (0..wanted.len())
        .map(|word| (f64::from(read) / count(lines.iter().map(|line| line.words[word]))).ln())
        .collect();
    let mut ranked: Vec<_> =
        (0..lines.len()).map(|index| (score(&lines, index, &weights), &lines[index])).collect();
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let found: Vec<_> = ranked
        .iter()
        .take(MOST_LINES)
        .map(|(_, Line { place: (file, number), text, .. })| {
            format!("{}:{number}: {text}", relative(root, &files[*file]))
        })
        .collect();
    Ok(if found.is_empty() { format!("nothing found for `{text}`") } else { found.join("\n") })
}

/// Returns how much a line and those beside it say about the words that are weighed.
fn score(lines: &[Line], index: usize, weights: &[f64]) -> f64 {
    let (file, number) = lines[index].place;
    let beside = |other: Option<&Line>, word: usize| {
        let is_near = |line: &&Line| line.place.0 == file && line.place.1.abs_diff(number) == 1;
        other.filter(is_near).is_some_and(|line| line.words[word])
    };
    let before = index.checked_sub(1).and_then(|index| lines.get(index));
    let after = lines.get(index + 1);
    let part = |word: usize| match lines[index].words[word] {
        true => 1.0,
        false if beside(before, word) || beside(after, word) => BESIDE,
        false => 0.0,
    };
    weights.iter().enumerate().map(|(word, weight)| weight * part(word)).sum()
}

fn count(are_there: impl Iterator<Item = bool>) -> f64 {
    are_there.filter(|is_there| *is_there).map(|_| 1.0).sum::<f64>().max(1.0)
}

/// Returns the words of a text in lower case, without short ones; of `API_KEYS` these are `api` and
/// `key`.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !char.is_alphanumeric()).map(str::to_lowercase);
    let singular = |word: String| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 3 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    };
    words.map(singular).filter(|word| word.len() > 2).collect()
}

/// Returns all files below a folder, in order.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
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

/// Returns the path of a file from the root.
pub(crate) fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}
