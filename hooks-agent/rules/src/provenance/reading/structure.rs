//! The structure of a result: its values, as JSON or YAML has them, and the records that they are in.

use std::ops::Range;

use serde::de::IgnoredAny;

/// The values of a text, and its records.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    leaves: Vec<Leaf>,
    records: u32,
}

/// A value that has no parts: a text, a number. Its place is without quotes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaf {
    start: u32,
    end: u32,
    /// Where the name of its field is.
    name: (u32, u32),
    /// The number of the record that it is in.
    pub(crate) record: u32,
}

impl Leaf {
    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns where the name of its field is; empty if it has none.
    pub(crate) const fn name(self) -> Range<usize> {
        self.name.0 as usize..self.name.1 as usize
    }
}

impl Structure {
    /// Reads a folded text; `None` if it has no structure.
    pub(crate) fn of(text: &str) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let mut structure = Self::default();
        let is_json = text.trim_start().starts_with(['{', '[']);
        // One value, or several, as in lines.
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        if is_json && values.all(|value| value.is_ok()) {
            structure.add_json(text);
        } else if !structure.add_yaml(text) {
            return None;
        }
        Some(structure)
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// How many records there are.
    pub(crate) const fn records(&self) -> u32 {
        self.records
    }

    /// Returns the leaf in which a place is.
    pub(crate) fn leaf_at(&self, place: &Range<usize>) -> Option<Leaf> {
        let next = self.leaves.partition_point(|leaf| leaf.start as usize <= place.start);
        let leaf = *self.leaves.get(next.checked_sub(1)?)?;
        (place.end <= leaf.end as usize).then_some(leaf)
    }

    fn push(&mut self, range: Range<usize>, name: &Range<usize>) {
        // The text is not longer than a number of 32 bits says.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let record = self.records.saturating_sub(1);
        let name = (place(name.start), place(name.end));
        self.leaves.push(Leaf { start: place(range.start), end: place(range.end), name, record });
    }

