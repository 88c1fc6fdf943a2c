//! Valid values of each kind.

use hooks_agent_builtin::guard::pii::PiiKind;

use super::random::Random;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// A value of a kind, in a form that `count` chooses; telephone numbers of the country of a language.
pub(crate) fn value(kind: PiiKind, language: usize, count: usize, random: &mut Random) -> String {
    match kind {
        PiiKind::Email => email(count, random),
        PiiKind::CreditCard => card(count, random),
        PiiKind::Ipv4 => ipv4(random),
        PiiKind::Ipv6 => ipv6(count, random),
        PiiKind::MacAddress => mac(count, random),
        PiiKind::Url => url(count, random),
        PiiKind::Phone => random.shape(PHONES[language][count % PHONES[language].len()]),
        PiiKind::Iban => iban(count, random),
        other => unreachable!("{other:?} has no values"),
    }
}

fn word(random: &mut Random) -> String {
    let length = random.within(2, 9);
    random.string(LETTERS, length)
}

fn host(random: &mut Random) -> String {
    const TOPS: [&str; 12] = [
        "com", "org", "net", "de", "fr", "es", "cn", "co.jp", "ru", "com.sa", "museum", "xn--p1ai",
    ];
    let top = random.of(&TOPS);
    match random.below(3) {
        0 => format!("{}.{top}", word(random)),
        1 => format!("{}-{}.{top}", word(random), word(random)),
        _ => format!("{}.{}.{top}", word(random), word(random)),
    }
}

fn email(count: usize, random: &mut Random) -> String {
    let (first, last) = (word(random), word(random));
    let local = match count % 6 {
        0 => first,
        1 => format!("{first}.{last}"),
        2 => format!("{first}+{last}"),
        3 => format!("{first}_{last}{}", random.digits(2)),
        4 => format!("{}-{last}", first.to_uppercase()),
        _ => format!("{}o'{last}", random.of(&["m", "x", "j"])),
    };
    format!("{local}@{}", host(random))
}

/// The check digit of Luhn behind these digits.
fn luhn(digits: &str) -> u32 {
    let sum = digits.bytes().rev().enumerate().fold(0, |sum, (index, digit)| {
        let doubled = u32::from(digit - b'0') * if index % 2 == 0 { 2 } else { 1 };
        sum + doubled / 10 + doubled % 10
    });
    (10 - sum % 10) % 10
}

fn card(count: usize, random: &mut Random) -> String {
    const ISSUERS: [(&str, usize, &[usize]); 10] = [
        ("4", 16, &[4, 4, 4, 4]),
        ("51", 16, &[4, 4, 4, 4]),
        ("37", 15, &[4, 6, 5]),
        ("6011", 16, &[4, 4, 4, 4]),
        ("3530", 16, &[4, 4, 4, 4]),
        ("36", 14, &[4, 6, 4]),
        ("62", 19, &[4, 4, 4, 4, 3]),
        ("2221", 16, &[4, 4, 4, 4]),
        ("2202", 16, &[4, 4, 4, 4]),
        ("4", 13, &[4, 3, 3, 3]),
    ];
    let (head, length, groups) = ISSUERS[(count / 3 + random.below(10)) % ISSUERS.len()];
    let digits = format!("{head}{}", random.digits(length - head.len() - 1));
    let digits = format!("{digits}{}", luhn(&digits));
    grouped(&digits, groups, ["", " ", "-"][count % 3])
}

fn grouped(digits: &str, groups: &[usize], separator: &str) -> String {
    let mut rest = digits;
    let groups = groups.iter().map(|length| {
        let (group, behind) = rest.split_at(*length);
        rest = behind;
        group
    });
    groups.collect::<Vec<_>>().join(separator)
}

fn ipv4(random: &mut Random) -> String {
    let octets: Vec<_> = (0..4).map(|_| random.below(256).to_string()).collect();
    octets.join(".")
}

