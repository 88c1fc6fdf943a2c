//! Matches do not depend on how a text was cut.

use std::ops::Range;

use hooks_agent_builtin::guard::SecretScanner;
use hooks_agent_builtin::guard::pii::{
    Kinds, PiiCallback, PiiConfidence, PiiDetector, PiiKind, PiiMatch, PiiPattern, PiiScanner,
};

type Matches = Vec<(String, Range<usize>)>;

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

fn whole(detector: &dyn PiiDetector, text: &str) -> Matches {
    let (mut from, mut found) = (0, Vec::new());
    while let Some(PiiMatch { kind, range, .. }) = detector.find(text, from) {
        assert!(range.start >= from && range.end > range.start, "{range:?} from {from}: {text:?}");
        from = range.end;
        found.push((kind.into_owned(), range));
    }
    found
}

/// Feeds a text in parts, and forgets all but `context` bytes of what is final.
fn streamed(detector: &dyn PiiDetector, text: &str, cuts: &[usize], context: usize) -> Matches {
    let (mut base, mut from, mut found) = (0, 0, Vec::new());
    for end in cuts.iter().copied().chain([text.len()]) {
        let known = &text[base..end];
        let settled = base + detector.settled(known, from - base);
        assert!((from..=end).contains(&settled), "{settled} of {from}..{end}: {text:?}");
        assert!(text.is_char_boundary(settled), "{settled} of {text:?}");
        while let Some(next) = detector.find(known, from - base) {
            let range = base + next.range.start..base + next.range.end;
            if range.start >= settled {
                break;
            }
            from = range.end;
            found.push((next.kind.into_owned(), range));
        }
        from = from.max(settled);
        base = base.max(text.floor_char_boundary(from.saturating_sub(context)));
    }
    let rest = whole_from(detector, &text[base..], from - base).into_iter();
    found.extend(rest.map(|(kind, range)| (kind, base + range.start..base + range.end)));
    found
}

fn whole_from(detector: &dyn PiiDetector, text: &str, from: usize) -> Matches {
    let (mut from, mut found) = (from, Vec::new());
    while let Some(next) = detector.find(text, from) {
        from = next.range.end;
        found.push((next.kind.into_owned(), next.range));
    }
    found
}

fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).skip(1).collect()
}

#[track_caller]
fn check(name: &str, detector: &dyn PiiDetector, text: &str, cuts: &[usize]) {
    let whole = whole(detector, text);
    // The word before a number is read, too.
    let short = match name {
        "secrets" => 1000,
        "all" | "ids" | "regions" | "Phone" | "CreditCard" | "Coordinates" | "BirthDate" => 120,
        _ => 8,
    };
    for context in [usize::MAX, short] {
        let streamed = streamed(detector, text, cuts, context);
        assert_eq!(streamed, whole, "{name}, cut at {cuts:?}: {text:?}");
    }
}

/// Checks a text that is cut in two anywhere, after each character, and at random places.
fn check_all_cuts(name: &str, detector: &dyn PiiDetector, text: &str, random: &mut Random) {
    let places = boundaries(text);
    check(name, detector, text, &places);
    for place in &places {
        check(name, detector, text, &[*place]);
    }
    let some: Vec<_> = places.iter().copied().filter(|_| random.below(4) == 0).collect();
    check(name, detector, text, &some);
}

fn detectors() -> Vec<(String, Box<dyn PiiDetector>)> {
    let mut detectors: Vec<(String, Box<dyn PiiDetector>)> = Vec::new();
    for kind in PiiKind::ALL.into_iter().filter(|kind| *kind < PiiKind::UsSsn) {
        detectors.push((format!("{kind:?}"), Box::new(PiiScanner::new([kind]))));
    }
    detectors.push(("all".to_owned(), Box::new(PiiScanner::all())));
    let ids = PiiScanner::new(Kinds::ids()).min_confidence(PiiConfidence::Low);
    detectors.push(("ids".to_owned(), Box::new(ids)));
    let regions = PiiScanner::new([PiiKind::Phone]).phone_regions(["DE", "US", "ES"]).unwrap();
    detectors.push(("regions".to_owned(), Box::new(regions)));
    let pattern = PiiPattern::new("key", r"(?-u:\b)k[0-9a-z]{2,20}(?-u:\b)").unwrap();
    detectors.push(("pattern".to_owned(), Box::new(pattern.with_window(24))));
    let callback = PiiCallback::new(|text| {
        text.match_indices("ab").map(|(at, it)| PiiMatch::new("ab", at..at + it.len())).collect()
    });
    detectors.push(("callback".to_owned(), Box::new(callback.with_window(2))));
    detectors
}

