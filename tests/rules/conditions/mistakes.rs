//! Mistakes in conditions are found with their places.

use hooks_agent_rules::Condition;
use serde_json::json;

use crate::mistake;

#[track_caller]
fn says(text: &str, expected: &str) {
    assert_eq!(mistake(text), expected, "{text}");
}

#[test]
fn names_that_nobody_knows_are_found_with_their_place() {
    let names = "`args`, `tool`, `server`, `agent`, `user`, `now`, `thread`, `call`, `vars`";
    says(
        "arg.euros > 1",
        &format!(
            "unknown name `arg`, did you mean `args`? expected one of {names}, at character 1"
        ),
    );
    says(
        "args.a > 1 && user.role == 'x'",
        "unknown field `role`, did you mean `roles`? expected one of `id`, `roles`, `attributes`, \
         at character 20",
    );
    says(
        "args.l.exists(it, item == 1)",
        &format!("unknown name `item`; expected one of {names}, `it`, at character 19"),
    );
    says(
        "user == 'ada'",
        "expected a field of it: `user.id`, `user.roles`, `user.attributes`, at character 1",
    );
    assert!(mistake("siz(args.l) > 1").starts_with("unknown function `siz`, did you mean `size`?"));
    says(
        "vars.payees == []",
        "there is no variable `payees`: write it in `[vars]`, at character 6",
    );
    let vars = json!({ "payees": [] });
    assert_eq!(
        Condition::new("args.to in vars.payes", &vars).unwrap_err(),
        "unknown variable `payes`, did you mean `payees`? expected `payees`, at character 17"
    );
}

#[test]
fn types_that_cannot_fit_are_found_before_anything_runs() {
    says("'a' > 1", "`>` does not take string and int, at character 5");
    says("now > 5", "`>` does not take timestamp and int, at character 5");
    says("agent.name + 1 == 'a'", "`+` does not take string and int, at character 12");
    says("size(args.l) == 'a'", "`==` does not take int and string, at character 14");
    says("1 + 1.0 == 2.0", "`+` does not take int and double, at character 3");
    says("args.a + 1", "expected a condition, which is bool, found int, at character 8");
    says("!size('a')", "expected bool, found int, at character 2");
    says("user.id.all(it, true)", "expected a list or a map, found string, at character 5");
    says("size(1) == 1", "`size` takes string or list or map, found int, at character 6");
    says("args.a in 'text'", "`in` does not take any value and string, at character 8");
    says("tool.name == 'a'", "string has no fields, so no `name`, at character 5");
    says(
        "'a' == 1 || now == 1",
        "`==` does not take string and int, at character 5; `==` does not take timestamp and int, at character 17",
    );
}

#[test]
fn syntax_that_is_none_is_found_with_its_place() {
    says("", "expected an expression, found nothing, at character 1");
    says("args.a >", "expected a value, found the end, at character 9");
    says("args.a = 1", "expected `==`, found `=`, at character 8");
    says("args.a == 1)", "`)` closes nothing, at character 12");
    says("(args.a == 1", "`(` is not closed, at character 1");
    says("args.a == 'x", "the string is not closed, at character 11");
    says("args.a == 1 2", "expected an operator, found a number, at character 13");
    says("args.a == b'x'", "rules have no bytes: write a string, at character 11");
    says("if(args.a)", "`if` is a reserved word, at character 1");
    says("args.1", "expected an operator, found a number, at character 5");
    says("a.b.c;", "unexpected character `;` (U+003B), at character 6");
    says("'a\\q' == ''", "expected an escape such as `\\n`, `\\\"` or `\\u00e9`, at character 3");
    says("99999999999999999999 > 1", "expected a number of 64 bits, at character 1");
    says("args.?a == 1", "expected the name of a field, found `?`, at character 6");
    says("Payment{euros: 1} == 1", "expected an operator, found `{`, at character 8");
    // The first letter is not the Latin one.
    says(
        "\u{430}rgs.a == 1",
        "names have the letters a to z alone, found `\u{430}` (U+0430), at character 1",
    );
}

#[test]
fn functions_are_called_as_they_are_meant() {
    says("contains('a', 'b')", "expected a value before it: `value.contains(..)`, at character 1");
    says("'a'.int() == 1", "expected `int(..)`: it is no method, at character 4");
    says("'a'.contains()", "`contains` takes 1 arguments, found 0, at character 4");
    says("args.a.matches(args.b)", "expected a pattern that is written out, at character 20");
    says(
        "args.a.matches('\\bdrop\\b')",
        "the pattern has a control character: write it as r\"..\", in which `\\b` stays what it is, at character 16",
    );
    says(
        "thread.counts['pay_*'] > 1",
        "expected the name of a tool, found a glob, at character 15",
    );
    says(
        "now > timestamp('2030-12-20')",
        "`timestamp` expects a time such as `2030-01-31T08:00:00Z`, at character 7",
    );
    says(
        "now.getHours('Europe/Berln') > 1",
        "expected a time zone such as `Europe/Berlin`, at character 4",
    );
    says("args.a.matches('(')", "invalid pattern: unclosed group, at character 16");
    says(
        "glob(args.a, '[')",
        "invalid glob: unclosed character class; missing ']', at character 14",
    );
    says("has(args)", "`has` takes a field such as `args.to`, at character 5");
    says("args.l.all(1, true)", "expected the name of a variable, at character 12");
    says("args.l.all(args, true)", "`args` is taken; expected another name, at character 12");
    says(
        "thread.last(args.tool) == null",
        "expected the name of a tool, such as `\"search\"`, at character 17",
    );
    says(
        "'user' in origin(args.to)",
        "`origin` takes the path of an argument, such as `\"args.to\"`, at character 11",
    );
}
