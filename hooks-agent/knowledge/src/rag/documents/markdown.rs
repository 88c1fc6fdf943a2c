//! Markdown: pieces end at headings and between blocks.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::rag::documents::cut::{Lines, pack};
use crate::rag::documents::piece::{Document, Piece};

/// The blocks below a heading, with the heading.
struct Section {
    title: Option<String>,
    blocks: Vec<Range<usize>>,
}

pub(super) fn document(text: String, size: usize) -> Document {
    let mut lines = Lines::new(&text);
    let pieces = pieces(&text, size, |range| Some(lines.of(range)));
    Document { text, pieces }
}

/// Cuts Markdown. `lines` is asked in the order of the text.
pub(super) fn pieces(
    text: &str,
    size: usize,
    mut lines: impl FnMut(&Range<usize>) -> Option<std::ops::RangeInclusive<usize>>,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for section in sections(text) {
        for range in pack(text, section.blocks, size) {
            pieces.push(Piece { lines: lines(&range), range, title: section.title.clone() });
        }
    }
    pieces
}

/// Parts a text at its headings. A heading that another one follows at once is part of the next
/// section.
fn sections(text: &str) -> Vec<Section> {
    let mut headings: Vec<(u8, String)> = Vec::new();
    let mut sections = vec![Section { title: None, blocks: Vec::new() }];
    let mut has_body = false;
    let (mut depth, mut heading) = (0, None);
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if let (0, Tag::Heading { level, .. }) = (depth, tag) {
                    heading = Some((level as u8, String::new()));
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth -= 1;
                if let (TagEnd::Heading(_), Some((level, title))) =
                    (tag, heading.take_if(|_| depth == 0))
                {
                    headings.retain(|(above, _)| *above < level);
                    headings.push((level, title));
                    let path: Vec<_> = headings.iter().map(|(_, title)| title.as_str()).collect();
                    let title = Some(path.join(" > "));
                    if has_body {
                        sections.push(Section { title, blocks: Vec::new() });
                    } else if let Some(last) = sections.last_mut() {
                        last.title = title;
                    }
                    has_body = false;
                } else if depth == 0 {
                    has_body = true;
                }
                if depth == 0
                    && let Some(last) = sections.last_mut()
                {
                    last.blocks.push(range);
                }
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(&part);
                }
            }
            // A block of its own, such as HTML or a rule.
            _ if depth == 0 => {
                has_body = true;
                sections.last_mut().expect("there is a first section").blocks.push(range);
            }
            _ => {}
        }
    }
    sections
}
