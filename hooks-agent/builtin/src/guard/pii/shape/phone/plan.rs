//! Numbering plans: the lengths of numbers by country, and the shapes of national numbers.

use crate::guard::pii::shape::phone::groups::{Groups, Separator};
use crate::guard::pii::shape::phone::region::{Region, is_of_any_region};

use Separator::{Dash, Dot, Parenthesis, Slash, Space};

/// Whether these digits are a country code and as many digits as numbers of this country have.
pub(crate) fn is_international(groups: &Groups) -> bool {
    let digits = groups.digits();
    // One dot alone is that of a decimal number.
    let decimal = groups.separators() == [Dot];
    !decimal && digits.len() <= 15 && has_length_of_country(digits)
}

/// Whether these digits are a number of any region, by the table of all.
pub(crate) fn is_listed(groups: &Groups) -> bool {
    groups.separators() != [Dot] && is_of_any_region(groups.digits())
}

/// Whether these groups are a number of the region that says so by itself: with what is dialled before
/// numbers there, or long enough in groups that no other numbers have.
pub(crate) fn is_of_region(groups: &Groups, region: &Region) -> bool {
    let (digits, lengths) = (groups.digits(), groups.lengths());
    let is_grouped = lengths.len() > 1 && is_callable(groups);
    let is_shaped = is_grouped && (lengths.len() < 6 && is_uniform(groups, 1));
    if !region.has(digits) || !(is_shaped || digits.len() >= 9 && lengths.len() == 1) {
        return false;
    }
    match digits[0] {
        b'0' => region.has_prefix(digits) || region.has(digits) && is_shaped,
        _ => is_shaped && digits.len() >= 9,
    }
}

/// Whether somebody may call these groups, if a word says so: enough digits, and neither a date nor an IP
/// address nor a decimal number.
pub(crate) fn is_callable(groups: &Groups) -> bool {
    let (digits, lengths, separators) = (groups.digits(), groups.lengths(), groups.separators());
    let head = digits[..digits.len().min(2)].to_vec();
    let is_date = match lengths {
        [4, 2, 2] | [4, 1..=2, 1..=2] => head == b"19" || head == b"20",
        [1..=2, 1..=2, 4] => !groups.in_parentheses && separators.iter().all(|it| *it != Space),
        _ => false,
    };
    let is_ip = separators == [Dot, Dot, Dot] && lengths.iter().all(|length| *length <= 3);
    let is_decimal = separators == [Dot] && digits.len() < 9;
    let has_groups = lengths.iter().skip(1).all(|length| *length >= 2);
    (7..=15).contains(&digits.len()) && has_groups && !is_date && !is_ip && !is_decimal
}

fn has_length_of_country(digits: &[u8]) -> bool {
    let code = |length: usize| {
        let digits = digits.iter().take(length);
        digits.fold(0, |code, digit| code * 10 + u32::from(digit - b'0'))
    };
    let rest = |length: usize| digits.len().saturating_sub(length);
    match code(1) {
        0 => return false,
        1 => return digits.len() == 11 && is_north_american(&digits[1..]),
        7 => return rest(1) == 10,
        _ => {}
    }
    if let Some((least, most)) = of_two_digits(code(2)) {
        return (least..=most).contains(&rest(2));
    }
    let (least, most) = of_three_digits(code(3));
    digits.len() > 3 && (least..=most).contains(&rest(3))
}

/// The fewest and the most digits after a country code of two digits.
fn of_two_digits(code: u32) -> Option<(usize, usize)> {
    Some(match code {
        27 | 31 | 33 | 34 | 40 | 41 | 48 | 56 | 61 | 93 | 94 => (9, 9),
        30 | 58 | 90 | 91 | 98 => (10, 10),
        36 => (8, 9),
        39 => (8, 11),
        43 => (7, 12),
        44 | 81 => (9, 10),
        45 | 47 | 65 => (8, 8),
        46 | 60 => (7, 10),
        49 => (6, 12),
        52 | 54 | 55 | 86 => (10, 11),
        53 => (6, 8),
        20 | 32 | 51 | 57 | 63 | 64 | 66 | 82 | 84 | 92 | 95 => (8, 10),
        62 => (8, 12),
        _ => return None,
    })
}