/// Parts of personal data and what is around them.
const PARTS: &[&str] = &[
    "a",
    "ana",
    "@",
    "b.co",
    "m",
    ".",
    ",",
    "1",
    "12",
    "0",
    "192.168.",
    "1.1",
    "255",
    ":",
    "::",
    "fe80",
    "2001:db8",
    "%eth0",
    "-",
    "00:1A:",
    "2B:3C:4D:5E",
    "00-1A-2B-",
    "+",
    "+49",
    "(0)",
    "(",
    ")",
    "30 ",
    "4111 1111 ",
    "1111",
    "4111111111111111",
    "3782 822463 10005",
    "DE89 ",
    "DE",
    "3704 0044 0532 ",
    "0130 00",
    "DE89370400440532013000",
    "http",
    "://",
    "www",
    "www.",
    "example.com",
    "/",
    "x",
    "?q=1",
    "#f",
    "，",
    "dob ",
    "1985年",
    "3月",
    "12日",
    "12-Mar-",
    "19850312",
    "请",
    "例え.",
    "://テスト",
    "😀",
    "é",
    " ",
    " ",
    " ",
    "\n",
    "'",
    "\"",
    "]",
    "[",
    "415",
    "-555-",
    "2671",
    "0171/",
    " / ",
    "1234567",
    "01 23 45 67 89",
    "138 0013 8000",
    "12:30:45",
    "1.2.3.4.5",
    "::1",
    "ab",
    "k12",
    "kab9",
    "_",
    "com",
    "org/",
    "XX",
    "мир",
    "؟",
    "8080",
    "nats",
    "redis://",
    ":p^w@",
    ":pw@h",
    "=",
    "bounces+12-ana=",
    "SRS0=HHH=TT=",
    "2x.png",
    "1.2.0-beta.rc",
    ".png",
    "\u{200b}",
    "\u{a0}",
    "\u{ad}",
    "＠",
    "．",
    "１",
    "４５３２",
    "–",
    "。",
    "&",
    "&#64;",
    "&#",
    "64;",
    "&nbsp;",
    "%",
    "%40",
    "40",
    "\\",
    "\\u0040",
    "\\n",
    "\\/",
    "\r",
    "\r\n",
    "ａｎａ",
    "SSN ",
    "219-09-",
    "9999",
    "AB ",
    "12 34 56 ",
    "C",
    "DE ",
    "136 695 976",
    "RSS MRA ",
    "85T10 A562S",
    "tel ",
    "Phone: ",
    "reach me at ",
    "card ",
    "x123",
    "467 3395",
    "415 555 0132",
    "+98 9601",
    "born ",
    "March ",
    "12, ",
    "1985",
    "12.",
    "03.",
    "de marzo de ",
    "1st",
    "gps ",
    "48.8566",
    ", ",
    "2.3522",
    "° N",
    "0x",
    "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "bc1",
    "passport ",
    "A1234567",
];

/// Personal data, some of it with what lengthens or refutes it.
const VALUES: &[&str] = &[
    "ana@b.co",
    "o'neil@a-b.com",
    "4111 1111 1111 1111",
    "4111111111111111",
    "3782 822463 10005",
    "192.168.1.1",
    "1.2.3.4",
    "2001:db8::1",
    "::ffff:1.2.3.4",
    "fe80::1%eth0",
    "00:1A:2B:3C:4D:5E",
    "http://a.de/b",
    "www.a.de",
    "a.de/b",
    "https://a.de/(b)?c=[d]",
    "+49 30 901820",
    "+1 (415) 555-2671",
    "415-555-2671",
    "01 23 45 67 89",
    "13800138000",
    "8 (495) 123-45-67",
    "DE89 3704 0044 0532 0130 00",
    "NO9386011117947",
    "k12ab",
    "219-09-9999",
    "JG 10 30 59 A",
    "11010519491231002X",
    "529.982.247-25",
    "DE136695976",
    "X1234567L",
    "001a.2b3c.4d5e",
    "6304 1234 5678 9012 8",
    "345-899-3560x458",
    "tel 467 3395",
    "card 630427373398",
    "030 901820",
    "born March 12, 1985",
    "dob 12. 3. 1985",
    "born 12 de marzo de 1985",
    "lat 48.8566, 2.3522",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "passport C01X00T47",
    "passport A1234567",
];

