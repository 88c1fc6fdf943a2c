//! Which addresses are found, and where. Vectors of D 3.1 are `LC` or `SAA` rows.

use hooks_agent_builtin::guard::pii::PiiKind::{Email, Ipv4, Ipv6, MacAddress, Url};

use crate::pii_find::{chars, found, not_found, values};

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
fn an_address_inside_of_another_one_is_a_part_of_it() {
    found(
        Email,
        &[
            "bounces+12-name=example.com@lists.example.org",
            "bounces+12-name=someone=example.com@lists.example.org",
            "msprvs1=abc-ada=example.co.uk@bounces.example.org",
            "SRS0=HHH=TT=example.com=ada@forwarder.example",
            "srs1=HHH=forwarder.example==HHH=TT=example.com=ada@other.example",
        ],
    );
    // A key is no part of the address behind it.
    assert_eq!(values(Email, "to=ada@example.com"), ["ada@example.com"]);
    assert_eq!(values(Email, "user-mail=ada.b@example.com&x=1"), ["ada.b@example.com"]);
    assert_eq!(values(Email, "a=b=ada@example.com"), ["ada@example.com"]);
}

#[test]
fn files_and_versions_of_packages_are_no_emails() {
    not_found(
        Email,
        &[
            "icon@2x.png",
            "logo@3x.JPG",
            "photo@small.webp",
            "left-pad@1.3.0",
            "left-pad@1.3.0-beta.rc",
            "@types/node@20.11.5-next.foo",
            "checkout@v4.1.0-alpha.beta",
            "lodash@4.17.21.tgz",
        ],
    );
    found(Email, &["ada@163.com", "ada@1.2.com", "ada@2x.com", "ada@v1.example.com"]);
    assert_eq!(values(Email, "ada@example.com.png"), ["ada@example.com"]);
}

#[test]
fn credentials_of_every_scheme_are_a_url() {
    found(
        Url,
        &[
            "redis://:hunter2@host",
            "redis://:hunter2@host:6379/0",
            "nats://:pw@10.0.0.1:4222",
            "nats://token@host",
            "amqps://user:pw@host/vhost",
            "clickhouse+http://u:p@host:8123/db?x=1",
            "x-custom.scheme://u:p@h/p",
            "mqtt://u:p%40w@h",
            "redis://:a^b|c@host/0",
            "nats://u:p@w@host",
            "https://u:pä中w@host/x",
            "jdbc:postgresql://u:p@h/db".strip_prefix("jdbc:").unwrap(),
        ],
    );
    assert_eq!(values(Url, "at nats://:pw@h, then"), ["nats://:pw@h"]);
    assert_eq!(values(Url, "x nats://:pw@ y"), ["nats://:pw@"]);
    assert_eq!(values(Url, "\"nats://:pw@h\" b@c"), ["nats://:pw@h"]);
    not_found(Url, &["nats://host:4222", "://a@b", "custom://@b", "custom://a/b@c", "a::b://"]);
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
    found(MacAddress, &["001a.2b3c.4d5e", "DEAD.BEEF.0001"]);
    not_found(
        MacAddress,
        &[
            "0012.3456.7890",
            "001a.2b3c.4d5e.6f70",
            "a001a.2b3c.4d5e",
            "001a.2b3c.4d5ef",
            "1.001a.2b3c.4d5e",
        ],
    );
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
    for url in [
        "https://\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}/path?x=1",
        "http://\u{9910}\u{5385}.example:8080/x",
        "https://www.\u{4f8b}\u{3048}.jp",
        "https://\u{1f4a9}.la",
        "https://\u{e44}\u{e17}\u{e22}.\u{e04}\u{e2d}\u{e21}/a",
        "https://\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}.\u{92d}\u{93e}\u{930}\u{924}/",
        "file:///home/ada/notes.txt",
        "file://server/share/ada",
    ] {
        assert_eq!(values(Url, &format!("see {url}, then")), [url]);
    }
    assert_eq!(values(Url, "\u{770b}https://example.com\u{67e5}\u{770b}"), ["https://example.com"]);
    assert_eq!(values(Url, "\u{770b}https://\u{4f8b}.jp\u{3002}\u{8c22}"), ["https://\u{4f8b}.jp"]);
    not_found(Url, &["mailto:ada@example.com", "https://\u{3002}", "https:// \u{4f8b}.jp"]);
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
