//! The speed of the detectors of personal data and of secrets: text without any, by kind and by length; text
//! made to be slow; text in other forms; text that arrives in parts.
//!
//! `cargo bench -p hooks-agent-builtin-tests --bench detectors` prints megabytes per second, on one core.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hooks_agent_builtin::guard::pii::{PiiDetector, PiiKind, PiiScanner};
use hooks_agent_builtin::guard::{SecretScanner, WordList};

use texts::{CHINESE, ENGLISH, MEGABYTE, text_of};

mod texts;

/// Megabytes per second of the fastest of several runs.
fn speed(length: usize, mut run: impl FnMut()) -> f64 {
    let started = Instant::now();
    let mut fastest = Duration::MAX;
    let mut rounds = 0;
    while rounds < 3 || (started.elapsed() < Duration::from_millis(300) && rounds < 10_000) {
        let started = Instant::now();
        run();
        fastest = fastest.min(started.elapsed());
        rounds += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a length below a gigabyte")]
    let bytes = length as f64;
    bytes / 1e6 / fastest.as_secs_f64()
}

fn scan(scanner: &dyn PiiDetector, text: &str) -> usize {
    let mut found = Vec::new();
    scanner.scan(text, 0, &mut found);
    found.len()
}

fn print_plain_text() {
    println!("text with no match, 1 MB, MB/s");
    for (name, part) in [("English", ENGLISH), ("Chinese", CHINESE)] {
        let text = text_of(part, MEGABYTE);
        let print = |kinds: &str, scanner: PiiScanner| {
            assert_eq!(scan(&scanner, &text), 0, "{kinds}");
            let speed = speed(text.len(), || _ = black_box(scan(&scanner, &text)));
            println!("  {name:<8} {kinds:<12} {speed:>8.0}");
        };
        for kind in PiiKind::ALL.into_iter().filter(|kind| *kind <= PiiKind::UsSsn) {
            print(&format!("{kind:?}"), PiiScanner::new([kind]));
        }
        print("all", PiiScanner::all());
    }
}

fn print_lengths() {
    println!("all kinds by length, MB/s: 1 KB, 10 KB, 100 KB, 1 MB, 10 MB");
    let parts = [
        "a.a.a.a.",
        "1",
        "12345678 ",
        "1 ",
        "@@@@",
        "a@a.",
        "a@b.co ",
        "1:2:3:",
        "::::",
        "a:b::c:",
        "http://",
        "http://a ",
        "http://a)",
        "www.a.",
        "a.com/",
        "a/",
        "+1 ",
        "(1) ",
        "1.2.3.",
        "00-",
        "DE89 3704 0044 ",
        "4111 1111 ",
        "é@é.",
        ENGLISH,
        CHINESE,
    ];
    let scanner = PiiScanner::all();
    for part in parts {
        let speeds = [1_000, 10_000, 100_000, MEGABYTE, 10 * MEGABYTE].map(|length| {
            let text = text_of(part, length);
            let speed = speed(text.len(), || _ = black_box(scan(&scanner, &text)));
            format!("{speed:>8.0}")
        });
        let name: String = part.chars().take(16).collect();
        println!("  {name:<18}{}", speeds.concat());
    }
}

/// Text in other forms, and code, which has names and values.
fn print_other_forms() {
    println!("1 MB, MB/s: all kinds of personal data, secrets");
    let (pii, secrets) = (PiiScanner::all(), SecretScanner::new());
    let parts = [
        ("English", ENGLISH),
        ("Chinese", CHINESE),
        ("code", "let token = self.next_token(&mut input)?; // reads password: String\n"),
        ("full width", "ｗｏｒｄｓ ｉｎ ｆｕｌｌ ｗｉｄｔｈ "),
        ("no-break", "words\u{a0}that do\u{a0}not part "),
        ("escapes", "a line\\nand another\\n"),
        ("percent", "a%20word%2Fb "),
    ];
    for (name, part) in parts {
        let text = text_of(part, MEGABYTE);
        let of = |scanner: &dyn PiiDetector| {
            let speed = speed(text.len(), || _ = black_box(scan(scanner, &text)));
            format!("{speed:>8.0}")
        };
        println!("  {name:<18}{}{}", of(&pii), of(&secrets));
    }
}

/// Words of letters and of ideographs that are in none of the texts.
fn word(index: usize) -> String {
    let parts = [index % 26, index / 26 % 26, index / 676 % 26].map(|it| u8::try_from(it).unwrap());
    let letters: String = parts.iter().map(|part| char::from(b'a' + part)).collect();
    if index.is_multiple_of(2) { format!("{letters}qxz") } else { format!("龘{letters}靐") }
}

fn print_words() {
    println!("words, 1 MB, MB/s: lists of 10, 1000, 10000");
    for (name, part) in [("English", ENGLISH), ("Chinese", CHINESE), ("a", "a"), ("qxz ", "qxz ")] {
        let text = text_of(part, MEGABYTE);
        let speeds = [10, 1_000, 10_000].map(|count| {
            let words = WordList::new((0..count).map(word)).unwrap();
            let mut found = Vec::new();
            let speed = speed(text.len(), || words.scan(&text, 0, &mut found));
            assert!(found.is_empty());
            format!("{speed:>8.0}")
        });
        println!("  {name:<18}{}", speeds.concat());
    }
}

/// Feeds a text in parts, as a stream does, and keeps what is not settled.
fn feed(scanner: &dyn PiiDetector, text: &str, size: usize) -> usize {
    let (mut known, mut from, mut count) = (String::new(), 0, 0);
    let mut rest = text;
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        rest = behind;
        known.push_str(part);
        let settled = scanner.settled(&known, from);
        while let Some(found) = scanner.find(&known, from).filter(|it| it.range.start < settled) {
            (from, count) = (found.range.end, count + 1);
        }
        from = from.max(settled);
        if from > 4096 {
            let forgotten = known.floor_char_boundary(from - 64);
            known.drain(..forgotten);
            from -= forgotten;
        }
    }
    count
}

fn main() {
    print_plain_text();
    print_lengths();
    print_other_forms();
    print_words();
    let scanners: [(&str, &dyn PiiDetector); 2] =
        [("personal data", &PiiScanner::all()), ("secrets", &SecretScanner::new())];
    for (of, scanner) in scanners {
        println!("1 MB in parts, all {of}, MB/s: 4, 16, 64, 1024 bytes");
        for (name, part) in
            [("English", ENGLISH), ("Chinese", CHINESE), ("a.com/", "a.com/"), ("1 ", "1 ")]
        {
            let text = text_of(part, MEGABYTE);
            let speeds = [4, 16, 64, 1024].map(|size| {
                let speed = speed(text.len(), || _ = black_box(feed(scanner, &text, size)));
                format!("{speed:>8.1}")
            });
            println!("  {name:<18}{}", speeds.concat());
        }
    }
}