/// Parts of secrets and what is around them.
const SECRETS: &[&str] = &[
    "a",
    "1",
    " ",
    "\n",
    "\"",
    "'",
    "=",
    " = ",
    ": ",
    ":",
    "@",
    "/",
    ",",
    ".",
    "-",
    "_",
    "é",
    "请",
    "\u{200b}",
    "%40",
    "\\n",
    "&amp;",
    "password",
    "myToken",
    "api_key",
    "Authorization: ",
    "Bearer ",
    "is ",
    "hunter2",
    "Tr0ub4dor&3",
    "correct horse 7",
    "k7Gz2mQp9XvB4nRt",
    "9f86d081884c7d659a2f",
    "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",
    "ghp_",
    "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17",
    "glpat-in51j7rfpgxixxlpzahi",
    "AKIA",
    "AKIAQYLPMN5HHHFPZAM2",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl",
    "eyJhbGciOiJIUzI1NiJ9.",
    "-----BEGIN",
    " RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIBftnHPp22SewYmmEoMcX8VwI4IH\n",
    "-----END PRIVATE KEY-----",
    "-----",
    "postgres://app:k3Yq-9z@db/shop",
    "://",
    "ana:s3cr3t@",
    "adafruit",
    "rkugnn-i3pol3fdata_hoaxv3moewlte",
    "curl -u ana:s3cr3t ",
    "deploy --password ",
    "\"my own 7 words\"",
    "xxxx",
    "${TOKEN}",
];

/// A text of parts of secrets.
fn text_with_secrets(random: &mut Random) -> String {
    let parts = 1 + random.below(9);
    (0..parts).map(|_| SECRETS[random.below(SECRETS.len())]).collect()
}

/// A text of parts, a third of them whole values.
fn text(random: &mut Random) -> String {
    let parts = 1 + random.below(9);
    let part = |_| match random.below(3) {
        0 => VALUES[random.below(VALUES.len())],
        _ => PARTS[random.below(PARTS.len())],
    };
    (0..parts).map(part).collect()
}

#[test]
fn any_cut_of_any_text_finds_what_the_whole_text_has() {
    let rounds = std::env::var("PII_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap());
    let seed = std::env::var("PII_SEED").map_or(0x9E37_79B9_7F4A_7C15, |it| it.parse().unwrap());
    let (detectors, mut random) = (detectors(), Random(seed));
    let mut matches = 0;
    for _ in 0..rounds {
        let text = text(&mut random);
        for (name, detector) in &detectors {
            check_all_cuts(name, &**detector, &text, &mut random);
            matches += whole(&**detector, &text).len();
        }
    }
    assert!(matches > rounds, "the texts have nothing to find: {matches}");
}

#[test]
fn any_cut_of_any_text_finds_the_same_secrets() {
    let rounds = std::env::var("PII_ROUNDS").map_or(300, |rounds| rounds.parse().unwrap());
    let seed = std::env::var("PII_SEED").map_or(0x9E37_79B9_7F4A_7C15, |it| it.parse().unwrap());
    let (scanner, mut random) = (SecretScanner::new(), Random(seed));
    let mut matches = 0;
    for _ in 0..rounds {
        let text = text_with_secrets(&mut random);
        check_all_cuts("secrets", &scanner, &text, &mut random);
        matches += whole(&scanner, &text).len();
    }
    assert!(matches * 4 > rounds, "the texts have nothing to find: {matches}");
}

#[test]
fn secrets_longer_than_any_window_do_not_depend_on_the_cut() {
    let texts = [
        format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY----- end",
            "MC4CAQ+/\n".repeat(300)
        ),
        format!("key eyJhbGciOiJIUzI1NiJ9.{}.abc end", "aB3_".repeat(500)),
        format!("password: \"{}\" end", "a b1 ".repeat(40)),
        "password=".repeat(200),
        "-----BEGIN ".repeat(100),
        "ghp_".repeat(300),
        "%40".repeat(300),
    ];
    let scanner = SecretScanner::new();
    for text in texts {
        let places = boundaries(&text);
        let some: Vec<_> = places.iter().copied().step_by(41).collect();
        check("secrets", &scanner, &text, &some);
        check("secrets", &scanner, &text, &places[places.len() / 2..][..1]);
    }
}

