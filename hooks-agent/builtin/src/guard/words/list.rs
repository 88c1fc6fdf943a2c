//! A list of words, and what it finds.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::guard::words::error::WordListError;
use crate::guard::words::fold::fold_phrase;
use crate::guard::words::search::Search;

/// The most bytes of a folded word.
const LONGEST: usize = 1024;

/// A word of a list that was found in a text.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WordMatch {
    /// The word as it is compared: in small letters and in one width. `Debug` does not show it.
    pub word: Arc<str>,
    /// Where it is in the text, in bytes.
    pub range: Range<usize>,
}

impl fmt::Debug for WordMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordMatch").field("range", &self.range).finish_non_exhaustive()
    }
}

/// Finds the words of a list, in one pass whatever their number.
///
/// Capital and small letters are the same (Unicode's simple case folding), and so are full and half
/// width, with katakana (`Ａ` is `a`, `ｶﾞ` is `ガ`), other forms of an ASCII character (`ⓐ`, `𝐚`, `²`, dashes), and
/// escapes: HTML entities, percent-encoding and `\uXXXX`. Invisible characters inside of a word, up to 16 in a row,
/// do not hide it. Between the words of an entry such as `top secret` may be any number of blanks of any kind: line
/// breaks, characters without ink such as U+2800, and invisible ones. What is not the same: letters with and without
/// marks, letters of different scripts that look alike, `0` and `o`.
///
/// A word of letters or digits is found as a whole word only: `ass` is not found in `class`. Scripts
/// without spaces, such as Chinese, have no such boundaries; neither has Korean, which joins particles
/// to words. [`anywhere`](Self::anywhere) removes the boundaries of all scripts.
///
/// A text may arrive in parts: what starts before [`settled`](Self::settled) does not depend on what
/// follows.
///
/// ```
/// use hooks_agent::builtin::guard::WordList;
///
/// let words = WordList::new(["secret", "机密"])?;
/// assert_eq!(words.mask("A Ｓecret, not secretary; 这是机密文件"), "A ******, not secretary; 这是**文件");
/// # Ok::<(), hooks_agent::builtin::guard::WordListError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct WordList {
    search: Arc<Search>,
    words: Arc<[Arc<str>]>,
    anywhere: bool,
}

impl WordList {
    /// A list of these words. Spaces around a word are not of it.
    ///
    /// # Errors
    ///
    /// Fails if there are no words, or one of them is empty or has more than 1024 bytes.
    pub fn new<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Result<Self, WordListError> {
        let words = words.into_iter().enumerate();
        let folded = words.map(|(index, word)| fold_word(index + 1, word.as_ref()));
        Self::of_folded(folded.collect::<Result<_, _>>()?)
    }

