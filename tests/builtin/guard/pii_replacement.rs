//! Replacements of a match, in each format. The values are those of D 3.1.

use hooks_agent_builtin::guard::pii::{
    PiiDetector, PiiFormat, PiiHashKey, PiiReplacement, PiiScanner, PiiStrategy,
};

use PiiFormat::{Keyed, LangChain, Spring};
use PiiStrategy::{Block, Hash, Mask, Redact};

#[track_caller]
fn check(strategy: PiiStrategy, format: PiiFormat, rows: &[(&str, &str, &str)]) {
    let replacement = PiiReplacement::new(strategy).with_format(format);
    for (kind, value, wanted) in rows {
        assert_eq!(replacement.replace(kind, value).as_deref(), Some(*wanted), "{value}");
    }
}

// D 3.1
#[test]
fn redaction_names_the_kind() {
    for format in [Keyed, LangChain] {
        check(
            Redact,
            format,
            &[
                ("email", "x", "[REDACTED_EMAIL]"),
                ("credit_card", "x", "[REDACTED_CREDIT_CARD]"),
                ("ip", "10.0.0.1", "[REDACTED_IP]"),
                ("api_key", "x", "[REDACTED_API_KEY]"),
            ],
        );
    }
    check(
        Redact,
        Spring,
        &[
            ("email", "x", "[REDACTED_EMAIL]"),
            ("mac_address", "x", "[REDACTED_MAC_ADDRESS]"),
            ("url", "x", "[REDACTED_URL]"),
            ("phone", "x", "[REDACTED_CUSTOM]"),
        ],
    );
}

// D 3.1
#[test]
fn masks_are_those_of_langchain() {
    for format in [Keyed, LangChain] {
        check(
            Mask,
            format,
            &[
                ("email", "john.doe@example.com", "john.doe@****.com"),
                ("email", "alice@test.com", "alice@****.com"),
                ("email", "bob@company.org", "bob@****.org"),
                ("email", "test@example.com", "test@****.com"),
                ("email", "user@example.com", "user@****.com"),
                ("credit_card", "4532015112830366", "************0366"),
                ("credit_card", "5425 2334 3010 9903", "**** **** **** 9903"),
                ("credit_card", "4532-0151-1283-0366", "****-****-****-0366"),
                ("ip", "192.168.1.1", "*.*.*.1"),
                ("ip", "8.8.8.8", "*.*.*.8"),
                ("ip", "1.2.3.4", "*.*.*.4"),
                ("ip", "2001:db8::1", "****"),
                ("ip", "::ffff:1.2.3.4", "****"),
                ("mac_address", "00:1A:2B:3C:4D:5E", "**:**:**:**:**:5E"),
                ("mac_address", "00-1A-2B-3C-4D-5E", "**-**-**-**-**-5E"),
                ("mac_address", "aa:bb:cc:dd:ee:ff", "**:**:**:**:**:ff"),
                ("url", "http://example.com", "[MASKED_URL]"),
                ("api_key", "sk-abcdefghijklmnopqrstuvwxyz123456", "****3456"),
                ("indian_phone", "+91 9876543210", "****3210"),
                ("pin", "1234", "****"),
                ("pin", "", "****"),
                ("pin", "语言", "****"),
            ],
        );
    }
}

// D 3.1
#[test]
fn hashes_are_those_of_langchain() {
    check(
        Hash,
        LangChain,
        &[
            ("email", "john.doe@example.com", "<email_hash:836f82db>"),
            ("email", "alice@test.com", "<email_hash:c1351061>"),
            ("email", "bob@company.org", "<email_hash:fe75d283>"),
            ("email", "test@example.com", "<email_hash:973dfe46>"),
            ("email", "user@example.com", "<email_hash:b4c9a289>"),
            ("credit_card", "4532015112830366", "<credit_card_hash:9b089351>"),
            ("credit_card", "5425 2334 3010 9903", "<credit_card_hash:5dabbc6a>"),
            ("ip", "192.168.1.1", "<ip_hash:c5eb5a4c>"),
            ("ip", "10.0.0.1", "<ip_hash:f5047344>"),
            ("ip", "8.8.8.8", "<ip_hash:838c4c25>"),
            ("ip", "1.2.3.4", "<ip_hash:6694f83c>"),
            ("mac_address", "00:1A:2B:3C:4D:5E", "<mac_address_hash:f57b6b8d>"),
            ("mac_address", "00-1A-2B-3C-4D-5E", "<mac_address_hash:b0f3c7e0>"),
            ("mac_address", "aa:bb:cc:dd:ee:ff", "<mac_address_hash:c1582e87>"),
            ("url", "http://example.com", "<url_hash:f0e6a6a9>"),
            ("url", "https://secure.example.com/path", "<url_hash:7dea7769>"),
            ("url", "https://example.com/path?x=1#frag", "<url_hash:7fe74cd2>"),
            ("url", "www.example.com", "<url_hash:80fc0fb9>"),
            ("url", "example.com/page", "<url_hash:d641f3ec>"),
            ("url", "http://test.com", "<url_hash:8b408a0c>"),
            ("url", "https://example.org", "<url_hash:50d7a905>"),
            ("url", "http://localhost:8080/x", "<url_hash:ba8b3be5>"),
            ("url", "3.5/4", "<url_hash:7e830589>"),
            ("api_key", "sk-abcdefghijklmnopqrstuvwxyz123456", "<api_key_hash:82be8a4d>"),
            ("indian_phone", "+91 9876543210", "<indian_phone_hash:ff9ee1e0>"),
        ],
    );
}

