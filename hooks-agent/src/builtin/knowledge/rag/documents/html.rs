//! HTML: its text, with headings as in Markdown.

use html2text::config;
use html2text::render::TextDecorator;

use crate::builtin::knowledge::rag::documents::{Document, markdown};

/// Where long lines wrap.
const WIDTH: usize = 200;

pub(super) fn document(html: &str, size: usize) -> Result<Document, String> {
    let read = config::with_decorator(Words)
        .no_table_borders()
        .allow_width_overflow()
        .string_from_read(html.as_bytes(), WIDTH);
    let text = read.map_err(|error| format!("its HTML cannot be read: {error}"))?;
    let pieces = markdown::pieces(&text, size, |_| None);
    Ok(Document { text, pieces })
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