    /// Adds the leaves of a text that is JSON.
    ///
    /// Records are the objects in the outermost arrays, and the elements of an array that is the whole text.
    fn add_json(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let (mut at, mut arrays, mut objects) = (0, 0_usize, 0_usize);
        // How many objects are around the outermost array that is open.
        let mut around = None;
        let mut is_new = false;
        // The names of the fields that are open: one of each array and object.
        let (mut name, mut names) = (0..0, Vec::new());
        self.records = 1;
        while let Some(byte) = bytes.get(at) {
            let start = at;
            let is_element = arrays == 1 && around == Some(objects);
            match byte {
                b'"' => {
                    at = end_of_string(bytes, at + 1);
                    let rest = bytes[at + 1..].trim_ascii_start();
                    if rest.first() == Some(&b':') {
                        name = start + 1..at;
                    } else {
                        let is_new = is_element && objects == 0 || std::mem::take(&mut is_new);
                        self.begin_record(is_new);
                        self.push(start + 1..at, &name);
                    }
                }
                b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                    let length = bytes[at..].iter().take_while(|it| is_of_literal(**it)).count();
                    self.begin_record(is_element && objects == 0 || std::mem::take(&mut is_new));
                    self.push(start..start + length, &name);
                    at += length - 1;
                }
                b'[' => {
                    names.push(name.clone());
                    arrays += 1;
                    around.get_or_insert(objects);
                }
                b']' => {
                    name = names.pop().unwrap_or_default();
                    arrays -= 1;
                    if arrays == 0 {
                        around = None;
                    }
                }
                b'{' => {
                    names.push(name.clone());
                    is_new |= is_element || arrays == 0 && objects == 0;
                    objects += 1;
                }
                b'}' => {
                    name = names.pop().unwrap_or_default();
                    objects -= 1;
                    // What follows the records is of none of them.
                    is_new |= arrays == 1 && around == Some(objects);
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn begin_record(&mut self, is_new: bool) {
        if is_new && !self.leaves.is_empty() {
            self.records += 1;
        }
    }

    /// Adds the leaves of a text that is written as YAML, as most programs write it: `name: value` and `- value` in
    /// lines, and what belongs to them deeper. Returns false if it is something else.
    ///
    /// Records are the items of the outermost list.
    fn add_yaml(&mut self, text: &str) -> bool {
        let is_list = text.trim_start().starts_with("- ");
        self.records = 1;
        // The value whose further lines are deeper than this.
        let mut open: Option<(usize, Range<usize>)> = None;
        // The name of the last field.
        let mut last = 0..0;
        // A line of prose with a colon is no record: several fields are, with short names.
        let mut fields = 0;
        let mut is_any = false;
        for (start, line) in lines(text) {
            let body = line.trim();
            let indent = line.len() - line.trim_start().len();
            if let Some((least, range)) = &mut open {
                if body.is_empty() || indent > *least {
                    if !body.is_empty() {
                        range.end = start + line.trim_end().len();
                    }
                    continue;
                }
                let (_, range) = open.take().unwrap_or_default();
                self.push_scalar(text, range, &last);
            }
            if body.is_empty() {
                continue;
            }
            let item = body.len() - body.trim_start_matches("- ").len();
            let item = item.min(line.trim_end().len() - indent);
            if is_list && indent == 0 && item > 0 && is_any {
                self.records += 1;
            }
            is_any = true;
            let (column, content) = (indent + item, body[item..].trim_start());
            let name = name_of(content, column > 0);
            if name.is_none() && item == 0 {
                return false;
            }
            let value = name.map_or(content, |name| content[name..].trim_start());
            if let Some(name) = name {
                fields += usize::from(content[..name].split_whitespace().count() <= MOST_WORDS);
                let start = start + line.trim_end().len() - content.len();
                let written = &content[..name - 1];
                let before = written.len() - written.trim_start_matches(['"', '\'']).len();
                let end = written.trim_end_matches(['"', '\'']).len();
                last = start + before..start + end.max(before);
            }
            // Further lines of an item without a name are deeper than its dash.
            let margin = if name.is_some() { column } else { indent };
            let begin = start + line.trim_end().len() - value.len();
            if !value.is_empty() {
                open = Some((margin, begin..begin + value.len()));
            }
        }
        if let Some((_, range)) = open {
            self.push_scalar(text, range, &last);
        }
        is_any && (fields >= 3 || is_list && self.records >= 2)
    }

    /// Adds a value of YAML: in quotes, a list in one line, or plain.
    fn push_scalar(&mut self, text: &str, range: Range<usize>, name: &Range<usize>) {
        let value = &text[range.clone()];
        let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
        if let Some(list) = list.filter(|list| !list.contains(['\n', '[', '{'])) {
            let mut at = range.start + 1;
            for item in list.split(',') {
                let blanks = item.len() - item.trim_start().len();
                let start = at + blanks;
                self.push_unquoted(text, start..start + item.trim().len(), name);
                at += item.len() + 1;
            }
            return;
        }
        self.push_unquoted(text, range, name);
    }

    fn push_unquoted(&mut self, text: &str, range: Range<usize>, name: &Range<usize>) {
        let value = &text[range.clone()];
        let is_quoted =
            |quote| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
        if value.is_empty() {
            return;
        }
        let is_in_quotes = is_quoted('"') || is_quoted('\'');
        let inner = if is_in_quotes { range.start + 1..range.end - 1 } else { range };
        self.push(inner, name);
    }
}

/// Returns the place of the quote that ends a string of JSON.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len() - 1
}

const fn is_of_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// Returns the length of the name of a field with its colon, if a line begins with one.
fn name_of(line: &str, is_inner: bool) -> Option<usize> {
    let colon = line.match_indices(':').map(|(at, _)| at);
    let ends = |at: &usize| matches!(line.as_bytes().get(at + 1), None | Some(b' ' | b'\t'));
    let colon = colon.into_iter().find(ends)?;
    let name = line[..colon].trim_matches(['"', '\'']);
    let is_of_name = |it: char| {
        it.is_alphanumeric()
            || matches!(it, '_' | '-' | '.' | ' ' | '/')
            || is_inner && matches!(it, '@' | '+' | ':' | '(' | ')')
    };
    let is_name = !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_of_name);
    is_name.then_some(colon + 1)
}

/// The most words of the name of a field that makes a text a record.
const MOST_WORDS: usize = 3;

/// The longest name of a field, in bytes.
const LONGEST_NAME: usize = 64;

/// Returns the lines of a text, with the places where they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line)
    })
}