    /// A list from a file: one word in each line. Empty lines and lines that start with `#` are not
    /// words; a word that starts with `#` is written `\#`.
    ///
    /// # Errors
    ///
    /// Fails if the file is missing or is not UTF-8, if it has no words, or with the number of a line that
    /// cannot be a word.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, WordListError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| WordListError::Io {
            path: path.to_owned(),
            source: Arc::new(source),
        })?;
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let mut folded = Vec::new();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let not_text = WordListError::Line { line: index + 1, reason: "is not UTF-8" };
            let line = std::str::from_utf8(line).map_err(|_| not_text)?.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let word = line.strip_prefix('\\').filter(|rest| rest.starts_with('#'));
                folded.push(fold_word(index + 1, word.unwrap_or(line))?);
            }
        }
        Self::of_folded(folded)
    }

    fn of_folded(folded: Vec<String>) -> Result<Self, WordListError> {
        if folded.is_empty() {
            return Err(WordListError::Empty);
        }
        let search = Search::new(folded).map_err(|error| WordListError::TooLarge(error.into()))?;
        let words = search.words().map(Arc::from).collect();
        Ok(Self { search: Arc::new(search), words, anywhere: false })
    }

    /// Returns what names the words and how they are found, without showing them.
    pub(in crate::guard) fn id(&self) -> String {
        let mut digest = Sha256::new_with_prefix(env!("CARGO_PKG_VERSION"));
        for word in &*self.words {
            digest.update((word.len() as u64).to_le_bytes());
            digest.update(word.as_bytes());
        }
        let digest: [u8; 32] = digest.finalize().into();
        format!("{}/{}", self.anywhere, STANDARD.encode(digest))
    }

    /// Finds words inside of other words too.
    pub fn anywhere(mut self) -> Self {
        self.anywhere = true;
        self
    }

    /// Adds all words that start at `from` or later, sorted by start. They may overlap.
    pub fn scan(&self, text: &str, from: usize, found: &mut Vec<WordMatch>) {
        let first = found.len();
        self.search.run(text, from, self.anywhere, |word, range| {
            found.push(WordMatch { word: self.words[word].clone(), range });
            true
        });
        found[first..].sort_by_key(|found| found.range.start);
    }

    /// Returns the first word that starts at `from` or later. The range is that of all words that
    /// overlap with it, the word the longest of them.
    #[must_use]
    pub fn find(&self, text: &str, from: usize) -> Option<WordMatch> {
        let mut found: Vec<(usize, Range<usize>)> = Vec::new();
        let mut complete_at = 0;
        self.search.run(text, from, self.anywhere, |word, range| {
            let end = range.end;
            found.push((word, range));
            if end <= complete_at {
                return true;
            }
            found.sort_by_key(|(_, range)| range.start);
            let first = found[0].1.start;
            let cluster = first_cluster(&found).map_or(0, |(_, cluster)| cluster.end);
            let complete = self.search.reach(text, cluster);
            // The distance doubles, so that a long chain is not looked through at each of its words.
            complete_at = complete.max(first + 2 * (end - first));
            end <= complete
        });
        found.sort_by_key(|(_, range)| range.start);
        let (word, range) = first_cluster(&found)?;
        Some(WordMatch { word: self.words[word].clone(), range })
    }

    /// Returns the position from which more text may change what is found in `text[from..]`: a boundary
    /// of characters from `from` to `text.len()`. It is exact: the start of the first word that the text
    /// may end in.
    #[must_use]
    pub fn settled(&self, text: &str, from: usize) -> usize {
        let open = self.search.open(text, from, self.anywhere);
        if open == text.len() {
            return open;
        }
        let mut found = Vec::new();
        self.search.run(text, from, self.anywhere, |word, range| {
            found.push((word, range));
            true
        });
        found.sort_by_key(|(_, range)| range.start);
        let mut rest = &found[..];
        while let Some((_, cluster)) = first_cluster(rest) {
            if cluster.start < open && open < cluster.end {
                return cluster.start;
            }
            let behind = rest.iter().take_while(|(_, range)| range.start < cluster.end).count();
            rest = &rest[behind..];
        }
        open
    }

    /// Returns the text with a `*` for each character of the words in it.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut found = Vec::new();
        self.scan(text, 0, &mut found);
        let (mut masked, mut at) = (String::with_capacity(text.len()), 0);
        for WordMatch { range, .. } in found {
            masked.push_str(&text[at..range.start.max(at)]);
            let hidden = range.start.max(at)..range.end.max(at);
            masked.extend(text[hidden.clone()].chars().map(|_| '*'));
            at = hidden.end;
        }
        masked + &text[at..]
    }
}

impl fmt::Debug for WordList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("WordList");
        debug.field("words", &self.words.len()).field("anywhere", &self.anywhere);
        debug.finish_non_exhaustive()
    }
}

/// The word that is the longest in the first chain of overlapping ones, and the range of the chain.
fn first_cluster(found: &[(usize, Range<usize>)]) -> Option<(usize, Range<usize>)> {
    let (first, range) = found.first()?;
    let (mut word, mut longest, mut cluster) = (*first, range.len(), range.clone());
    for (next, range) in found {
        if range.start >= cluster.end {
            break;
        }
        cluster.end = cluster.end.max(range.end);
        if range.len() > longest {
            (word, longest) = (*next, range.len());
        }
    }
    Some((word, cluster))
}

fn fold_word(line: usize, word: &str) -> Result<String, WordListError> {
    let folded = fold_phrase(word);
    match folded.len() {
        0 => Err(WordListError::Line { line, reason: "has no visible character" }),
        length if length > LONGEST => {
            Err(WordListError::Line { line, reason: "is longer than 1024 bytes" })
        }
        _ => Ok(folded),
    }
}
