//! Reads characters as a browser or a renderer of Markdown sees them.

/// The longest entity of HTML that stands for a sign of a URL.
const LONGEST_ENTITY: usize = 16;

/// Named entities that stand for signs of URLs, and for what browsers leave out of them.
const ENTITIES: [(&str, char); 22] = [
    ("colon", ':'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("period", '.'),
    ("commat", '@'),
    ("quest", '?'),
    ("num", '#'),
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
    ("equals", '='),
    ("comma", ','),
];

/// What stands at a place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A character, and where the next one begins.
    Sign(char, usize),
    /// The text ends here, or within an entity.
    End,
}

/// Reads the character at a place, with entities of HTML undone. `is_final` says that no more text comes.
pub(super) fn read(text: &str, at: usize, is_final: bool) -> Read {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return Read::End };
    let next = at + first.len_utf8();
    if first != '&' {
        return Read::Sign(first, next);
    }
    match entity(&rest[1..], is_final) {
        Entity::Of(sign, length) => Read::Sign(sign, next + length),
        Entity::Open => Read::End,
        Entity::None => Read::Sign('&', next),
    }
}

enum Entity {
    /// Its character, and its length after the `&`.
    Of(char, usize),
    /// More text may make one of it.
    Open,
    None,
}

/// Reads what stands after an `&`.
fn entity(text: &str, is_final: bool) -> Entity {
    let is_of = |it: char| it.is_ascii_alphanumeric() || it == '#';
    let length = text.find(|it| !is_of(it)).unwrap_or(text.len());
    if length > LONGEST_ENTITY {
        // Numbers may have zeros in front without end; nobody writes them so.
        return Entity::None;
    }
    let (name, after) = text.split_at(length);
    if after.is_empty() && !is_final {
        return Entity::Open;
    }
    let with_end = length + usize::from(after.starts_with(';'));
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return match code.ok().and_then(char::from_u32) {
            Some(sign) => Entity::Of(sign, with_end),
            None => Entity::None,
        };
    }
    match ENTITIES.iter().find(|(known, _)| *known == name) {
        Some((_, sign)) if after.starts_with(';') => Entity::Of(*sign, with_end),
        _ => Entity::None,
    }
}