#[cfg(test)]
mod tests {
    use super::Structure;

    fn leaves(text: &str) -> Vec<(u32, &str)> {
        let structure = Structure::of(text).expect("a structure");
        structure.leaves().iter().map(|leaf| (leaf.record, &text[leaf.range()])).collect()
    }

    #[test]
    fn values_of_json_are_in_records() {
        let text = r#"[{"id": "7", "to": ["a", "b"], "n": 12.5}, {"id": "8: \"x\"", "sub": {"of": null}}]"#;
        let expected = [(0, "7"), (0, "a"), (0, "b"), (0, "12.5"), (1, r#"8: \"x\""#), (1, "null")];
        assert_eq!(leaves(text), expected);
        assert_eq!(leaves(r#"["x", "y"]"#), [(0, "x"), (1, "y")]);
        assert_eq!(leaves(r#"{"total": 2, "items": [{"a": 1}, {"a": 2}]}"#).len(), 3);
        assert_eq!(leaves(r#"{"a": "b", "c": {"d": ["e", "f"]}}"#), [(0, "b"), (0, "e"), (0, "f")]);
        let nested =
            leaves(r#"{"of": "x", "items": [{"a": [1, 2]}, {"a": {"b": 3}}], "total": 2}"#);
        assert_eq!(nested, [(0, "x"), (1, "1"), (1, "2"), (2, "3"), (3, "2")]);
    }

    #[test]
    fn values_of_yaml_are_in_records() {
        let text = "- body: hey\n    - id: 9\n  ids: [1, 'two']\n  to:\n  - ann\n  - bob\n- body: '\n\n    - id: 3\n    '\n";
        let expected = [
            (0, "hey\n    - id: 9"),
            (0, "1"),
            (0, "two"),
            (0, "ann"),
            (0, "bob"),
            (1, "\n\n    - id: 3\n    "),
        ];
        assert_eq!(leaves(text), expected);
        assert_eq!(leaves("- general\n- two\n   three"), [(0, "general"), (1, "two\n   three")]);
        assert_eq!(
            leaves("id: 1\nof: x\nshared:\n  ann@corp.example: rw"),
            [(0, "1"), (0, "x"), (0, "rw")]
        );
        assert_eq!(
            leaves("id: 1\nof: x\nnames:\n- a\n- b"),
            [(0, "1"), (0, "x"), (0, "a"), (0, "b")]
        );
    }

    #[test]
    fn values_have_the_names_of_their_fields() {
        let names = |text: &str| -> String {
            let structure = Structure::of(text).expect("a structure");
            let names = structure.leaves().iter().map(|leaf| text[leaf.name()].to_owned());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(r#"[{"a": 1, "to": ["x", {"b": "y"}, "z"], "c": null}]"#), "a to b to c");
        assert_eq!(names("- a: 1\n  'to':\n  - x\n  - y\n  c: z"), "a to to c");
        assert_eq!(names("- a\n- b"), " ");
    }

    #[test]
    fn prose_has_no_structure() {
        for text in
            ["", "Hello.", "Dear tenant,\nid: 7", "id: 7\n\nPay it.", "{'id': '7'}", "see: me\nnow"]
        {
            assert!(Structure::of(text).is_none(), "{text:?}");
        }
    }
}
