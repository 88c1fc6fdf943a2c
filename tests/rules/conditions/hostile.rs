//! Bounds of time and memory, for hostile conditions and arguments.

use std::process::Command;
use std::time::Instant;

use hooks_agent_rules::Condition;
use serde_json::{Value, json};

use crate::{condition, holds, mistake};

/// What a condition says that takes too many steps.
const SPENT: &str = "its condition takes more steps than a rule may take";

#[test]
fn conditions_that_are_too_large_are_refused() {
    let long = format!("args.a == '{}'", "x".repeat(1100));
    assert!(mistake(&long).starts_with("expected at most 1024 bytes, found 1112"));
    assert!(mistake(&"x".repeat(10 << 20)).starts_with("expected at most 1024 bytes"));
    let sum = format!("{}1 > 0", "1+".repeat(64));
    assert!(mistake(&sum).starts_with("expected at most 64 operators"));
    let fields = format!("args{} == 1", ".a".repeat(80));
    assert!(mistake(&fields).starts_with("expected at most 64 operators"));
    let brackets = format!("{}1{} == 1", "(".repeat(25), ")".repeat(25));
    assert!(mistake(&brackets).starts_with("expected at most 24 open brackets"));
    let not = format!("{}true", "!".repeat(65));
    assert!(mistake(&not).starts_with("expected at most 64 operators"));
    let nested = "args.l.all(a, args.l.all(b, args.l.all(c, a == b)))";
    assert!(mistake(nested).starts_with("expected at most 2 loops inside each other"));
    assert!(mistake("args.a.matches('(\\\\w{50}){50}')").starts_with("invalid pattern: "));
}

