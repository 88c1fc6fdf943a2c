//! Finds the places of a text where a link may begin.

/// How many bytes are looked at together.
const BLOCK: usize = 32;

/// Returns the first place from here on where a link may begin.
///
/// Most texts have none for long: whole blocks are passed over, by a loop that the compiler makes wide.
pub(super) fn next_place(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(block) = bytes.get(at..=at + BLOCK) {
        let pairs = block[..BLOCK].iter().zip(&block[1..]);
        if pairs.fold(false, |any, (first, second)| any | may_begin(*first, *second)) {
            let mut places = at..at + BLOCK;
            if let Some(place) = places.find(|place| begins(&bytes[*place..])) {
                return Some(place);
            }
        }
        at += BLOCK;
    }
    (at..bytes.len()).find(|place| begins(&bytes[*place..]))
}

/// Returns whether a link may begin with these bytes: with a scheme, with slashes, or with what is undone.
#[expect(clippy::needless_bitwise_bool, reason = "it is made wide without branches")]
const fn may_begin(first: u8, second: u8) -> bool {
    // Tabs, newlines, backslashes and entities may stand within.
    let is_left_out = (second == b'\t')
        | (second == b'\n')
        | (second == b'\r')
        | (second == b'\\')
        | (second == b'&');
    let is_slash = (first == b'/') & ((second == b'/') | is_left_out);
    let is_undone = (first == b'&') | (first == b'\\');
    let (first, second) = (first | 0x20, second | 0x20);
    let is_h = (first == b'h') & ((second == b't') | is_left_out);
    let is_w = (first == b'w') & ((second == b'w') | (second == b's') | is_left_out);
    let is_f = (first == b'f') & ((second == b't') | (second == b'i') | is_left_out);
    is_undone | is_slash | is_h | is_w | is_f
}

fn begins(bytes: &[u8]) -> bool {
    let is_left_out = |it: &u8| matches!(it, b'\t' | b'\n' | b'\r' | b'\\' | b'&');
    let [first, rest @ ..] = bytes else { return false };
    let first = first.to_ascii_lowercase();
    let Some(second) = rest.first() else { return b"&\\/hwf".contains(&first) };
    match first {
        b'&' | b'\\' => true,
        b'/' => *second == b'/' || is_left_out(second),
        b'h' | b'w' | b'f' if is_left_out(second) => true,
        letter @ (b'h' | b'w' | b'f') => {
            let third = rest.get(1).filter(|it| !is_left_out(it)).map(u8::to_ascii_lowercase);
            matches!(
                (letter, second.to_ascii_lowercase(), third),
                (b'h', b't', None | Some(b't'))
                    | (b'w', b'w', None | Some(b'w'))
                    | (b'w', b's', None | Some(b's' | b':'))
                    | (b'f', b't', None | Some(b'p'))
                    | (b'f', b'i', None | Some(b'l'))
            )
        }
        _ => false,
    }
}
