//! Text that looks like personal data and is not.

use super::random::Random;

/// What makes a lookalike.
pub(crate) type Form = fn(&mut Random) -> String;

pub(crate) const FORMS: [Form; 23] = [
    version,
    date,
    time,
    timestamp,
    order,
    number,
    long_number,
    invalid_card,
    hash,
    uuid,
    fingerprint,
    code,
    path,
    selector,
    coordinates,
    price,
    isbn,
    handle,
    host,
    scientific,
    ratio,
    parcel,
    invalid_iban,
];

fn version(random: &mut Random) -> String {
    let (a, b, c) = (random.below(30), random.below(100), random.below(100));
    match random.below(6) {
        0 => format!("v{a}.{b}.{c}"),
        1 => format!("{a}.{b}.{c}-rc.{}", random.below(9)),
        2 => format!("{a}.{b}"),
        3 => format!("10.0.{}.{}", random.within(10_000, 22_000), random.within(300, 4000)),
        4 => format!("v{a}.{b}.{c}.{}", random.below(20)),
        _ => format!("{a}.{b}.{c}.{}.{}", random.below(20), random.below(20)),
    }
}

fn date(random: &mut Random) -> String {
    let (year, month, day) =
        (random.within(1950, 2035), random.within(1, 12), random.within(1, 28));
    match random.below(6) {
        0 => format!("{year}-{month:02}-{day:02}"),
        1 => format!("{day:02}.{month:02}.{year}"),
        2 => format!("{month}/{day}/{year}"),
        3 => format!("{year}/{month:02}/{day:02} {:02}:{:02}", random.below(24), random.below(60)),
        4 => format!("{day:02}-{month:02}-{year}"),
        _ => format!("{year}{month:02}{day:02}"),
    }
}

fn time(random: &mut Random) -> String {
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    match random.below(4) {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        1 => format!("{hour}:{minute:02}"),
        2 => format!("{hour:02}:{minute:02}:{second:02}.{}", random.digits(3)),
        _ => format!("{hour:02}:{minute:02}-{:02}:{minute:02}", (hour + 1) % 24),
    }
}

fn timestamp(random: &mut Random) -> String {
    let (date, time) = (random.shape("202#-0%-1#"), random.shape("1#:2#:3#"));
    match random.below(4) {
        0 => format!("{date}T{time}Z"),
        1 => format!("{date}T{time}.{}+08:00", random.digits(6)),
        2 => random.shape("17########"),
        _ => random.shape("17###########"),
    }
}

