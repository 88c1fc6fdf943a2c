//! Places of values in a JSON text.

use crate::command::settings::imported::Position;

/// A step into a JSON value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Returns the place of the value at the end of the steps, or of the last value on the way that is
/// there. The text is valid JSON.
pub(super) fn position(text: &str, steps: &[Step<'_>]) -> Position {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    let mut found = reader.at;
    for step in steps {
        if !reader.enter(*step) {
            break;
        }
        found = reader.at;
    }
    let before = &text[..found];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    Position { line, column: before[line_start..].chars().count() + 1 }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Moves from the start of a value to the start of one of its items. Of two equal keys the last
    /// counts, as in the value that is read.
    fn enter(&mut self, step: Step<'_>) -> bool {
        let start = self.at;
        let mut found = None;
        let mut index = 0;
        let is_object = self.peek() == Some(b'{');
        if !is_object && self.peek() != Some(b'[') {
            return false;
        }
        self.at += 1;
        loop {
            self.skip_space();
            if !self.peek().is_some_and(|byte| byte != b'}' && byte != b']') {
                break;
            }
            let mut key = None;
            if is_object {
                key = serde_json::from_str::<String>(self.string()).ok();
                self.skip_space();
                // The colon.
                self.at += 1;
                self.skip_space();
            }
            let is_it = match step {
                Step::Key(wanted) => key.as_deref() == Some(wanted),
                Step::Index(wanted) => !is_object && index == wanted,
            };
            if is_it {
                found = Some(self.at);
            }
            self.skip_value();
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
            index += 1;
        }
        self.at = found.unwrap_or(start);
        found.is_some()
    }

    /// Skips a string and returns it, with its quotes.
    fn string(&mut self) -> &'a str {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
            if depth == 0 && self.peek().is_none_or(|byte| b",]}".contains(&byte)) {
                return;
            }
        }
    }
}
