//! What each detector finds, and where. Vectors of D 3.1 are `LC` or `SAA` rows.

use hooks_agent::builtin::guard::pii::{
    PiiCallback, PiiDetector, PiiKind, PiiMatch, PiiPattern, PiiPatternError, PiiScanner,
};

use PiiKind::{CreditCard, Email, Iban, Ipv4, Ipv6, MacAddress, Phone, Url};

/// The values of this kind in a text.
fn values(kind: PiiKind, text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    PiiScanner::new([kind]).scan(text, 0, &mut found);
    assert!(found.iter().all(|found| found.kind == kind.name()));
    let all = PiiScanner::all();
    let mut of_all = Vec::new();
    all.scan(text, 0, &mut of_all);
    assert!(found.iter().all(|found| of_all.contains(found)), "one pass finds less: {text}");
    found.iter().map(|found| &text[found.range.clone()]).collect()
}

/// The ranges of this kind in a text, in characters.
fn chars(kind: PiiKind, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    PiiScanner::new([kind]).scan(text, 0, &mut found);
    let count = |at: usize| text[..at].chars().count();
    found.iter().map(|found| (count(found.range.start), count(found.range.end))).collect()
}

#[track_caller]
fn found(kind: PiiKind, wanted: &[&str]) {
    for value in wanted {
        for text in [
            (*value).to_owned(),
            format!("see {value} and on"),
            format!("({value})"),
            format!("\"{value}\","),
            format!("请看{value}，谢谢"),
            format!("{value}."),
        ] {
            assert_eq!(values(kind, &text), [*value], "in {text}");
        }
    }
}

#[track_caller]
fn not_found(kind: PiiKind, texts: &[&str]) {
    for text in texts {
        assert_eq!(values(kind, text), [""; 0], "in {text}");
    }
}

// D 3.1
#[test]
fn emails_of_the_vectors() {
    let at = |text| chars(Email, text);
    assert_eq!(at("Contact me at john.doe@example.com for more info."), [(14, 34)]);
    assert_eq!(at("Email alice@test.com or bob@company.org"), [(6, 20), (24, 39)]);
    assert_eq!(at("Invalid emails: @test.com, user@, user@domain"), []);
    assert_eq!(at("我的邮箱地址是 test@example.com，请记住它。"), [(8, 24)]);
    assert_eq!(at("user@example.com"), [(0, 16)]);
    // The boundary of a word is ASCII.
    assert_eq!(at("我的邮箱是test@example.com请记住"), [(5, 21)]);
}

// D 3.1
#[test]
fn cards_of_the_vectors() {
    let at = |text| chars(CreditCard, text);
    assert_eq!(at("Card: 4532015112830366"), [(6, 22)]);
    assert_eq!(at("Card: 5425 2334 3010 9903"), [(6, 25)]);
    assert_eq!(at("Card: 4532-0151-1283-0366"), [(6, 25)]);
    assert_eq!(at("Card: 1234567890123456"), []);
    // Ends otherwise: LC finds only numbers of 16 digits, so none.
    assert_eq!(at("Amex 378282246310005"), [(5, 20)]);
}

// D 3.1
#[test]
fn ip_addresses_of_the_vectors() {
    let at = |text| chars(Ipv4, text);
    assert_eq!(at("Server IP: 192.168.1.1"), [(11, 22)]);
    assert_eq!(at("Connect to 10.0.0.1 or 8.8.8.8"), [(11, 19), (23, 30)]);
    assert_eq!(at("Not an IP: 999.999.999.999"), []);
    assert_eq!(at("Version 1.2.3.4 released"), [(8, 15)]);
    assert_eq!(at("IP 192.168.001.001"), []);
    // Ends otherwise: LC has no IPv6.
    assert_eq!(chars(Ipv6, "v6 2001:db8::1"), [(3, 14)]);
}

// D 3.1
#[test]
fn mac_addresses_of_the_vectors() {
    let at = |text| chars(MacAddress, text);
    assert_eq!(at("MAC: 00:1A:2B:3C:4D:5E"), [(5, 22)]);
    assert_eq!(at("MAC: 00-1A-2B-3C-4D-5E"), [(5, 22)]);
    assert_eq!(at("MAC: aa:bb:cc:dd:ee:ff"), [(5, 22)]);
    assert_eq!(at("Partial: 00:1A:2B:3C"), []);
}

