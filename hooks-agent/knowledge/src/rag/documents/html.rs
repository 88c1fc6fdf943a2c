//! HTML: its text, with headings as in Markdown.

use std::collections::HashMap;

use html2text::config;
use html2text::render::TextDecorator;

use crate::rag::documents::markdown;
use crate::rag::documents::piece::Document;

/// Where long lines wrap.
const WIDTH: usize = 200;

/// The most elements inside of each other, as in Chromium. The reader takes a time that grows with the
/// square of them.
const DEEPEST: usize = 512;

/// Elements of HTML that have no end, or whose end is often left out and does not nest them.
const UNENDED: [&str; 31] = [
    "area", "base", "body", "br", "caption", "col", "colgroup", "dd", "dt", "embed", "head", "hr",
    "html", "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rp", "rt",
    "source", "tbody", "td", "tfoot", "th", "thead", "tr",
];

pub(super) fn document(html: &str, size: usize) -> Result<Document, String> {
    if depth(html) > DEEPEST {
        return Err(format!("its elements are nested more than {DEEPEST} deep"));
    }
    let read = config::with_decorator(Words)
        .no_table_borders()
        .allow_width_overflow()
        .string_from_read(html.as_bytes(), WIDTH);
    let text = read.map_err(|error| format!("its HTML cannot be read: {error}"))?;
    let pieces = markdown::pieces(&text, size, |_| None);
    Ok(Document { text, pieces })
}

/// Returns about how many elements are inside of each other, at most: the text of a script or of an
/// attribute may look like elements.
fn depth(html: &str) -> usize {
    let is_xml = html.starts_with("<?xml");
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut depth, mut deepest, mut rest) = (0, 0, html);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = behind_comment(comment);
            continue;
        }
        let is_end = rest.starts_with('/');
        let tag = &rest[usize::from(is_end)..];
        let tag = &tag[..tag.find(['<', '>']).unwrap_or(tag.len())];
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let name = tag.split(|char| !is_of_name(char)).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let is_unended = if is_xml { tag.ends_with('/') } else { UNENDED.contains(&&*name) };
        if name.is_empty() || is_unended {
            continue;
        }
        let count = open.entry(name).or_default();
        if !is_end {
            (*count, depth) = (*count + 1, depth + 1);
        } else if *count > 0 {
            (*count, depth) = (*count - 1, depth - 1);
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns what is behind a comment. It also ends where its mark was mistyped: `<!-->`, `--!>`.
fn behind_comment(comment: &str) -> &str {
    let ends =
        |text: &str| matches!(text, "" | "-") || text.ends_with("--") || text.ends_with("--!");
    let end = comment.match_indices('>').find(|(at, _)| ends(&comment[..*at]));
    end.map_or("", |(at, _)| &comment[at..])
}

/// Marks headings and items, and nothing else.
struct Words;

impl TextDecorator for Words {
    type Annotation = ();

    fn decorate_link_start(&mut self, _url: &str) -> (String, ()) {
        Default::default()
    }

    fn decorate_link_end(&mut self) -> String {
        String::new()
    }

    fn decorate_em_start(&self) -> (String, ()) {
        Default::default()
    }

    fn decorate_em_end(&self) -> String {
        String::new()
    }

    fn decorate_strong_start(&self) -> (String, ()) {
        Default::default()
    }

    fn decorate_strong_end(&self) -> String {
        String::new()
    }

    fn decorate_strikeout_start(&self) -> (String, ()) {
        Default::default()
    }

    fn decorate_strikeout_end(&self) -> String {
        String::new()
    }

    fn decorate_code_start(&self) -> (String, ()) {
        Default::default()
    }

    fn decorate_code_end(&self) -> String {
        String::new()
    }

    fn decorate_preformat_first(&self) {}

    fn decorate_preformat_cont(&self) {}

    fn decorate_image(&mut self, _src: &str, title: &str) -> (String, ()) {
        (title.to_owned(), ())
    }

    fn header_prefix(&self, level: usize) -> String {
        format!("{} ", "#".repeat(level))
    }

    fn quote_prefix(&self) -> String {
        "> ".to_owned()
    }

    fn unordered_item_prefix(&self) -> String {
        "* ".to_owned()
    }

    fn ordered_item_prefix(&self, i: i64) -> String {
        format!("{i}. ")
    }

    fn make_subblock_decorator(&self) -> Self {
        Self
    }
}
