//! The cost of rules: loading a thousand, a condition beside another implementation of CEL, and a call with rules
//! about its tool and about others.
//!
//! `cargo bench -p hooks-agent-rules-tests --bench rules` prints one line per case, on one core.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use cel::{Context, Program};
use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{Policy, PolicyFile};
use hooks_agent_rules::{Condition, Rules, RulesBuilder, Then, ToolRule};
use serde_json::{Value, json};

/// The condition of the guide.
const CONDITION: &str = "args.euros > 1000 && !(args.to in vars.payees)";

/// The median time of a run, of this many, each of which does this much.
fn median<T>(runs: usize, each: u32, mut run: impl FnMut() -> T) -> Duration {
    let mut times: Vec<_> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..each {
                black_box(run());
            }
            start.elapsed() / each
        })
        .collect();
    times.sort_unstable();
    times[runs / 2]
}

fn line(case: &str, time: Duration) {
    println!("{case:<66} {time:>12.2?}");
}

fn thousand(last: &str) -> String {
    let mut text = "version = 1\nvars = { payees = [\"Bakery\"] }\n".to_owned();
    for index in 0..1000 {
        let euros = if index == 999 { last.to_owned() } else { index.to_string() };
        let _ = write!(
            text,
            "[[rule]]\nname = \"rule {index}\"\ntools = [\"pay_{index}\"]\nthen = \"deny\"\n\
             when = \"args.euros > {euros} && !(args.to in vars.payees)\"\n"
        );
    }
    text
}

fn loading() {
    let vars = json!({ "payees": ["Bakery"] });
    line("a condition is compiled", median(9, 2000, || Condition::new(CONDITION, &vars)));
    line("  by the crate cel", median(9, 200, || Program::compile(CONDITION)));
    let text = thousand("999");
    let open = || Policy::builder().project(PolicyFile::text("p", text.as_str())).open().unwrap();
    line("a policy of 1,000 rules is loaded from nothing", median(9, 1, open));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    fs::write(&file, &text).unwrap();
    let policy = Policy::builder().project(&file).open().unwrap();
    line("  reloaded, nothing changed", median(9, 1, || policy.reload().unwrap()));
    let mut number = 0;
    let reload = || {
        number += 1;
        fs::write(&file, thousand(&number.to_string())).unwrap();
        assert!(policy.reload().unwrap().version > 1);
    };
    line("  reloaded, one rule changed", median(9, 1, reload));
}

fn conditions() {
    let args = json!({ "euros": 5000, "to": "Eve", "note": "x".repeat(1000) });
    let vars = json!({ "payees": ["Bakery", "Landlord", "Painter"] });
    let condition = Condition::new(CONDITION, &vars).unwrap();
    line("a condition is evaluated", median(9, 20_000, || condition.holds_for(&args)));
    let program = Program::compile(CONDITION).unwrap();
    let mut context = Context::default();
    context.add_variable("args", &args).unwrap();
    context.add_variable("vars", &vars).unwrap();
    line(
        "  by the crate cel, its context made before",
        median(9, 20_000, || program.execute(&context)),
    );
    let with_context = || {
        let mut context = Context::default();
        context.add_variable("args", &args).unwrap();
        context.add_variable("vars", &vars).unwrap();
        program.execute(&context)
    };
    line("  by the crate cel, with its context", median(9, 2000, with_context));
}

/// Conditions that take all steps that one may take, or nearly.
fn bounds() {
    let list: Vec<_> = (0..1000).collect();
    let large = json!({ "l": list, "body": "é".repeat(48 << 20) });
    let text = json!({ "t": "é1 ".repeat(180_000) });
    let quarter = json!({ "t": "é1 ".repeat(45_000) });
    for (case, args, text, is_decided) in [
        ("all steps, on numbers", &large, "args.l.all(x, args.l.all(y, x + y >= 0))", false),
        ("all steps, on lists", &large, "args.l.all(x, args.l.all(y, args.l == args.l))", false),
        (
            "all steps, on new lists",
            &large,
            "size(args.l.map(x, args.l.map(y, [x, y]))) > 0",
            false,
        ),
        ("96 MiB are searched for a text", &large, "args.body.contains('secret')", true),
        ("720 KB are searched for a pattern", &text, "args.t.matches('sec.et')", true),
        ("180 KB are searched for Unicode words", &quarter, r"args.t.matches(r'\b\w+@')", true),
    ] {
        let condition = Condition::new(text, &Value::Null).unwrap();
        assert_eq!(condition.holds_for(args).is_ok(), is_decided, "{case}");
        line(case, median(9, 1, || condition.holds_for(args)));
    }
}

/// An agent whose model pays once.
fn agent(rules: Option<Rules>) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "paid".into(),
            None => ToolUse::new("1", "pay", json!({ "euros": 5000, "to": "Eve" })).into(),
        }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let builder = ReActAgent::builder("clerk").model(model).tool(pay);
    match rules {
        Some(rules) => builder.hook(rules).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

/// The time of a call with a tool call, each on a thread of its own.
fn call(rules: Option<Rules>) -> Duration {
    let agent = agent(rules);
    let mut thread = 0_u32;
    let run = || {
        thread += 1;
        let options = CallOptions::new().thread(thread.to_string());
        block_on(agent.call_with(options, "Pay")).unwrap()
    };
    median(15, 400, run)
}

fn rules(count: usize, tool: &str) -> Rules {
    let rules = (0..count).map(|index| {
        ToolRule::new(format!("rule {index}"), Then::Deny)
            .tools([tool])
            .when(format!("args.euros > {} && !(args.to in vars.payees)", 10_000 + index))
    });
    let builder = rules.fold(Rules::builder(), RulesBuilder::rule);
    builder.var("payees", json!(["Bakery", "Landlord", "Painter"])).build().unwrap()
}

fn calls() {
    let plain = call(None);
    line("a call of an agent with one tool call, without rules", plain);
    line("  with 1,000 rules about other tools", call(Some(rules(1000, "transfer"))));
    let (one, hundred) = (call(Some(rules(1, "pay"))), call(Some(rules(101, "pay"))));
    line("  with 1 rule about the tool", one);
    line("  with 101 rules about the tool", hundred);
    let each = hundred.saturating_sub(one) / 100;
    line("  each further rule about the tool", each);
    let share = each.as_secs_f64() / one.as_secs_f64();
    println!("{:<66} {:>11.2} %", "    as a share of a call with one", share * 100.0);
}

fn main() {
    loading();
    conditions();
    bounds();
    calls();
}