// D 3.1
#[test]
fn urls_of_the_vectors() {
    let at = |text| chars(Url, text);
    assert_eq!(at("Visit http://example.com for details."), [(6, 24)]);
    assert_eq!(at("Visit https://secure.example.com/path"), [(6, 37)]);
    assert_eq!(at("https://example.com/path?x=1#frag end"), [(0, 33)]);
    assert_eq!(at("Check www.example.com"), [(6, 21)]);
    assert_eq!(at("Go to example.com/page"), [(6, 22)]);
    assert_eq!(at("The word example.com in prose"), []);
    assert_eq!(at("Visit http://test.com and https://example.org"), [(6, 21), (26, 45)]);
    assert_eq!(at("http://localhost:8080/x"), [(0, 23)]);
    // Ends otherwise: LC finds `3.5/4`.
    assert_eq!(at("ratio 3.5/4 and/or e.g./x"), []);
}

// D 3.1
#[test]
fn patterns_and_callbacks_of_the_vectors() {
    let keys = PiiPattern::new("api_key", "sk-[a-zA-Z0-9]{32}").unwrap();
    let key = keys.find("Key: sk-abcdefghijklmnopqrstuvwxyz123456", 0).unwrap();
    assert_eq!((&*key.kind, key.range), ("api_key", 5..40));
    let phones = PiiPattern::new("indian_phone", r"\+91[\s.-]?\d{10}").unwrap();
    assert_eq!(phones.find("Call +91 9876543210", 0).unwrap().range, 5..19);
    let both = PiiCallback::new(|text| {
        let kinds = [("email", "test@example.com"), ("ip", "10.0.0.1")];
        let found = kinds.iter().filter_map(|(kind, value)| {
            text.find(value).map(|at| PiiMatch::new(*kind, at..at + value.len()))
        });
        found.collect()
    });
    let mut found = Vec::new();
    both.scan("Email: test@example.com, IP: 10.0.0.1", 0, &mut found);
    let kinds: Vec<_> = found.iter().map(|found| &*found.kind).collect();
    assert_eq!(kinds, ["email", "ip"]);
}

#[test]
fn emails_of_every_valid_form_are_found() {
    found(
        Email,
        &[
            "a@b.co",
            "first.last+tag@sub.example.co.uk",
            "o'brien@example.ie",
            "user_name%x@example-one.museum",
            "x@xn--mnchen-3ya.de",
            "info@example.xn--p1ai",
            "müller@straße.de",
            "1@2.com",
        ],
    );
    assert_eq!(values(Email, "'joe@example.com'"), ["joe@example.com"]);
    assert_eq!(values(Email, "a@b.com@c.com"), ["a@b.com"]);
    assert_eq!(values(Email, "mailto:joe@example.com?subject=x"), ["joe@example.com"]);
    assert_eq!(values(Email, "git@github.com:a/b"), ["git@github.com"]);
    let long = format!("{}@example.com", "x".repeat(128));
    assert_eq!(values(Email, &long), [&long]);
    not_found(Email, &["@handle", "a @ b.com", "user@localhost", "x@y.z", "a@b.c0m", "@@@.com"]);
}

#[test]
fn cards_of_every_issuer_are_found() {
    found(
        CreditCard,
        &[
            "4111111111111111",
            "4111 1111 1111 1111",
            "5555-5555-5555-4444",
            "3782 822463 10005",
            "30569309025904",
            "3056 930902 5904",
            "6011111111111117",
            "3530111333300000",
            "6200000000000005",
            "2223003122003222",
        ],
    );
    assert_eq!(values(CreditCard, "4111 1111 1111 1111 12/27 123"), ["4111 1111 1111 1111"]);
    assert_eq!(values(CreditCard, "4111 1111 1111 1111 2027"), ["4111 1111 1111 1111"]);
    assert_eq!(values(CreditCard, "4111111111111111,5555555555554444").len(), 2);
    not_found(
        CreditCard,
        &[
            "41111111111111112",
            "4111111111111111222222",
            "x4111111111111111",
            "4111111111111111a",
            "0.4111111111111111",
            "4111 1111 1111-1112",
            "1732269291123",
            "0000000000000000",
        ],
    );
}

