//! Reads server-sent events.

use crate::mcp::messages::message::MOST_BYTES;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    /// None is `message`.
    pub(crate) name: Option<String>,
    pub(crate) data: Option<Vec<u8>>,
    /// How many milliseconds the server wants a client to wait before it connects again.
    pub(crate) retry: Option<u64>,
}

/// An event has more bytes than a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads events from the bytes of a stream, wherever they are cut.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    event: Event,
    /// A line break that follows belongs to the one before.
    is_after_return: bool,
    has_begun: bool,
}

impl Events {
    /// Reads bytes up to the end of the next event, which it returns, and takes them off.
    pub(crate) fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            let is_second = std::mem::take(&mut self.is_after_return) && byte == b'\n';
            match byte {
                b'\n' if is_second => {}
                b'\n' | b'\r' => {
                    self.is_after_return = byte == b'\r';
                    if let Some(event) = self.end_of_line() {
                        return Ok(Some(event));
                    }
                }
                _ if self.line.len() + self.event.data.as_ref().map_or(0, Vec::len)
                    >= MOST_BYTES + "data: ".len() =>
                {
                    return Err(TooLong);
                }
                _ => self.line.push(byte),
            }
        }
        Ok(None)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (event != Event::default()).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        self.field(field, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    fn field(&mut self, field: &[u8], value: &[u8]) {
        let text = || str::from_utf8(value).ok().map(str::to_owned);
        match field {
            b"data" => match &mut self.event.data {
                None => self.event.data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"id" => self.event.id = text().filter(|id| !id.contains('\0')),
            b"event" => self.event.name = text().filter(|name| !name.is_empty()),
            b"retry" => self.event.retry = text().and_then(|text| text.parse().ok()),
            _ => {}
        }
    }
}

impl Event {
    /// Returns whether it carries a message.
    pub(crate) fn is_message(&self) -> bool {
        self.name.as_deref().is_none_or(|name| name == "message")
    }

    /// Returns it as it is sent, with this data, which has no line breaks.
    pub(crate) fn written(&self, data: &str) -> String {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        let retry = self.retry.map(|retry| format!("retry: {retry}\n")).unwrap_or_default();
        format!("{id}{retry}data: {data}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Events};

    fn read(parts: &[&[u8]]) -> Vec<Event> {
        let (mut events, mut all) = (Events::default(), Vec::new());
        for part in parts {
            let mut rest = *part;
            while let Some(event) = events.read(&mut rest).unwrap() {
                all.push(event);
            }
        }
        all
    }

    #[test]
    fn the_same_bytes_are_the_same_events_wherever_they_are_cut() {
        let text = "\u{feff}id: 1\r\ndata\r\n\r\n:\n\n\revent: x\rdata:a\rdata:  \u{e9}\r\rretry: 5\n\ndata: cut";
        let whole = read(&[text.as_bytes()]);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0].id.as_deref(), Some("1"));
        assert_eq!(whole[1].data.as_deref(), Some("a\n \u{e9}".as_bytes()));
        for cut in 0..text.len() {
            let (first, second) = text.as_bytes().split_at(cut);
            assert_eq!(read(&[first, second]), whole, "{cut}");
        }
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }
}