// D 3.1
#[test]
fn masks_are_those_of_spring() {
    check(
        Mask,
        Spring,
        &[
            ("email", "john.doe@example.com", "****************.com"),
            ("email", "test@example.com", "************.com"),
            ("email", "user@example.com", "************.com"),
            ("credit_card", "4532015112830366", "************0366"),
            ("credit_card", "5425 2334 3010 9903", "***************9903"),
            ("credit_card", "4532-0151-1283-0366", "***************0366"),
            ("ip", "192.168.1.1", "*******.1.1"),
            ("mac_address", "00:1A:2B:3C:4D:5E", "*************D:5E"),
            ("url", "http://example.com", "**************.com"),
            ("custom", "1234", "****"),
        ],
    );
}

#[test]
fn a_keyed_hash_is_never_taken_for_the_number_of_a_card() {
    let hash = PiiReplacement::new(Hash).with_key(PiiHashKey::new(*b"a key"));
    // The first bytes of their digests are the numbers of cards, such as 4160448305656182.
    for (user, wanted) in [(173_880, "8305656182d2ba7f"), (185_976, "54146909837cebac")] {
        let token = hash.replace("email", &format!("user{user}@example.com")).unwrap();
        assert_eq!(token, format!("<email_hash:{wanted}>"));
        assert!(PiiScanner::all().find(&token, 0).is_none());
    }
}

// D 3.1
#[test]
fn hashes_are_those_of_spring() {
    check(
        Hash,
        Spring,
        &[
            ("email", "john.doe@example.com", "<email_hash:bd75d214>"),
            ("email", "test@example.com", "<email_hash:ac34084f>"),
            ("email", "user@example.com", "<email_hash:409ea208>"),
            ("email", "alice@test.com", "<email_hash:1e478fe5>"),
            ("email", "bob@company.org", "<email_hash:715c3be8>"),
            ("credit_card", "4532015112830366", "<credit_card_hash:7fbd36dc>"),
            ("credit_card", "5425 2334 3010 9903", "<credit_card_hash:9ada0207>"),
            ("credit_card", "4532-0151-1283-0366", "<credit_card_hash:04df25b1>"),
            ("ip", "192.168.1.1", "<ip_hash:0355f915>"),
            ("ip", "10.0.0.1", "<ip_hash:1e7daaa6>"),
            ("ip", "192.168.1.100", "<ip_hash:85bc0dd5>"),
            ("mac_address", "00:1A:2B:3C:4D:5E", "<mac_address_hash:e70f52aa>"),
            ("url", "http://example.com", "<url_hash:da5f6dab>"),
        ],
    );
}

// D 3.1
#[test]
fn a_blocked_text_says_what_and_how_often() {
    let block = PiiReplacement::new(Block);
    assert_eq!(block.replace("email", "x"), None);
    let error = block.detected("email", 1);
    assert_eq!(error.to_string(), "Detected 1 instance(s) of email in text content");
    assert_eq!((error.kind(), error.count()), ("email", 1));
    let error = block.detected("email", 2).to_string();
    assert_eq!(error, "Detected 2 instance(s) of email in text content");
    let error = block.with_format(Spring).detected("email", 1).to_string();
    assert_eq!(error, "Detected 1 instance(s) of EMAIL in text content");
}

#[test]
fn a_keyed_hash_depends_on_the_key_and_the_value() {
    let with = |key: &[u8]| PiiReplacement::new(Hash).with_key(PiiHashKey::new(key));
    let token = |key: &[u8], value: &str| with(key).replace("email", value).unwrap();
    // RFC 4231, test case 2.
    assert_eq!(token(b"Jefe", "what do ya want for nothing?"), "<email_hash:5bdcc146bf60754e>");
    assert_eq!(token(b"a", "x@y.com"), token(b"a", "x@y.com"));
    assert_ne!(token(b"a", "x@y.com"), token(b"b", "x@y.com"));
    assert_ne!(token(b"a", "x@y.com"), token(b"a", "z@y.com"));
}

#[test]
fn a_key_that_is_not_set_is_random_and_kept_by_clones() {
    let hash = PiiReplacement::new(Hash);
    let token = hash.replace("email", "x@y.com");
    assert_eq!(hash.clone().replace("email", "x@y.com"), token);
    assert_ne!(PiiReplacement::new(Hash).replace("email", "x@y.com"), token);
}

#[test]
fn debug_does_not_show_the_key() {
    let hash = PiiReplacement::new(Hash).with_key(PiiHashKey::new(*b"secret"));
    let debug = format!("{hash:?}");
    assert!(debug.contains("PiiHashKey(..)") && !debug.contains("115"), "{debug}");
}
