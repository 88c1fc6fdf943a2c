//! Packed values as JSON.

use serde::Serialize;

use crate::entry::packed::tag::{
    DIGITS, END, FALSE, FLOAT, LIST, LONG_TEXT, MAP, NULL, NUMBER, SHORT_FLOAT, SIGNED, TEXT, TRUE,
    UNSIGNED,
};

/// Adds the JSON of a packed value; of bytes that are cut, the beginning of it.
pub(super) fn add_json(bytes: &[u8], json: &mut Vec<u8>) {
    // What ends early has no more to add.
    let _ = Unpacker { bytes, json }.value();
}

struct Unpacker<'a, 'b> {
    bytes: &'a [u8],
    json: &'b mut Vec<u8>,
}

impl<'a> Unpacker<'a, '_> {
    fn value(&mut self) -> Option<()> {
        let [tag] = self.take()?;
        self.tagged(tag)
    }

    fn tagged(&mut self, tag: u8) -> Option<()> {
        match tag {
            MAP => self.members(*b"{}", |it, tag| {
                let key = it.text(tag)?;
                it.write(key);
                it.json.push(b':');
                it.value()
            })?,
            LIST => self.members(*b"[]", Self::tagged)?,
            NULL => self.write(&()),
            TRUE => self.write(&true),
            FALSE => self.write(&false),
            NUMBER..TEXT => self.write(&(tag - NUMBER)),
            UNSIGNED => {
                let number = u64::from_le_bytes(self.take()?);
                self.write(&number);
            }
            SIGNED => {
                let number = i64::from_le_bytes(self.take()?);
                self.write(&number);
            }
            FLOAT => {
                let number = f64::from_le_bytes(self.take()?);
                self.write(&number);
            }
            SHORT_FLOAT => {
                let number = f32::from_le_bytes(self.take()?);
                self.write(&number);
            }
            DIGITS => {
                let [tag] = self.take()?;
                let digits = self.text(tag)?;
                self.json.extend_from_slice(digits.as_bytes());
            }
            tag => {
                let text = self.text(tag)?;
                self.write(text);
            }
        }
        Some(())
    }

    /// Adds what a map or a list has, up to its end.
    fn members(
        &mut self,
        [begin, end]: [u8; 2],
        mut add: impl FnMut(&mut Self, u8) -> Option<()>,
    ) -> Option<()> {
        self.json.push(begin);
        let mut is_first = true;
        loop {
            let [tag] = self.take()?;
            if tag == END {
                self.json.push(end);
                return Some(());
            }
            if !std::mem::take(&mut is_first) {
                self.json.push(b',');
            }
            add(self, tag)?;
        }
    }

    fn text(&mut self, tag: u8) -> Option<&'a str> {
        let len = match tag {
            LONG_TEXT => usize::try_from(u32::from_le_bytes(self.take()?)).ok()?,
            TEXT.. => usize::from(tag - TEXT),
            _ => return None,
        };
        let (text, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        str::from_utf8(text).ok()
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    fn write<T: Serialize + ?Sized>(&mut self, value: &T) {
        // Numbers and texts can be written.
        let _ = serde_json::to_writer(&mut *self.json, value);
    }
}
