//! Conditions mean what another implementation of CEL says.

use std::cell::Cell;

use cel::{Context, Program, Value as CelValue};
use hooks_agent_rules::Condition;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Converts JSON as conditions do: whole numbers are `int` where they fit.
fn cel_value(json: &Value) -> CelValue {
    match json {
        Value::Null => CelValue::Null,
        Value::Bool(it) => CelValue::Bool(*it),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => CelValue::Int(number),
            (_, Some(number), _) => CelValue::UInt(number),
            (_, _, number) => CelValue::Float(number.unwrap()),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => list.iter().map(cel_value).collect::<Vec<_>>().into(),
        Value::Object(map) => {
            let map = map.iter().map(|(key, value)| (key.clone(), cel_value(value)));
            map.collect::<std::collections::HashMap<_, _>>().into()
        }
    }
}

/// What both say: `None` is an error.
fn both(text: &str, args: &Value) -> Option<(Option<bool>, Option<bool>)> {
    let ours = Condition::new(text, &Value::Null).ok()?.holds_for(args).ok();
    let mut context = Context::default();
    context.add_variable_from_value("args", cel_value(args));
    let theirs = match Program::compile(text)
        .unwrap_or_else(|why| panic!("{text}: {why}"))
        .execute(&context)
    {
        Ok(CelValue::Bool(it)) => Some(it),
        _ => None,
    };
    Some((ours, theirs))
}

fn args() -> Value {
    json!({
        "n": 7, "m": -3, "z": 0, "big": 9_223_372_036_854_775_807_i64, "d": 2.5, "e": 7.0,
        "s": "Bakery", "t": "", "u": "ﬀ Zoë", "b": true, "c": false, "x": null,
        "l": [1, 2, 3], "k": ["a", "Bakery"], "empty": [], "mixed": [1, "a", null, 2.5, true],
        "o": { "a": 1, "s": "in", "l": [1] }, "p": {},
    })
}

fn leaf(
    names: &'static [&'static str],
    literals: &'static [&'static str],
) -> BoxedStrategy<String> {
    let names = proptest::sample::select(names).prop_map(|name| format!("args.{name}"));
    prop_oneof![3 => names, 2 => proptest::sample::select(literals).prop_map(str::to_owned)].boxed()
}

fn number(depth: u32) -> BoxedStrategy<String> {
    let leaf = leaf(
        &["n", "m", "z", "big", "d", "e", "o.a", "s", "missing", "x"],
        &[
            "0",
            "1",
            "-1",
            "7",
            "3",
            "2.5",
            "-0.5",
            "7u",
            "9223372036854775807",
            "-9223372036854775808",
            "1e3",
        ],
    );
    leaf.prop_recursive(depth, 12, 2, |inner| {
        let operator = proptest::sample::select(&["+", "-", "*", "/", "%"][..]);
        prop_oneof![
            4 => (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
            1 => inner.clone().prop_map(|a| format!("-({a})")),
            1 => text(0).prop_map(|it| format!("size({it})")),
            1 => list(0).prop_map(|it| format!("size({it})")),
            1 => list(0).prop_map(|it| format!("{it}[1]")),
            1 => (condition(0), inner.clone(), inner).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
        ]
    })
    .boxed()
}

fn text(depth: u32) -> BoxedStrategy<String> {
    let leaf =
        leaf(&["s", "t", "u", "o.s", "n", "missing"], &["'Bakery'", "''", "'a'", "\"ë\"", "'in'"]);
    leaf.prop_recursive(depth, 6, 2, |inner| {
        prop_oneof![(inner.clone(), inner).prop_map(|(a, b)| format!("({a} + {b})"))]
    })
    .boxed()
}

fn list(depth: u32) -> BoxedStrategy<String> {
    let leaf = leaf(
        &["l", "k", "empty", "mixed", "o.l", "n", "missing"],
        &["[1, 2]", "[]", "['a']", "[1, 'a', 2.5]"],
    );
    leaf.prop_recursive(depth, 6, 2, |inner| {
        prop_oneof![
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            1 => inner.clone().prop_map(|a| format!("{a}.map(it, it == 1)")),
            1 => inner.clone().prop_map(|a| format!("{a}.map(it, [it])")),
            1 => inner.prop_map(|a| format!("{a}.filter(it, it != 1)")),
        ]
    })
    .boxed()
}

fn condition(depth: u32) -> BoxedStrategy<String> {
    let compare = || proptest::sample::select(&["==", "!=", "<", "<=", ">", ">="][..]);
    let equal = || proptest::sample::select(&["==", "!="][..]);
    let leaf = prop_oneof![
        3 => leaf(&["b", "c", "n", "x", "missing"], &["true", "false"]),
        4 => (number(2), compare(), number(2)).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        2 => (text(1), compare(), text(1)).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        1 => (list(1), equal(), list(1)).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        1 => (number(1), equal(), text(1)).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        2 => (text(1), list(1)).prop_map(|(a, b)| format!("({a} in {b})")),
        2 => (number(1), list(1)).prop_map(|(a, b)| format!("({a} in {b})")),
        1 => text(0).prop_map(|a| format!("({a} in args.o)")),
        1 => proptest::sample::select(&["s", "missing", "x", "o.a", "o.zz", "n.a"][..])
            .prop_map(|name| format!("has(args.{name})")),
        1 => (text(1), text(0)).prop_map(|(a, b)| format!("{a}.contains({b})")),
        1 => (text(1), text(0)).prop_map(|(a, b)| format!("{a}.startsWith({b})")),
        1 => (text(1), text(0)).prop_map(|(a, b)| format!("{a}.endsWith({b})")),
        1 => text(1).prop_map(|a| format!("{a}.matches('^B.*y$')")),
        1 => Just("args.o == {'a': 1, 's': 'in', 'l': [1]}".to_owned()),
        1 => Just("args.p == {}".to_owned()),
    ];
    leaf.prop_recursive(depth, 24, 3, |inner| {
        let bodies = prop_oneof![
            Just("it == 1"),
            Just("it > 1"),
            Just("it == 'a'"),
            Just("it"),
            Just("size(it) > 0"),
            Just("it < 3 || it == args.missing"),
        ];
        let loops = proptest::sample::select(&["all", "exists", "exists_one"][..]);
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            2 => inner.clone().prop_map(|a| format!("!({a})")),
            2 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            2 => (inner.clone(), inner).prop_map(|(a, b)| format!("({a} == {b})")),
            3 => (list(1), loops.clone(), bodies).prop_map(|(l, o, b)| format!("{l}.{o}(it, {b})")),
            1 => loops.prop_map(|o| format!("args.o.{o}(it, it == 's')")),
        ]
    })
    .boxed()
}

#[test]
fn random_conditions_mean_what_another_implementation_says() {
    let args = args();
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let [compared, held, failed] = [const { Cell::new(0_usize) }; 3];
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let result = runner.run(&condition(3), |text| {
        let Some((ours, theirs)) = both(&text, &args) else { return Ok(()) };
        compared.update(|count| count + 1);
        held.update(|count| count + usize::from(ours == Some(true)));
        failed.update(|count| count + usize::from(ours.is_none()));
        prop_assert_eq!(ours, theirs, "{}", text);
        Ok(())
    });
    if let Err(why) = result {
        panic!("{why}");
    }
    let (compared, held, failed) = (compared.get(), held.get(), failed.get());
    println!("{compared} conditions, {held} hold, {failed} cannot be decided");
    assert!(compared > 1500 && held > 200 && failed > 200, "{compared} {held} {failed}");
}
