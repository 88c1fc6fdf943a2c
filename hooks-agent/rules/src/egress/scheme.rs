//! Reads the scheme of a link.

/// The schemes that pages load, and that programs for chats make links of.
const SCHEMES: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// The letters of a scheme, or of `www`, as far as they are read.
#[derive(Default)]
pub(super) struct Scheme {
    letters: [u8; 5],
    pub(super) length: usize,
}

impl Scheme {
    /// Adds a letter, and returns whether a scheme begins so.
    pub(super) fn push(&mut self, sign: char) -> bool {
        let (Ok(letter), Some(place)) = (u8::try_from(sign), self.letters.get_mut(self.length))
        else {
            return false;
        };
        *place = letter.to_ascii_lowercase();
        self.length += 1;
        let letters = &self.letters[..self.length];
        SCHEMES.into_iter().chain(["www"]).any(|it| it.as_bytes().starts_with(letters))
    }

    pub(super) fn is(&self, scheme: &str) -> bool {
        self.letters[..self.length] == *scheme.as_bytes()
    }

    /// Returns whether it is a scheme.
    pub(super) fn is_known(&self) -> bool {
        SCHEMES.into_iter().any(|it| self.is(it))
    }
}