/// The same of three digits. Codes that no country has are `(1, 0)`.
fn of_three_digits(code: u32) -> (usize, usize) {
    match code {
        211..=213 | 216 | 218 | 966 | 970..=972 => (8, 9),
        351 | 380 | 420 | 421 => (9, 9),
        350 | 352..=359 | 370..=379 | 381..=389 | 423 => (5, 11),
        220..=269 | 290..=299 => (6, 10),
        500..=509 | 590..=599 | 670..=692 => (5, 9),
        800 | 808 | 850..=859 | 870 | 878 | 880..=888 => (7, 11),
        960..=965 | 967 | 968 | 973..=979 | 992..=998 => (7, 10),
        _ => (1, 0),
    }
}

fn is_north_american(digits: &[u8]) -> bool {
    let is_start = |digit: u8| matches!(digit, b'2'..=b'9');
    digits.len() == 10 && is_start(digits[0]) && is_start(digits[3])
}

/// Whether these groups are a national number of a country whose numbers have a clear shape.
pub(crate) fn is_national(groups: &Groups) -> bool {
    let digits = groups.digits();
    match digits[0] {
        b'0' => !matches!(digits.get(1), None | Some(b'0')) && has_trunk_prefix(groups),
        b'8' if groups.lengths() == [1, 3, 3, 2, 2] => is_uniform(groups, 2),
        b'1' if is_chinese_mobile(groups) => true,
        b'1' if groups.lengths() == [1, 3, 3, 4] => {
            is_north_american(&digits[1..]) && is_uniform(groups, 1)
        }
        b'2'..=b'9' if groups.lengths() == [3, 3, 4] => {
            let joined = matches!(groups.separators(), [Dash, Dash] | [Dot, Dot]);
            is_north_american(digits) && (joined || is_bracketed(groups))
        }
        b'6'..=b'9' => groups.lengths() == [3, 2, 2, 2] && is_uniform(groups, 0),
        _ => false,
    }
}

fn is_chinese_mobile(groups: &Groups) -> bool {
    let shape = matches!(groups.lengths(), [11] | [3, 4, 4]);
    shape && matches!(groups.digits()[1], b'3'..=b'9') && is_uniform(groups, 0)
}

fn is_bracketed(groups: &Groups) -> bool {
    groups.in_parentheses && groups.separators()[0] == Parenthesis
}

/// Whether all separators after the first `free` ones are the same, a space or a dash.
fn is_uniform(groups: &Groups, free: usize) -> bool {
    let mut rest = groups.separators().iter().skip(free).skip_while(|it| **it == Parenthesis);
    let Some(first) = rest.next() else { return true };
    matches!(first, Space | Dash | Dot) && rest.all(|it| it == first)
}

/// Europe, Japan, China, Australia: a zero, an area code, and the number of the subscriber.
fn has_trunk_prefix(groups: &Groups) -> bool {
    let pairs = groups.lengths() == [2; 5];
    let separators = groups.separators();
    if pairs {
        let same = separators.windows(2).all(|pair| pair[0] == pair[1]);
        return same && matches!(separators[0], Space | Dot | Dash);
    }
    let dotted = separators.contains(&Dot);
    let first = separators.first().is_some_and(|first| match first {
        Parenthesis => groups.in_parentheses || groups.lengths()[0] >= 3,
        Slash => groups.lengths()[0] >= 3,
        _ => true,
    });
    let rest = &separators[1.min(separators.len())..];
    let uniform = rest.iter().all(|it| *it == rest[0] && matches!(it, Space | Dash));
    !dotted && first && uniform && has_groups_of_trunk(groups.lengths())
}

fn has_groups_of_trunk(lengths: &[u8]) -> bool {
    let total: u8 = lengths.iter().sum();
    let shape = matches!(lengths, [2, 3 | 4, 4] | [2, 7 | 8] | [3..=5, 5..=8]);
    let shape = shape || matches!(lengths, [3 | 4, 3 | 4, 4] | [4 | 5, 3, 3] | [4, 2, 4]);
    let shape = shape || matches!(lengths, [3, 3 | 4, 2, 2] | [4, 2 | 3, 2, 2]);
    (9..=12).contains(&total) && shape
}