#[test]
fn what_more_text_makes_of_a_match_does_not_depend_on_the_cut() {
    let texts = [
        "mail a@b.com",
        "mail a@b.co.uk.",
        "card 41111111111111112 end",
        "card 4111 1111 1111 1111 2 end",
        "card 4111 1111 1111 1111 123 end",
        "call +49 30 901820 10 today",
        "call +49 (0)30 901820.",
        "at 12:30:45 or 12:30:45::1 or 2001:db8::1:2",
        "ip 1.2.3.4 1.2.3.4.5 1.2.3.45 1.2.3.456",
        "我的邮箱是test@example.com请记住😀a@b.com😀",
        "see http://a.de/b).) and www.a.com/x?y=z. And a.com/b",
        "iban DE89 3704 0044 0532 0130 00, DE89 3704 0044 0532 0130 001",
        "mac 00:1A:2B:3C:4D:5E:6F and 00:1A:2B:3C:4D:5E.",
        "::ffff:192.168.1.1 fe80::1%eth0 IPv6:2001:db8::1",
        "ana@example.com/path/10.0.0.1/b@c.de",
        "a.@b.com,c@d.com;e@f.com",
    ];
    let mut random = Random(7);
    for text in texts {
        for (name, detector) in detectors() {
            check_all_cuts(&name, &*detector, text, &mut random);
        }
    }
}

#[test]
fn matches_longer_than_any_window_do_not_depend_on_the_cut() {
    let long = |part: &str, count: usize| part.repeat(count);
    let texts = [
        format!("see http://example.com/{} end", long("abc/", 500)),
        format!("see http://example.com/{} end", long("abc/", 1100)),
        format!("see http://example.com/{}", long("http://a.de/", 500)),
        format!("see {}@example.com end", long("abc.", 80)),
        format!("a@{}com end", long("abc.", 80)),
        format!("{}com/x end", long("abc.", 80)),
        long("a.", 400),
        long("1", 400),
        long("1 ", 200),
        long("1:", 200),
        long("@", 200),
        long("::", 100),
        long("é", 300),
        long("é@", 100),
    ];
    for text in texts {
        let places = boundaries(&text);
        let some: Vec<_> = places.iter().copied().step_by(41).collect();
        for (name, detector) in detectors() {
            check(&name, &*detector, &text, &some);
            check(&name, &*detector, &text, &places[places.len() / 2..][..1]);
        }
    }
}

#[test]
fn a_url_of_two_thousand_characters_shows_no_prefix() {
    let scanner = PiiScanner::all();
    let text = format!("see http://example.com/{}", "a".repeat(2000));
    for end in (5..text.len()).step_by(11) {
        assert!(scanner.settled(&text[..end], 0) <= 4, "{end}");
    }
}

#[test]
fn text_after_a_space_is_not_held_back() {
    let scanner = PiiScanner::all();
    for text in ["Reach me soon ", "你好，世界", "a@b.com ", "see http://a.de/b ", "it is 12:30, "]
    {
        assert_eq!(scanner.settled(text, 0), text.len(), "{text}");
    }
    // The last word, and digits that may be the first group of a number.
    assert_eq!(scanner.settled("a word", 0), 2);
    assert_eq!(scanner.settled("call 030 ", 0), 5);
}

// D 3.1, streaming: no prefix of a match is settled.
#[test]
fn no_prefix_of_an_address_is_settled() {
    let email = PiiScanner::new([PiiKind::Email]);
    assert_eq!(email.settled("Hi, contact alice", 0), 12);
    assert_eq!(email.settled("Hi, contact alice@example.com", 0), 12);
    assert_eq!(email.settled("Hi, contact alice@example.com when", 0), 30);
    let long = format!("alice@longerdomain.example.com{}", "x".repeat(20));
    assert_eq!(email.settled(&long, 0), 0);
    assert_eq!(whole(&email, &long), [("email".to_owned(), 0..long.len())]);
}
