//! Values that are secrets by what they look like, for what their name says.

use crate::guard::secrets::names::Word;

/// The fewest bytes of a password.
const PASSWORD: usize = 6;
/// The fewest bytes of a token that only its name says to be one.
const SHORTEST: usize = 14;
/// From so many bytes on, less entropy is enough: hexadecimal digits have less.
const LONG: usize = 24;
const LONG_ENTROPY: f64 = 3.0;
/// The fewest bytes of one in small letters with dashes.
const SHORT: usize = 20;
/// The least entropy of a token, in bits a character.
const ENTROPY: f64 = 3.4;

/// What stands for a secret.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "xxxx",
    "****",
    "....",
    "your_",
    "your-",
    "yourp",
    "placeholder",
    "changeme",
    "change_me",
    "redacted",
    "dummy",
    "insert",
    "<",
    "{{",
    "${",
    "$(",
    "%s",
    "todo",
    "sample",
];

/// Words that are no passwords, but what code and forms say of them.
const NO_PASSWORDS: &[&str] = &[
    "string",
    "password",
    "passwd",
    "required",
    "optional",
    "hidden",
    "undefined",
    "boolean",
    "varchar",
    "false",
    "number",
    "integer",
    "object",
    "default",
    "invalid",
    "incorrect",
    "expired",
    "unknown",
    "missing",
    "forgotten",
    "secret",
    "encrypted",
    "plaintext",
    "correct",
];

/// Whether a value is a secret by itself.
pub(super) fn is_secret(word: Word, value: &[u8], is_quoted: bool, is_said: bool) -> bool {
    if is_placeholder(value) {
        return false;
    }
    match word {
        Word::Pass => is_password(value, is_quoted && !is_said),
        Word::Password if is_said => is_password(value, false) || is_unusual(value),
        Word::Password => is_password(value, is_quoted),
        Word::Secret => is_token(value) || is_number(value),
        Word::Token => is_token(value),
        Word::Key => is_token(value) && !is_uuid(value),
        Word::Authorization => {
            let is_of_header =
                |byte: &u8| byte.is_ascii_alphanumeric() || b"._~+/=-:|".contains(byte);
            let is_url = value.windows(3).any(|part| part == b"://");
            value.len() >= 10
                && value.iter().all(is_of_header)
                && value.iter().any(u8::is_ascii_digit)
                && !is_url
        }
    }
}

/// Whether a text only stands where a secret would.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_filled_in =
        value.len() > 2 && value.first() == Some(&b'%') && value.last() == Some(&b'%');
    let has = |part: &&str| lower.windows(part.len()).any(|it| it == part.as_bytes());
    PLACEHOLDERS.iter().any(has) || is_filled_in || has_sequence(value) || entropy(value) < 0.9
}

/// Whether nobody says this of a password: `the password is opensesame`, and not `is required`.
fn is_unusual(value: &[u8]) -> bool {
    const ENDS: &[&[u8]] = &[
        b"ed", b"ing", b"ble", b"ive", b"ary", b"ory", b"ent", b"ant", b"ect", b"ong", b"ten",
        b"ly", b"ier", b"sen",
    ];
    let lower = value.to_ascii_lowercase();
    let is_known = NO_PASSWORDS.iter().any(|it| it.as_bytes() == lower);
    value.len() >= 8
        && value.iter().all(u8::is_ascii_alphanumeric)
        && !is_known
        && !ENDS.iter().any(|end| lower.ends_with(end))
}

fn is_password(value: &[u8], is_quoted: bool) -> bool {
    let length = value.len();
    let lower = value.to_ascii_lowercase();
    if !(PASSWORD..=128).contains(&length) || NO_PASSWORDS.iter().any(|it| it.as_bytes() == lower) {
        return false;
    }
    // `Enter your password` is a label; `/home/ada` is a folder.
    let is_label = [&b"passw"[..], b"your", b"enter "]
        .iter()
        .any(|it| lower.windows(it.len()).any(|part| part == *it));
    let has_folders = value.iter().skip(1).any(|byte| *byte == b'/');
    let is_path = matches!(value.first(), Some(b'/' | b'~')) && (!is_quoted || has_folders);
    // `required(true)` and `values[0]` are code.
    let word =
        value.iter().take_while(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte)).count();
    let is_code = !is_quoted && matches!(value.get(word), Some(b'(' | b'[' | b'{' | b'<'))
        || value.windows(2).any(|pair| pair == b"!(")
        || matches!(value.first(), Some(b'!' | b'@'));
    if is_label || is_path || is_code || value.starts_with(b"$") {
        return false;
    }
    // `config.password2` is a place in code.
    if !is_quoted && value.contains(&b'.') && is_of_words(value) {
        return false;
    }
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_mark = value.iter().any(|byte| byte.is_ascii_punctuation() && !b"_-.:/".contains(byte));
    is_quoted || has_digit || has_mark
}

