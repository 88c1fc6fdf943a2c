//! The entries of a run, in one buffer.

use std::collections::VecDeque;

use crate::entry::{Label, Packed};

/// From how many bytes on a buffer is made anew when half of it is of entries that are gone.
const LARGE: usize = 16 << 10;

/// The bytes and the entries of a short run.
const ROOM: (usize, usize) = (2 << 10, 24);

/// What an entry takes beside its data: its place, and what its JSON has besides.
const PLACE: usize = 160;

/// The entries of a run: their data one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    bytes: Vec<u8>,
    /// Their numbers rise.
    places: VecDeque<Place>,
    /// How many bytes are of no entry any more.
    gone: usize,
}

/// An entry, and where its data are.
#[derive(Clone, Copy, Debug)]
struct Place {
    label: Label,
    start: usize,
    end: usize,
}

impl Written {
    /// Has room for a short run.
    pub(super) fn with_room() -> Self {
        let (bytes, places) = (Vec::with_capacity(ROOM.0), VecDeque::with_capacity(ROOM.1));
        Self { bytes, places, gone: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many bytes it takes.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.places.len() * PLACE
    }

    /// Adds an entry, whose data are written.
    pub(super) fn push(&mut self, label: Label, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.places.push_back(Place { label, start, end: self.bytes.len() });
    }

    /// Removes the first entry. Returns its number.
    pub(super) fn drop_first(&mut self) -> Option<u64> {
        let Place { label, start, end } = self.places.pop_front()?;
        self.erase(start, end);
        Some(label.seq)
    }

    /// Writes the data of an entry anew, if it is still there.
    pub(super) fn replace(&mut self, seq: u64, write: impl FnOnce(Packed<'_>, &mut Vec<u8>)) {
        let Ok(index) = self.places.binary_search_by_key(&seq, |place| place.label.seq) else {
            return;
        };
        let Place { start, end, .. } = self.places[index];
        let before = self.bytes[start..end].to_owned();
        self.erase(start, end);
        let start = self.bytes.len();
        write(Packed(&before), &mut self.bytes);
        self.places[index].start = start;
        self.places[index].end = self.bytes.len();
    }

    /// Returns how many entries there are up to this number.
    pub(super) fn up_to(&self, seq: u64) -> usize {
        self.places.partition_point(|place| place.label.seq <= seq)
    }

    /// Returns the entries after this number, with their data.
    pub(crate) fn after(&self, seq: u64) -> impl DoubleEndedIterator<Item = (Label, Packed<'_>)> {
        let seen = self.up_to(seq);
        let packed = |place: &Place| Packed(&self.bytes[place.start..place.end]);
        self.places.range(seen..).map(move |place| (place.label, packed(place)))
    }

    /// Leaves nothing of data that are gone.
    fn erase(&mut self, start: usize, end: usize) {
        self.bytes[start..end].fill(0);
        self.gone += end - start;
        if self.gone > LARGE && self.gone > self.bytes.len() / 2 {
            let mut bytes = Vec::with_capacity(self.bytes.len() - self.gone);
            for place in &mut self.places {
                let start = bytes.len();
                bytes.extend_from_slice(&self.bytes[place.start..place.end]);
                (place.start, place.end) = (start, bytes.len());
            }
            (self.bytes, self.gone) = (bytes, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Written;
    use crate::entry::{Label, Packed};

    fn written(texts: &[&str]) -> Written {
        let mut written = Written::default();
        for (seq, text) in (1..).zip(texts) {
            let label = Label { seq, ts: 0, kind: "input" };
            written.push(label, |bytes| bytes.extend_from_slice(text.as_bytes()));
        }
        written
    }

    fn texts(written: &Written, after: u64) -> Vec<(u64, String)> {
        let text = |packed: Packed<'_>| String::from_utf8(packed.bytes().to_owned()).unwrap();
        written.after(after).map(|(label, packed)| (label.seq, text(packed))).collect()
    }

    #[test]
    fn what_is_replaced_or_gone_is_nowhere() {
        let mut written = written(&["one", "secret", "three"]);
        written.replace(2, |before, bytes| {
            assert_eq!(before.bytes(), b"secret");
            bytes.extend_from_slice(b"hidden");
        });
        written.replace(9, |_, _| unreachable!("there is no such entry"));
        let expected = [(1, "one".to_owned()), (2, "hidden".to_owned()), (3, "three".to_owned())];
        assert_eq!(texts(&written, 0), expected);
        assert_eq!(texts(&written, 2), expected[2..]);
        assert_eq!(written.drop_first(), Some(1));
        assert_eq!(texts(&written, 0), expected[1..]);
        let left = String::from_utf8(written.bytes.clone()).unwrap();
        assert!(!left.contains("secret") && !left.contains("one"), "{left}");
    }

    #[test]
    fn a_buffer_is_made_anew_when_most_of_it_is_gone() {
        let text = "x".repeat(1_000);
        let mut written = written(&vec![&*text; 100]);
        for seq in 1..=90 {
            assert_eq!(written.drop_first(), Some(seq));
        }
        assert!(written.cost() < 45_000, "{}", written.cost());
        assert_eq!(texts(&written, 0).len(), 10);
        assert!(texts(&written, 0).iter().all(|(_, left)| *left == text));
    }
}