fn ipv6(count: usize, random: &mut Random) -> String {
    let mut groups = |count: usize| {
        let groups = (0..count).map(|_| format!("{:x}", 0x1000 + random.below(0xEFFF)));
        groups.collect::<Vec<_>>().join(":")
    };
    match count % 7 {
        0 => format!("2001:db8:{}", groups(6)),
        1 => format!("2a02:{}::{}", groups(2), groups(1)),
        2 => format!("fe80::{}", groups(4)),
        3 => format!("fe80::{}%eth0", groups(2)),
        4 => format!("2001:DB8::{}", groups(3).to_uppercase()),
        5 => format!("2001:0db8:{}::", groups(2)),
        _ => format!("::ffff:{}", ipv4(random)),
    }
}

fn mac(count: usize, random: &mut Random) -> String {
    let pairs: Vec<_> = (0..6).map(|_| random.hex(2)).collect();
    let address = pairs.join([":", "-"][count % 2]);
    if count % 4 < 2 { address } else { address.to_uppercase() }
}

fn url(count: usize, random: &mut Random) -> String {
    let (host, path) = (host(random), word(random));
    match count % 9 {
        0 => format!("https://{host}"),
        1 => format!("http://{host}/{path}"),
        2 => format!("https://www.{host}/{path}/{}.html?q={}&p=2#top", word(random), word(random)),
        3 => format!("www.{host}"),
        4 => format!("www.{host}/{path}"),
        5 => format!("{}.com/{path}", word(random)),
        6 => format!("ftp://{path}:pw@{host}:2121/{path}"),
        7 => format!("http://{}:8080/{path}", ipv4(random)),
        _ => format!("https://{host}/wiki/{path}_({})", word(random)),
    }
}

/// Shapes of telephone numbers, by language: international, and national ones.
const PHONES: [&[&str]; 8] = [
    &[
        "+1 &## &##-####",
        "+1&##&######",
        "(&##) &##-####",
        "&##-&##-####",
        "+44 20 7### ####",
        "07### ######",
    ],
    &[
        "+49 30 %#######",
        "+49 (0)89 %######",
        "0%## %######",
        "0%##/%######",
        "+43 1 %######",
        "+41 44 %## ## ##",
    ],
    &[
        "+33 6 ## ## ## ##",
        "06 ## ## ## ##",
        "01.##.##.##.##",
        "+32 2 ### ## ##",
        "0033 1 ## ## ## ##",
    ],
    &[
        "+34 6## ### ###",
        "6## ## ## ##",
        "+52 55 #### ####",
        "+54 11 4### ####",
        "+57 3## ### ####",
    ],
    &["+86 138 #### ####", "139########", "010-%#######", "+86 21 %### ####", "158-####-####"],
    &["+81 3-%###-####", "090-%###-####", "03-%###-####", "0120-%##-###", "+81 90 %### ####"],
    &[
        "+7 (495) ###-##-##",
        "8 (495) ###-##-##",
        "+7 9## ###-##-##",
        "8-9##-###-##-##",
        "+79#########",
    ],
    &[
        "+966 5# ### ####",
        "+971 4 ### ####",
        "+20 10 #### ####",
        "+9665########",
        "00966 5# ### ####",
    ],
];

/// A number of a country: its structure has a digit for each `#` and a capital for each `A`.
fn iban(count: usize, random: &mut Random) -> String {
    const STRUCTURES: [(&str, &str); 14] = [
        ("DE", "##################"),
        ("FR", "#######################"),
        ("ES", "####################"),
        ("GB", "AAAA##############"),
        ("NL", "AAAA##########"),
        ("IT", "A######################"),
        ("NO", "###########"),
        ("MT", "AAAA#######################"),
        ("SA", "####################"),
        ("AE", "###################"),
        ("PL", "########################"),
        ("CH", "#################"),
        ("BE", "############"),
        ("SE", "####################"),
    ];
    let (country, structure) = STRUCTURES[count % STRUCTURES.len()];
    let account: String = structure
        .chars()
        .map(|of| {
            if of == 'A' {
                random.string("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1)
            } else {
                random.digits(1)
            }
        })
        .collect();
    let rest = format!("{account}{country}00").bytes().fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    let number = format!("{country}{:02}{account}", 98 - rest);
    let groups = number.as_bytes().chunks(4).map(|group| str::from_utf8(group).unwrap());
    groups.collect::<Vec<_>>().join(["", " "][count / 2 % 2])
}
