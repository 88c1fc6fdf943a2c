//! Conditions over arguments, our own functions, and times.

use hooks_agent_rules::Condition;
use serde_json::{Value, json};

use crate::holds;

#[track_caller]
fn is_true(text: &str, args: &Value) {
    assert_eq!(holds(text, args), Ok(true), "{text} of {args}");
}

#[track_caller]
fn is_false(text: &str, args: &Value) {
    assert_eq!(holds(text, args), Ok(false), "{text} of {args}");
}

#[test]
fn whole_numbers_of_arguments_are_int_where_they_fit() {
    let args = json!({ "euros": 12, "large": 18_446_744_073_709_551_615_u64, "half": 0.5 });
    is_true("args.euros + 1 == 13", &args);
    is_true("args.large > 9223372036854775807 && args.large == 18446744073709551615u", &args);
    is_true("args.half * 2.0 == 1.0 && args.euros > args.half", &args);
    assert_eq!(
        holds("args.half * 2 > 0", &args),
        Err("`*` does not take double and int".to_owned())
    );
}

#[test]
fn values_of_different_types_are_unequal_and_have_no_order() {
    is_false("args.a == '1'", &json!({ "a": 1 }));
    is_false("args.a in ['1', '2']", &json!({ "a": 1 }));
    let error = holds("args.a < 'b'", &json!({ "a": 1 }));
    assert_eq!(error, Err("`<` does not take int and string".to_owned()));
}

#[test]
fn one_side_that_decides_is_enough() {
    let args = json!({ "euros": 5 });
    is_false("args.to == 'Eve' && args.euros > 10", &args);
    is_true("args.to == 'Eve' || args.euros < 10", &args);
    assert_eq!(holds("args.to == 'Eve' && args.euros < 10", &args), Err("there is no `to`".into()));
    is_true("[1, 2].exists(it, it == args.missing || it == 2)", &args);
}

#[test]
fn hosts_are_those_that_browsers_see() {
    let hosts = [
        ("https://api.corp.example/x", "api.corp.example"),
        ("HTTPS://API.Corp.Example:8443/x?y#z", "api.corp.example"),
        ("https://api.corp.example@evil.example/", "evil.example"),
        ("https://evil.example\\@api.corp.example/", "evil.example"),
        ("https:evil.example", "evil.example"),
        ("https:///evil.example/x", "evil.example"),
        ("https://evil.example./", "evil.example"),
        ("https://ex\tample.example/", "example.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://0x7f.1/", "127.0.0.1"),
        ("http://[::1]:80/", "[::1]"),
    ];
    for (url, host) in hosts {
        is_true(&format!("host(args.url) == '{host}'"), &json!({ "url": url }));
    }
    for url in ["api.corp.example", "/x", "mailto:ada@corp.example", "https://", "data:,x", ""] {
        let error = holds("host(args.url) == ''", &json!({ "url": url }));
        assert_eq!(error, Err("`host` expects a URL with a host".to_owned()), "{url}");
    }
}

#[test]
fn amounts_are_read_as_people_write_them() {
    let amounts = [
        ("1250", 1250.0),
        ("1,250.50", 1250.5),
        ("1.250,50 EUR", 1250.5),
        ("€ 30", 30.0),
        ("-12.5", -12.5),
        ("1 250,5", 1250.5),
        ("1'250'000", 1_250_000.0),
        ("1.250.000", 1_250_000.0),
        ("USD 0.99", 0.99),
    ];
    for (text, amount) in amounts {
        is_true(&format!("amount(args.a) == {amount:?}"), &json!({ "a": text }));
    }
    is_true("amount(args.a) == 12.0", &json!({ "a": 12 }));
    for text in [
        "1.250",
        "1,250",
        "",
        "ten",
        "1,2,3",
        "12 or 13",
        "1..2",
        "--5",
        "1,25,00.5",
        "5k EUR",
        "5 million",
        "5M",
        "5千",
        "EURO 5",
        "12 EUR 3",
    ] {
        assert!(holds("amount(args.a) > 0.0", &json!({ "a": text })).is_err(), "{text}");
    }
}

#[test]
fn patterns_and_globs_match_texts() {
    let args = json!({ "path": "src/main.rs", "globs": ["docs/*", "src/*.rs"] });
    is_true("args.path.matches('^src/') && matches(args.path, 'rs$')", &args);
    is_true("glob(args.path, 'src/*')", &args);
    is_false("glob(args.path, '*.md')", &args);
    is_true("args.globs.exists(it, glob(args.path, it))", &args);
    is_true(
        "args.path.lowerAscii() == 'src/main.rs' && args.path.upperAscii().endsWith('RS')",
        &args,
    );
}

#[test]
fn texts_are_split_and_paths_are_straightened() {
    let args = json!({ "l": "a, b,c", "p": "/srv/./data/../x//y/" });
    is_true("args.l.split(',') == ['a', ' b', 'c'] && size(''.split(',')) == 1", &args);
    is_true("path(args.p) == '/srv/x/y' && path('/') == '/'", &args);
    for path in ["", "a", "./a", "/..", "/a/../..", "C:\\\\a", "/a\\\\b"] {
        assert!(holds(&format!("path('{path}') == ''"), &args).is_err(), "{path}");
    }
}

#[test]
fn times_are_compared_and_taken_apart() {
    let args = json!({ "at": "2030-07-05T22:30:00Z", "for": "90m" });
    is_true("timestamp(args.at).getHours() == 22", &args);
    is_true("timestamp(args.at).getHours('Europe/Berlin') == 0", &args);
    is_true("timestamp(args.at).getDate('Europe/Berlin') == 6", &args);
    is_true("timestamp(args.at).getDayOfWeek() == 5 && timestamp(args.at).getMonth() == 6", &args);
    is_true("duration(args.for) > duration('1h') && duration(args.for).getMinutes() == 90", &args);
    is_true("now > timestamp('2020-01-01T00:00:00Z') && now - duration('1h') < now", &args);
    is_true("timestamp(args.at) + duration('2h') == timestamp('2030-07-06T00:30:00Z')", &args);
}

#[test]
fn names_without_a_call_are_empty() {
    let args = json!({});
    is_true("user.id == '' && user.roles == [] && size(user.attributes) == 0", &args);
    is_true("thread.counts.pay == 0 && thread.counts['server::pay'] == 0", &args);
    is_true("thread.counts[tool] == 0 && size(thread.counts) == 0", &args);
    is_true("thread.last('pay') == null", &args);
    is_true("call.depth == 0 && call.round == 1 && agent.path == [''] && tool == ''", &args);
}

#[test]
fn variables_are_those_of_the_rules() {
    let vars = json!({ "payees": ["Bakery"], "most": 100 });
    let of = |text: &str, args: Value| Condition::new(text, &vars).unwrap().holds_for(&args);
    assert_eq!(of("args.to in vars.payees", json!({ "to": "Bakery" })), Ok(true));
    assert_eq!(of("args.n > vars.most", json!({ "n": 100 })), Ok(false));
    assert_eq!(of("has(vars.payees) && !has(vars.others)", json!({})), Ok(true));
}
