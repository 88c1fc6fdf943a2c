//! Detectors of one's own.

use hooks_agent_builtin::guard::pii::{
    PiiCallback, PiiDetector, PiiMatch, PiiPattern, PiiPatternError,
};

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
fn a_window_is_how_much_of_a_stream_is_held_back() {
    let text = format!("{}x", "a".repeat(300));
    let pattern = PiiPattern::new("long", "a{300}b").unwrap();
    assert_eq!((pattern.window(), pattern.settled(&text, 0)), (128, 301 - 128));
    let pattern = pattern.with_window(301);
    assert_eq!((pattern.window(), pattern.settled(&text, 0)), (301, 0));
    let callback = PiiCallback::new(|_| Vec::new()).with_window(301);
    assert_eq!((callback.window(), callback.settled(&text, 0)), (301, 0));
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