fn order(random: &mut Random) -> String {
    let shapes = [
        "ORD-202#-#####",
        "#1########",
        "PO 45########",
        "A-####-####",
        "100-#######-#######",
        "INV/202#/####",
        "SO%#######",
        "R-%##-##",
        "4%-####-###",
        "K%#.###.###",
        "%##-##-####",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

/// A number of an account or of a ticket, with any digits.
fn number(random: &mut Random) -> String {
    let length = random.within(5, 12);
    format!("{}{}", random.within(1, 9), random.digits(length - 1))
}

/// As many digits as cards have. One in ten has the checksum, and fewer than half of these an issuer.
fn long_number(random: &mut Random) -> String {
    let length = random.within(13, 19);
    random.digits(length)
}

fn luhn_sum(digits: &str) -> u32 {
    digits.bytes().rev().enumerate().fold(0, |sum, (index, digit)| {
        let doubled = u32::from(digit - b'0') * if index % 2 == 1 { 2 } else { 1 };
        sum + doubled / 10 + doubled % 10
    })
}

fn invalid_card(random: &mut Random) -> String {
    loop {
        let digits = format!("4{}", random.digits(15));
        if !luhn_sum(&digits).is_multiple_of(10) {
            let spaced =
                format!("{} {} {} {}", &digits[..4], &digits[4..8], &digits[8..12], &digits[12..]);
            return if random.below(2) == 0 { digits } else { spaced };
        }
    }
}

fn hash(random: &mut Random) -> String {
    let length = random.of(&[7, 8, 32, 40, 64]);
    let hash = random.hex(length);
    if random.below(3) == 0 { format!("sha256:{hash}") } else { hash }
}

fn uuid(random: &mut Random) -> String {
    let parts = [8, 4, 4, 4, 12].map(|length| random.hex(length));
    let uuid = parts.join("-");
    if random.below(2) == 0 { uuid.to_uppercase() } else { uuid }
}

fn fingerprint(random: &mut Random) -> String {
    let pairs = random.of(&[4, 5, 7, 16, 20]);
    let pairs: Vec<_> = (0..pairs).map(|_| random.hex(2)).collect();
    pairs.join(random.of(&[":", "-"]))
}

fn code(random: &mut Random) -> String {
    let lines = [
        "std::collections::HashMap::new()",
        "list[::2]",
        "rows[1::2]",
        "a[10::20]",
        "x = y ?: z",
        "@Override",
        "@media (max-width: 600px)",
        "fn add(a: u8, b: u8)",
        "Foo::<u8>::bar(12)",
        "a::b::c",
        "if (a == 10) { b(20); }",
        "let x = 0x1F_u32;",
        "#[derive(Debug)]",
        "f(1, 2, 3, 4, 5, 6, 7)",
        "SELECT * FROM t WHERE id = 12345",
        "{\"a\": 1.5, \"b\": [1, 2, 3]}",
        "a@b",
        "git@{upstream}",
        "HEAD~3..HEAD",
        "1 << 10 | 2 << 20",
        "abc::def::fed",
        "dead::beef",
        "arr[-1:]",
        "x += 10; y -= 20;",
    ];
    random.of(&lines).to_owned()
}

fn path(random: &mut Random) -> String {
    let paths = [
        "/usr/local/lib/libfoo.so.1.2.3",
        "C:\\Users\\me\\file.txt",
        "src/main.rs",
        "./a/b.c/d.h",
        "~/.config/app",
        "../img/logo.png",
        "docs/intro.md",
        "and/or",
        "node_modules/lodash/index.js",
        "tests/a.rs/b",
        "src/app.py/x",
        "/etc/nginx/sites.d/default",
        "/var/log/syslog.1",
        "a/b/c",
        "lib/foo.pl/x",
        "build.sh/x",
        "km/h",
        "input/output",
    ];
    random.of(&paths).to_owned()
}

fn selector(random: &mut Random) -> String {
    let texts = [
        "a:hover",
        "div::before",
        "key: value",
        "C:",
        "e.g.",
        "i.e.",
        "12 px",
        "--flag=1",
        "-x",
        "www",
        "http",
        "https:",
    ];
    random.of(&texts).to_owned()
}

fn coordinates(random: &mut Random) -> String {
    match random.below(4) {
        0 => random.shape("4#.####, -7#.####"),
        1 => random.shape("+4#.#### +2.####"),
        2 => random.shape("5#.######,1#.######"),
        _ => random.shape("5#°3#'1#\" N"),
    }
}

fn price(random: &mut Random) -> String {
    let shapes = [
        "$%,###.##",
        "%.###,## €",
        "¥%####",
        "£##.##",
        "%## ### ### Ft",
        "USD %,###,###",
        "%#.### kr",
        "%## ###,##",
        "+%##%",
        "-%.##",
        "%,###,###,###",
        "1 ### ### ###",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

fn isbn(random: &mut Random) -> String {
    let shapes = [
        "978-3-16-######-#",
        "978%#########",
        "0-306-#####-#",
        "ISBN 3-446-#####-X",
        "979-10-####-###-#",
        "3-%##-#####-#",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

fn handle(random: &mut Random) -> String {
    let texts = [
        "@ana_b",
        "#topic12",
        "@rust-lang/core",
        "npm i @types/node",
        "user@host",
        "@2.0.1",
        "react@18.2.0",
        "a @ b",
        "root@localhost",
    ];
    random.of(&texts).to_owned()
}

fn host(random: &mut Random) -> String {
    let texts = [
        "example.com",
        "Node.js",
        "ASP.NET",
        "e.g./x",
        "main.rs",
        "README.md",
        "foo.bar",
        "U.S.A.",
        "3.5/4",
        "www.example",
        "a.b.c",
    ];
    random.of(&texts).to_owned()
}

fn scientific(random: &mut Random) -> String {
    let shapes = [
        "%.##e-##",
        "3.14159265358979",
        "0.################",
        "6.022×10^23",
        "±%.##",
        "%##.### ± 0.00#",
        "%#.#%",
        "0x########",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

fn ratio(random: &mut Random) -> String {
    let shapes = [
        "16:9",
        "%:#",
        "%#-%#",
        "1/2",
        "3:16",
        "%##:%##",
        "4:3:2",
        "1:2:3:4",
        "%#/%#/%#",
        "24/7",
        "1-2-3-4-5",
        "1 2 3 4 5 6 7 8",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

fn parcel(random: &mut Random) -> String {
    let shapes = [
        "1Z999AA1%#########",
        "RR%########DE",
        "JD01460000%######",
        "AB%#CDE",
        "WVWZZZ1JZ3W%#####",
        "%######-%",
        "LOT %####-A",
        "B0%#######",
    ];
    let shape = random.of(&shapes);
    random.shape(shape)
}

fn invalid_iban(random: &mut Random) -> String {
    // Check digits are from 02 to 98.
    let shapes = [
        "DE00################## ",
        "DE00 #### #### #### #### ##",
        "FR99",
        "XX%################",
        "GB00WEST##############",
    ];
    let shape = random.of(&shapes);
    random.shape(shape).trim_end().to_owned()
}