#[test]
fn ipv4_is_not_found_in_longer_numbers() {
    found(Ipv4, &["0.0.0.0", "255.255.255.255", "127.0.0.1"]);
    assert_eq!(values(Ipv4, "http://10.0.0.1:80/ 10.0.0.0/8"), ["10.0.0.1", "10.0.0.0"]);
    not_found(Ipv4, &["1.2.3.4.5", "0.1.2.3.4", "v1.2.3.4"]);
    not_found(Ipv4, &["256.1.1.1", "1.2.3", "1.2.3.4a", "01.2.3.4", "1.2.3.1000", "1..2.3.4"]);
}

#[test]
fn ipv6_is_found_in_all_forms() {
    found(
        Ipv6,
        &[
            "2001:db8::1",
            "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
            "2001:DB8:0:0:8:800:200C:417A",
            "fe80::1",
            "fe80::1%eth0",
            "::1",
            "::ffff:192.168.1.1",
            "64:ff9b::192.0.2.33",
            "2001:db8::",
            "1:2:3:4:5:6:7:8",
        ],
    );
    assert_eq!(values(Ipv6, "IPv6:2001:db8::1, [2001:db8::2]:80"), ["2001:db8::1", "2001:db8::2"]);
    assert_eq!(values(Ipv6, "it is fe80::1.Every one"), ["fe80::1"]);
    not_found(
        Ipv6,
        &[
            "12:30:45",
            "std::fs::File",
            "a::b",
            "dead::beef",
            "list[::2] and [1::2] and [::-1]",
            "::",
            "aa:bb:cc:dd:ee:ff",
            "1:2:3:4:5:6:7:8:9",
            "1::2::3",
            "2001:db8::g",
            "c1:5e:a0:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd",
        ],
    );
}

#[test]
fn mac_addresses_are_not_found_in_longer_chains() {
    not_found(
        MacAddress,
        &[
            "00:1A:2B:3C:4D:5E:6F",
            "00:1A-2B:3C:4D:5E",
            "00:1A:2B:3C:4D:5G",
            "100:1A:2B:3C:4D:5E",
            "c1:5e:a0:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd",
        ],
    );
    found(MacAddress, &["00:1a:2b:3c:4d:5e", "01-23-45-67-89-AB"]);
    assert_eq!(values(MacAddress, "MAC:00:1A:2B:3C:4D:5E"), ["00:1A:2B:3C:4D:5E"]);
}

#[test]
fn urls_have_their_path_and_not_the_punctuation() {
    found(
        Url,
        &[
            "http://example.com",
            "HTTPS://EXAMPLE.COM/A?b=c&d=[1]#e",
            "ftp://user:secret@ftp.example.com:21/x;type=a",
            "https://en.wikipedia.org/wiki/Rust_(language)",
            "http://[2001:db8::1]:8080/x",
            "http://192.168.0.1/admin",
            "postgres://user:pw@db/name",
            "www.example.co.uk/x",
            "example.com:8080/x",
            "https://ru.wikipedia.org/wiki/Москва",
            "https://example.com/{id}/x",
        ],
    );
    assert_eq!(values(Url, "(see https://example.com/a).)"), ["https://example.com/a"]);
    assert_eq!(values(Url, "<http://a.de>"), ["http://a.de"]);
    assert_eq!(values(Url, "[x](http://a.de/b)"), ["http://a.de/b"]);
    assert_eq!(values(Url, "هل رأيت http://a.de/b؟"), ["http://a.de/b"]);
    assert_eq!(values(Url, "'http://a.de/b'!?"), ["http://a.de/b"]);
    not_found(
        Url,
        &[
            "http://",
            "http:// example.com",
            "src/main.rs/x",
            "/usr/lib/node.io/x",
            "script.sh/x",
            "a::b://",
            "www.example",
            "1.5/2",
        ],
    );
}