/// Whether a text looks as if a program had drawn it.
pub(super) fn is_random(text: &[u8]) -> bool {
    text.len() >= SHORTEST && is_token(text) && !is_placeholder(text)
}

fn is_number(value: &[u8]) -> bool {
    (8..=64).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Whether letters or digits follow each other as in the alphabet: somebody filled a form in.
pub(super) fn has_sequence(text: &[u8]) -> bool {
    const LENGTH: usize = 7;
    let follows = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && pair[1] == pair[0] + 1;
    text.windows(LENGTH).any(|part| part.windows(2).all(follows))
}

fn is_token(value: &[u8]) -> bool {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+/=~-".contains(byte);
    let parts = value.split(|byte| *byte == b'.').map(<[u8]>::len);
    // Names of hosts, classes and files have parts.
    let is_dotted = value.contains(&b'.') && parts.max().is_none_or(|longest| longest < SHORTEST);
    let is_joined = value.iter().any(|byte| b"_-".contains(byte));
    let is_short = value.len() < SHORT && is_joined && !is_mixed(value);
    value.len() >= SHORTEST
        && !is_short
        && !is_dotted
        && value.iter().all(is_of_token)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && entropy(value) >= if value.len() >= LONG { LONG_ENTROPY } else { ENTROPY }
        && !is_of_words(value)
}

/// Whether letters have both cases, as random ones do.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase)
}

/// Whether a text is made of words and numbers, as names of files, versions and variables are.
fn is_of_words(value: &[u8]) -> bool {
    let parts = value.split(|byte| b"_.+/=~-".contains(byte)).filter(|part| !part.is_empty());
    parts.into_iter().all(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let letters = part.len() - digits;
        let turns =
            part.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        // `v2`, `utf8`, `2024`, `sha256`, `userName`.
        let is_name = turns.count() <= 2 && digits <= 5 && part.len() < 16 && is_readable(part);
        is_name || (letters == 0 && digits <= 10)
    })
}

/// Whether letters have vowels, and capitals only where words begin.
fn is_readable(part: &[u8]) -> bool {
    let letters: Vec<_> = part.iter().filter(|byte| byte.is_ascii_alphabetic()).collect();
    let vowels = letters.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    let capitals = letters.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let is_one_case = capitals == 0 || capitals == letters.len();
    letters.len() <= 4
        || vowels * 6 >= letters.len() && (is_one_case || capitals * 3 <= letters.len())
}

fn is_uuid(value: &[u8]) -> bool {
    let dashes = [8, 13, 18, 23];
    let is_right = |(at, byte): (usize, &u8)| {
        if dashes.contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() }
    };
    value.len() == 36 && value.iter().enumerate().all(is_right)
}

/// Shannon's entropy, in bits a byte.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    let length = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::{entropy, is_secret};
    use crate::guard::secrets::names::Word;

    #[test]
    fn entropy_is_in_bits_a_byte() {
        assert!(entropy(b"aaaa").abs() < 1e-9 && (entropy(b"abcd") - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_token_is_no_name_of_words() {
        for value in
            ["k7Gz2mQp9XvB4nRt", "9f86d081884c7d659a2f", "4f3c2a1b-9d8e-4c7b-8a6f-5e4d3c2b1a09"]
        {
            assert!(is_secret(Word::Token, value.as_bytes(), true, false), "{value}");
        }
        for value in [
            "user_profile_v2",
            "my-service-2024",
            "primaryKeyName1",
            "src/main/utf8.rs",
            "release-1.2.3",
            "xxxxxxxxxxxxxxx1",
            "your_api_key_here1",
            "sha256-digest-name",
        ] {
            assert!(!is_secret(Word::Token, value.as_bytes(), true, false), "{value}");
        }
    }

    #[test]
    fn a_password_is_what_a_person_would_choose() {
        for (value, is_quoted) in
            [("hunter2", false), ("Tr0ub4dor&3", false), ("letmein", true), ("correct horse", true)]
        {
            assert!(is_secret(Word::Password, value.as_bytes(), is_quoted, false), "{value}");
        }
        for (value, is_quoted) in [
            ("string", true),
            ("required", false),
            ("self.password", false),
            ("getPassword()", false),
            ("${DB_PASS}", true),
            ("os.environ", false),
            ("short", true),
            ("********", true),
        ] {
            assert!(!is_secret(Word::Password, value.as_bytes(), is_quoted, false), "{value}");
        }
    }
}