#[test]
fn the_largest_conditions_are_parsed_and_run_on_a_small_stack() {
    let run = || {
        let nested = format!("{}true{}", "!(".repeat(24), ")".repeat(24));
        assert_eq!(holds(&nested, &json!({})), Ok(true));
        let brackets = format!("{}args{} == []", "[".repeat(24), "]".repeat(24));
        assert_eq!(holds(&brackets, &json!({})), Ok(false));
        let signs = format!("{}1 == 1", "- ".repeat(60));
        assert_eq!(holds(&signs, &json!({})), Ok(true));
        let choices = format!("{}false", "true ? true : ".repeat(64));
        assert_eq!(holds(&choices, &json!({})), Ok(true));
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}

/// Conditions that cost much where nothing bounds them, with their arguments.
fn costly() -> Vec<(&'static str, Value)> {
    let list: Vec<_> = (0..1000).collect();
    let args = json!({ "l": list, "big": "x".repeat(1 << 20) });
    let rows = json!({ "rows": vec!["ab".repeat(450); 400] });
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let wide: Vec<_> = (0..100_000).map(|it| format!("key{it}")).collect();
    let wide = json!({ "l": list, "w": wide, "deep": deep });
    vec![
        ("size(args.l.map(x, args.big + 'x')) > 0", args.clone()),
        ("size(args.l.map(x, args.l.map(y, args.big.contains('y')))) > 0", args.clone()),
        ("size(args.l.map(x, args.l.map(y, [x, y]))) > 0", args.clone()),
        ("args.l.all(x, args.l.all(y, args.l == args.l))", args.clone()),
        ("args.l.exists(x, args.big.matches('(a|b|x)*y$'))", args.clone()),
        ("args.l.all(x, size(args.big) > 0 || x == 1)", args.clone()),
        ("args.l.all(x, args.l.all(y, x + y >= 0 || args.missing))", args.clone()),
        ("args.l.exists(x, args.l.exists(y, x + y < 0))", args.clone()),
        ("args.l.all(x, args.l.all(y, size(thread.counts) == 0 && user.roles == []))", args),
        ("args.rows.exists(x, args.rows.exists(y, y.matches('[ab]*a[ab]{200}c')))", rows),
        (
            "args.rows.exists(x, args.rows.exists(y, host('https://' + y) == ''))",
            json!({ "rows": vec!["a".repeat(900); 400] }),
        ),
        (
            "args.text.matches('\\\\b\\\\d{16}\\\\b')",
            json!({ "text": format!("é{}", "1 ".repeat(1 << 20)) }),
        ),
        ("args.w.exists(x, x in args.w && x == '')", wide.clone()),
        ("args.w.all(x, glob(x, x))", wide.clone()),
        ("args.l.all(x, args.w == args.w)", wide.clone()),
        ("args.w.map(x, args.w + args.w).size() > 0", wide),
    ]
}

#[test]
fn steps_that_are_spent_end_a_condition_whatever_it_would_be() {
    for (text, args) in costly() {
        let start = Instant::now();
        assert_eq!(holds(text, &args), Err(SPENT.to_owned()), "{text}");
        println!("{:>9.3?} {text}", start.elapsed());
    }
    // An error is swallowed by a side that decides; this one is not.
    let args = json!({ "l": (0..1000).collect::<Vec<_>>() });
    let spent = "args.l.all(x, args.l.all(y, x + y >= 0))";
    assert_eq!(holds(&format!("{spent} || true"), &args), Err(SPENT.to_owned()));
    assert_eq!(holds(&format!("!({spent}) && false"), &args), Err(SPENT.to_owned()));
    assert_eq!(holds(&format!("true || {spent}"), &args), Ok(true));
}

#[test]
fn large_arguments_are_read_once_without_complaint() {
    let args = json!({ "body": "x".repeat(10 << 20), "to": "Eve" });
    assert_eq!(holds("args.body.contains('secret')", &args), Ok(false));
    assert_eq!(holds("size(args.body) > 1000", &args), Ok(true));
    // A pattern may cost more.
    assert_eq!(holds("args.body.matches('sec.et')", &args), Err(SPENT.to_owned()));
    let text = json!({ "body": "x".repeat(500 << 10) });
    assert_eq!(holds("args.body.matches('sec.et')", &text), Ok(false));
    let list = json!({ "l": (0..20_000).collect::<Vec<_>>() });
    assert_eq!(holds("args.l.all(x, x >= 0)", &list), Ok(true));
}

/// The conditions above, in a process with 256 MB of memory.
#[test]
fn costly_conditions_stay_in_bounds_of_memory() {
    if std::env::var_os("RULES_IN_LITTLE_MEMORY").is_some() {
        for (text, args) in costly() {
            assert_eq!(
                Condition::new(text, &Value::Null).unwrap().holds_for(&args),
                Err(SPENT.into())
            );
        }
        return;
    }
    let test = std::env::current_exe().unwrap();
    let name = "hostile::costly_conditions_stay_in_bounds_of_memory";
    let run =
        format!("ulimit -v 262144 && exec '{}' --exact {name} --test-threads 1", test.display());
    let ended =
        Command::new("sh").args(["-c", &run]).env("RULES_IN_LITTLE_MEMORY", "1").output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{printed}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(printed.contains("1 passed"), "{printed}");
}

/// Issues of implementations of CEL: what they crashed on, or ran on for ever.
#[test]
fn shapes_that_broke_other_implementations_are_errors_or_values() {
    let args = json!({ "a": "x", "l": [1] });
    for text in [
        "-9223372036854775808 / -1 == 0",
        "-9223372036854775808 % -1 == 0",
        "-(-9223372036854775808) == 0",
        "9223372036854775807 + 1 > 0",
        "1 / 0 == 0",
        "1 % 0 == 0",
        "1u - 2u == 0u",
        "args.l[9223372036854775807] == 0",
        "args.l[-1] == 0",
        "{1: 1, 1u: 2}[1] == 1",
        "timestamp('9999-12-30T00:00:00Z') + duration('9000000h') > now",
        "timestamp(args.a) > now",
        "duration(args.a + '99999999999999999999h') > duration('1s')",
        "int('9223372036854775808') > 0",
        "int(1e300) > 0",
        "uint(-1) > 0u",
        "now.getHours(args.a) == 0",
        "args.a.b.c == 1",
        "args.a[0] == 'x'",
        "args == {}['x']",
    ] {
        assert!(condition(text).holds_for(&args).is_err(), "{text}");
    }
    // Other implementations say that nothing is more than what is no number, so that a limit lets it pass.
    for text in ["0.0 / 0.0 > 1.0", "double('nan') > 1.0", "double('inf') < 1.0"] {
        assert!(condition(text).holds_for(&args).is_err(), "{text}");
    }
    for text in [
        "timestamp('0000-00-00T00:00:00Z') > now",
        "duration('99999999999999999999h') > duration('1s')",
        "duration('') == duration('0s')",
        "duration('-') == duration('0s')",
        ".a == 1",
        "a.",
        "a..b",
        "[",
        "{",
        "((",
        "''''",
        "'''",
        "\"\\u12\"",
        "'\\U00110000'",
        "0x",
        "1e",
        "?:",
        "a?b",
        "1.2.3",
        "r'",
        "//",
        "\0",
        "\u{feff}true",
    ] {
        assert!(Condition::new(text, &Value::Null).is_err(), "{text:?}");
    }
}