#[test]
fn a_long_url_is_found_up_to_its_limit() {
    let url = format!("http://example.com/{}", "a".repeat(2000));
    assert_eq!(values(Url, &url), [&url]);
    let url = format!("http://example.com/{}", "é".repeat(4000));
    let found = values(Url, &url);
    assert_eq!(found.len(), 1);
    assert!((4096..=4097).contains(&found[0].len()));
}

#[test]
fn phone_numbers_are_found() {
    found(
        Phone,
        &[
            "+1 415 555 2671",
            "+14155552671",
            "+1 (415) 555-2671",
            "+49 30 901820",
            "+49 (0)30 901820",
            "+49(0)30 901820",
            "+86 138 0013 8000",
            "+81 3-1234-5678",
            "+7 (495) 123-45-67",
            "+966 50 123 4567",
            "+33.1.23.45.67.89",
            "0049 30 901820",
            "(415) 555-2671",
            "415-555-2671",
            "415.555.2671",
            "1-800-555-0199",
            "030 90182012",
            "0171/1234567",
            "(030) 1234567",
            "01 23 45 67 89",
            "020 7946 0958",
            "07700 900123",
            "612 34 56 78",
            "13800138000",
            "138-0013-8000",
            "010-12345678",
            "03-1234-5678",
            "090-1234-5678",
            "8 (495) 123-45-67",
            "8 495 123-45-67",
        ],
    );
    not_found(
        Phone,
        &[
            "2024-01-02 03:04:05",
            "01-02-2024 1230",
            "01.02.2024 12:30",
            "2024-01-02T03:04:05+08:00",
            "+48.8566 +2.3522",
            "C++20 and 1+23456789",
            "1.2.3.4",
            "978-3-16-148410-0",
            "DE89 3704 0044 0532 0130 00",
            "4111 1111 1111 1111",
            "order 100-2345678-1234567",
            "550e8400-e29b-41d4-a716-446655440000",
            "1732269291123",
            "+12345",
            "12 01 23 45 67 89 33",
            "$13800138000",
        ],
    );
}

#[test]
fn ibans_are_found() {
    found(
        Iban,
        &[
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "GB82-WEST-1234-5698-7654-32",
            "gb82west12345698765432",
            "FR1420041010050500013M02606",
            "NO93 8601 1117 947",
            "MT84MALT011000012345MTLCAST001S",
            "SA03 8000 0000 6080 1016 7519",
        ],
    );
    not_found(
        Iban,
        &[
            "DE89370400440532013001",
            "DE00218256430422971300",
            "DE8937040044053201300",
            "DE893704004405320130000",
            "XX89370400440532013000",
            "ADE89370400440532013000",
            "DE89 3704 00440532 0130 00",
        ],
    );
}

#[test]
fn a_pattern_that_cannot_be_used_says_why() {
    let error = PiiPattern::new("key", "sk-[").unwrap_err();
    assert_eq!(error.to_string(), "the pattern of `key` cannot be used");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("unclosed"));
    let huge = PiiPattern::new("huge", r"\w{1000}{100}").unwrap_err();
    assert!(matches!(huge, PiiPatternError::Regex { .. }));
    let empty = PiiPattern::new("any", "x*").unwrap_err();
    assert_eq!(empty.to_string(), "the pattern of `any` matches the empty text");
}

#[test]
fn a_pattern_sees_the_text_before_it_and_no_empty_match() {
    let word = PiiPattern::new("word", r"\bcat\b|\b").unwrap();
    assert!(word.find("concat", 3).is_none());
    assert_eq!(word.find("a cat", 0).unwrap().range, 2..5);
}

#[test]
fn ranges_that_a_callback_got_wrong_are_made_to_fit() {
    let wrong = PiiCallback::new(|_| {
        let reversed = std::ops::Range { start: 5, end: 2 };
        [1..2, 3..99, 50..60, reversed, 2..2].map(|it| PiiMatch::new("x", it)).to_vec()
    });
    let mut found = Vec::new();
    wrong.scan("语言x", 0, &mut found);
    let ranges: Vec<_> = found.into_iter().map(|found| found.range).collect();
    assert_eq!(ranges, [0..3, 3..7]);
}
