//! Reads characters as a browser or a renderer of Markdown sees them.

/// The longest name of an entity that stands for a sign of a URL.
const LONGEST_NAME: usize = 12;
/// The most digits of a reference to a character.
const MOST_DIGITS: usize = 1024;

/// The most blanks before a link, in bytes.
const MOST_BLANKS: usize = 1024;

/// Named entities that stand for signs of URLs, and for what browsers leave out of them.
const ENTITIES: [(&str, char); 27] = [
    ("colon", ':'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("period", '.'),
    ("commat", '@'),
    ("quest", '?'),
    ("num", '#'),
    ("percnt", '%'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("lpar", '('),
    ("rpar", ')'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("lcub", '{'),
    ("equals", '='),
    ("comma", ','),
    ("semi", ';'),
];

/// What stands at a place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A character, and where the next one begins.
    Sign(char, usize),
    /// The text ends here, or within an entity.
    End,
}

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Whether more text may come.
    pub(super) is_open: bool,
    /// Whether escapes of CSS and of JSON are undone, as `\68` and `\u0068`. A backslash is itself otherwise.
    pub(super) undoes_escapes: bool,
}

impl Reading {
    /// Reads the character at a place, with entities of HTML undone.
    pub(super) fn read(self, text: &str, at: usize) -> Read {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Read::End };
        let next = at + first.len_utf8();
        let undone = match first {
            '&' => entity(&rest[1..], self.is_open),
            '\\' if self.undoes_escapes => escape(&rest[1..], self.is_open),
            _ => Undone::None,
        };
        match undone {
            Undone::Of(sign, length) => Read::Sign(sign, next + length),
            Undone::Open => Read::End,
            Undone::None => Read::Sign(first, next),
        }
    }
}

enum Undone {
    /// Its character, and its length after the first sign.
    Of(char, usize),
    /// More text may make one of it.
    Open,
    None,
}

fn length_of(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|it| !is_part(it)).unwrap_or(text.len())
}

fn of_digits(digits: &str, radix: u32) -> Option<char> {
    u32::from_str_radix(digits.trim_start_matches('0'), radix).ok().and_then(char::from_u32)
}

/// Reads what stands after an `&`.
fn entity(text: &str, is_open: bool) -> Undone {
    if text.is_empty() && is_open {
        return Undone::Open;
    }
    if let Some(number) = text.strip_prefix('#') {
        let is_hex = number.starts_with(['x', 'X']);
        let digits = &number[usize::from(is_hex)..];
        let length = length_of(digits, |it| it.is_digit(if is_hex { 16 } else { 10 }));
        if length == digits.len() && is_open && length < MOST_DIGITS {
            return Undone::Open;
        }
        let before = 1 + usize::from(is_hex) + length;
        let sign = of_digits(&digits[..length], if is_hex { 16 } else { 10 });
        return match sign {
            Some(sign) => Undone::Of(sign, before + usize::from(digits[length..].starts_with(';'))),
            None => Undone::None,
        };
    }
    let length = length_of(text, |it| it.is_ascii_alphanumeric());
    if length == text.len() && is_open && length <= LONGEST_NAME {
        return Undone::Open;
    }
    let (name, after) = text.split_at(length);
    let sign = ENTITIES.iter().find(|(known, _)| *known == name).filter(|_| after.starts_with(';'));
    sign.map_or(Undone::None, |(_, sign)| Undone::Of(*sign, length + 1))
}

/// Reads what stands after a backslash.
fn escape(text: &str, is_open: bool) -> Undone {
    let is_json = text.starts_with('u');
    let (digits, most) = if is_json { (&text[1..], 4) } else { (text, 6) };
    let length = length_of(digits, |it| it.is_ascii_hexdigit()).min(most);
    if length == digits.len() && is_open && length < most {
        return Undone::Open;
    }
    let after = &digits[length..];
    // The blank that ends an escape of CSS may come.
    if after.is_empty() && is_open && !is_json {
        return Undone::Open;
    }
    let has_blank = !is_json && after.starts_with([' ', '\t', '\n']);
    match of_digits(&digits[..length], 16) {
        Some(sign) if length > 0 && (!is_json || length == 4) => {
            Undone::Of(sign, usize::from(is_json) + length + usize::from(has_blank))
        }
        _ => Undone::None,
    }
}

/// What [`signs_before`] returns where too many blanks stand before a place.
pub(super) const UNKNOWN: char = '\0';

/// Returns the signs before a place, the last one first, with entities undone, without blanks and what stands before the
/// lines of a quotation in Markdown.
pub(super) fn signs_before(text: &str, at: usize) -> impl Iterator<Item = char> {
    let (start_at, mut at, mut is_first) = (at, at, true);
    std::iter::from_fn(move || {
        loop {
            if start_at - at > MOST_BLANKS {
                return Some(UNKNOWN);
            }
            let last = text[..at].chars().next_back()?;
            let (sign, start) = match last {
                ';' => entity_before(text, at).unwrap_or((last, at - 1)),
                _ => (last, at - last.len_utf8()),
            };
            at = start;
            let is_blank = sign.is_whitespace() || sign.is_control() || is_quotation(text, start);
            if !(is_first && is_blank) {
                is_first = false;
                return Some(sign);
            }
        }
    })
}

/// Returns the entity that ends at a place, and where it begins.
fn entity_before(text: &str, at: usize) -> Option<(char, usize)> {
    let near = text.floor_char_boundary(at.saturating_sub(MOST_DIGITS));
    let start = near + text[near..at].rfind('&')?;
    match (Reading { is_open: false, undoes_escapes: false }).read(text, start) {
        Read::Sign(sign, end) if end == at => Some((sign, start)),
        _ => None,
    }
}

/// Returns whether a `>` or the sign of a list begins a line of Markdown.
fn is_quotation(text: &str, at: usize) -> bool {
    if !text[at..].starts_with(['>', '-', '*', '+']) {
        return false;
    }
    let mut line = text[..at].chars().rev().take(MOST_BLANKS).take_while(|it| *it != '\n');
    line.all(|it| matches!(it, ' ' | '\t' | '>'))
}
