//! Cuts a text into pieces that are not too long.

use std::ops::{Range, RangeInclusive};

/// Packs blocks, which are in order, into ranges of at most `size` characters. A longer block is cut
/// at lines, else at sentences, else at words, else anywhere.
pub(super) fn pack(
    text: &str,
    blocks: impl IntoIterator<Item = Range<usize>>,
    size: usize,
) -> Vec<Range<usize>> {
    let fits = |range: &Range<usize>| text[range.clone()].chars().nth(size).is_none();
    let mut packed: Vec<Range<usize>> = Vec::new();
    for block in blocks {
        let block = trimmed(text, block);
        if block.is_empty() {
            continue;
        }
        match packed.last_mut() {
            Some(last) if fits(&(last.start..block.end)) => last.end = block.end,
            _ if fits(&block) => packed.push(block),
            _ => {
                // A heading alone tells nothing: it stays with what is below.
                let short = packed.pop_if(|last| text[last.clone()].len() < size / 4);
                let start = short.map_or(block.start, |short| short.start);
                packed.extend(split(text, start..block.end, size));
            }
        }
    }
    packed
}

/// Cuts a block that is too long.
fn split(text: &str, block: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut rest = block;
    loop {
        let left = &text[rest.clone()];
        let Some((most, _)) = left.char_indices().nth(size) else { break };
        let end = rest.start + end_within(&left[..most]);
        pieces.push(trimmed(text, rest.start..end));
        rest.start = end;
    }
    pieces.push(trimmed(text, rest));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns where to end a piece of this text. Never 0.
fn end_within(text: &str) -> usize {
    // A cut in the first half would leave many short pieces.
    let half = text.len() / 2;
    let after = |found: Option<usize>, len: usize| found.map(|at| at + len).filter(|&at| at > half);
    let sentence = ['。', '！', '？', '．', '；'];
    let wide = text.rmatch_indices(sentence).next().map(|(at, end)| at + end.len());
    let narrow = [". ", "! ", "? ", "; "].iter().filter_map(|end| text.rfind(end)).max();
    after(text.rfind('\n'), 1)
        .or_else(|| after(wide, 0).max(after(narrow, 2)))
        .or_else(|| after(text.rfind(' '), 1))
        .unwrap_or(text.len())
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    // Spaces at the start of a line may be Markdown: they stay.
    let blank = inner.len() - inner.trim_start().len();
    let start = inner[..blank].rfind('\n').map_or(0, |at| at + 1);
    let start = if inner.trim_start().is_empty() { blank } else { start };
    let end = inner.trim_end().len().max(start);
    range.start + start..range.start + end
}

/// The numbers of lines in a text, for ranges in order.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    pub(super) fn of(&mut self, range: &Range<usize>) -> RangeInclusive<usize> {
        self.line += newlines(&self.text[self.at..range.start]);
        self.at = range.start;
        self.line..=self.line + newlines(&self.text[range.clone()])
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
