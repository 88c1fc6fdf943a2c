//! Calls that go in circles, and those that only look so.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_agent_builtin::limit::{Exit, LoopDetected, LoopDetection};
use hooks_agent_core::hook::priority;
use hooks_agent_core::message::{GenerateReason, ToolOutput};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_core::tool::{Effect, Permission};
use serde_json::{Value, json};

use crate::task::cause;

/// A tool call with its result: a text, or an error.
type Step = (&'static str, Value, Result<Value, &'static str>);

fn step(tool: &'static str, input: Value, result: impl Into<Value>) -> Step {
    (tool, input, Ok(result.into()))
}

fn fails(tool: &'static str, input: Value, error: &'static str) -> Step {
    (tool, input, Err(error))
}

/// What a call comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It goes on to its end, and the model reads nothing.
    Nothing,
    /// In this round the model reads of it; the call goes on.
    Told(usize),
    /// In the first of the rounds the model reads of it; the call ends in the second.
    Ended(usize, usize),
}

use Seen::{Ended, Nothing, Told};

/// Runs a call of these rounds and returns what came of it. `read`, `list`, `search` and `page` read; `status`
/// is polled.
fn run(rounds: &[Vec<Step>]) -> Seen {
    let tools = ["read", "list", "search", "page", "status", "write", "click", "send", "test"];
    let all: Arc<Vec<Step>> = Arc::new(rounds.iter().flatten().cloned().collect());
    let number = Arc::new(AtomicUsize::new(0));
    let mut script = Script::new();
    for round in rounds {
        // Models use ids again.
        let calls = round.iter().enumerate();
        script = script.calls(
            calls.map(|(id, (tool, input, _))| ToolUse::new(id.to_string(), *tool, input.clone())),
        );
    }
    let script = script.says("done");
    let mut builder = ReActAgent::builder("bot").model(script.clone()).max_iters(100);
    for name in tools {
        let (all, number) = (all.clone(), number.clone());
        let run = move |_: Value| {
            let (_, _, result) = all[number.fetch_add(1, Ordering::Relaxed)].clone();
            async move {
                match result {
                    Ok(Value::String(text)) => Ok(ToolOutput::text(text)),
                    Ok(value) => Ok(ToolOutput::json(value)),
                    Err(error) => Err(error),
                }
            }
        };
        let reads = ["read", "list", "search", "page", "status"].contains(&name);
        let effect = if reads { Effect::Reads } else { Effect::Changes };
        builder = builder.tool(FunctionTool::new(name, name, run).effect(effect));
    }
    let agent = builder.hook(LoopDetection::new().polling(["status"])).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    let told = script.requests().iter().position(|request| {
        request.messages.last().is_some_and(|msg| msg.text().starts_with("[Note: "))
    });
    match (told, reply.reason) {
        (None, _) if reply.text() == "done" => Seen::Nothing,
        (Some(told), _) if reply.text() == "done" => Seen::Told(told),
        (Some(told), Some(GenerateReason::LimitReached)) => {
            assert!(reply.text().starts_with("The call was ended because it went in circles: "));
            // Nothing of it is in memory.
            let messages = agent.memory().messages();
            assert!(!messages.iter().any(|msg| msg.text().contains("[Note: ")));
            Seen::Ended(told, script.requests().len())
        }
        other => panic!("{other:?} {reply:?}"),
    }
}

/// Rounds of one tool call each.
fn one_each(steps: impl IntoIterator<Item = Step>) -> Vec<Vec<Step>> {
    steps.into_iter().map(|step| vec![step]).collect()
}

fn times(count: usize, round: impl Fn(usize) -> Vec<Step>) -> Vec<Vec<Step>> {
    (0..count).map(round).collect()
}

/// What a shape is, what it comes to, and its rounds.
type Shape = (&'static str, Seen, Vec<Vec<Step>>);

fn q(text: &str) -> Value {
    json!({ "q": text })
}

fn page(number: usize) -> Value {
    json!({ "page": number })
}

fn path(name: &str) -> Value {
    json!({ "path": name })
}

fn the_same_call() -> Vec<Shape> {
    vec![
        (
            "the same call with the same result",
            Ended(3, 6),
            times(9, |_| vec![step("search", q("x"), "nothing")]),
        ),
        ("three times, then something else", Told(3), {
            let mut rounds = times(3, |_| vec![step("search", q("x"), "nothing")]);
            rounds.push(vec![step("search", q("y"), "found")]);
            rounds
        }),
        ("twice", Nothing, times(2, |_| vec![step("search", q("x"), "nothing")])),
        (
            "the keys in another order",
            Ended(3, 6),
            times(9, |n| {
                let text = if n % 2 == 0 { r#"{"a": 1, "b": 2}"# } else { r#"{"b": 2, "a": 1}"# };
                vec![step("search", serde_json::from_str(text).unwrap(), "nothing")]
            }),
        ),
        (
            "other case and blanks",
            Ended(3, 6),
            times(9, |n| {
                let text = ["Weather in Rome", "weather  in rome", " WEATHER IN ROME "][n % 3];
                vec![step("search", q(text), "sunny")]
            }),
        ),
        (
            "a number with a fraction of nothing",
            Ended(3, 6),
            times(9, |n| {
                let input = if n % 2 == 0 { json!({ "n": 1 }) } else { json!({ "n": 1.0 }) };
                vec![step("search", input, "nothing")]
            }),
        ),
        (
            "a field that is null",
            Ended(3, 6),
            times(9, |n| {
                let input =
                    if n % 2 == 0 { json!({ "n": 1 }) } else { json!({ "n": 1, "more": null }) };
                vec![step("search", input, "nothing")]
            }),
        ),
        (
            "the same error",
            Ended(3, 6),
            times(9, |_| vec![fails("write", path("/etc/x"), "permission denied")]),
        ),
        (
            "the same change with the same answer",
            Ended(3, 6),
            times(9, |_| vec![step("write", path("a"), "written")]),
        ),
        (
            "the same call whose result grows",
            Nothing,
            times(12, |n| {
                vec![step("read", path("log"), format!("line {n} of it, {}", "x".repeat(n)))]
            }),
        ),
        (
            "the same call three times in one answer",
            Told(1),
            vec![
                vec![
                    step("search", q("x"), "no"),
                    step("search", q("x"), "no"),
                    step("search", q("x"), "no"),
                ],
                vec![step("search", q("y"), "yes")],
            ],
        ),
        (
            "a read between other reads that go on",
            Nothing,
            times(12, |n| {
                if n % 2 == 0 {
                    vec![step("read", path("todo"), "the list")]
                } else {
                    vec![step("read", path(&format!("f{n}")), format!("text of {}", n * 31))]
                }
            }),
        ),
    ]
}

fn in_turns() -> Vec<Shape> {
    vec![
        (
            "ping and pong",
            Ended(6, 12),
            times(16, |n| {
                if n % 2 == 0 {
                    vec![step("write", path("a"), "one")]
                } else {
                    vec![step("test", q("a"), "two")]
                }
            }),
        ),
        (
            "ping and pong, read and searched",
            Ended(6, 10),
            times(16, |n| {
                if n % 2 == 0 {
                    vec![step("read", path("a"), "one")]
                } else {
                    vec![step("search", q("a"), "two")]
                }
            }),
        ),
        (
            "three in turns",
            Ended(9, 18),
            times(24, |n| vec![step("write", path(["a", "b", "c"][n % 3]), "done")]),
        ),
        (
            "four in turns",
            Ended(12, 24),
            times(30, |n| vec![step("write", path(["a", "b", "c", "d"][n % 4]), "done")]),
        ),
        (
            "two in turns, twice",
            Nothing,
            times(4, |n| vec![step("write", path(["a", "b"][n % 2]), "done")]),
        ),
        (
            "write and test, until it passes",
            Nothing,
            times(11, |n| {
                if n % 2 == 0 {
                    vec![step("write", json!({ "path": "a", "text": n }), "written")]
                } else {
                    vec![step("test", q("a"), format!("{n} of 9 pass"))]
                }
            }),
        ),
        (
            "write and test with the same failure",
            Nothing,
            times(8, |n| {
                // What is written differs each time.
                if n % 2 == 0 {
                    vec![step("write", json!({ "path": "a", "text": n }), "written")]
                } else {
                    vec![fails("test", q("a"), "1 fails")]
                }
            }),
        ),
        (
            "two at once, in another order each time",
            Ended(3, 6),
            times(9, |n| {
                let mut both = vec![step("read", path("a"), "one"), step("read", path("b"), "two")];
                if n % 2 == 1 {
                    both.reverse();
                }
                both
            }),
        ),
    ]
}

fn pages() -> Vec<Shape> {
    vec![
        (
            "pages that have something",
            Nothing,
            times(20, |n| {
                vec![step("page", page(n), format!("entries {} to {}", n * 10 + 7, n * 10 + 17))]
            }),
        ),
        (
            "pages past the end, empty",
            Ended(6, 9),
            times(12, |n| vec![step("page", page(n), json!([]))]),
        ),
        (
            "pages past the end, with their number",
            Ended(6, 9),
            times(12, |n| vec![step("page", page(n), format!("no results on page {n}"))]),
        ),
        (
            "pages past the end of a tool that says nothing of itself",
            Ended(6, 9),
            times(12, |n| vec![step("send", page(n), json!({}))]),
        ),
        ("offsets that end after some pages", Told(10), {
            let mut rounds =
                times(4, |n| vec![step("page", page(n), format!("entry {}", n + 900))]);
            rounds.extend(times(6, |n| vec![step("page", page(n + 4), json!([]))]));
            rounds
        }),
        (
            "pages with one entry each",
            Nothing,
            times(20, |n| vec![step("page", page(n), json!([{ "id": format!("k{n}x") }]))]),
        ),
    ]
}

fn polling() -> Vec<Shape> {
    vec![
        ("a job that is polled", Nothing, times(30, |_| vec![step("status", q("job"), "running")])),
        ("a job that is polled, with its end", Nothing, {
            let mut rounds = times(10, |_| vec![step("status", q("job"), "running")]);
            rounds.push(vec![step("status", q("job"), "done")]);
            rounds
        }),
        (
            "a circle with polling in between",
            Ended(5, 11),
            times(20, |n| {
                // Every second round is looked at.
                if n % 2 == 0 {
                    vec![step("write", path("a"), "done")]
                } else {
                    vec![step("status", q("job"), "running")]
                }
            }),
        ),
        (
            "polling beside work",
            Nothing,
            times(12, |n| {
                vec![
                    step("status", q("job"), "running"),
                    step("read", path(&format!("f{n}")), format!("t{}", n * 17 + 500)),
                ]
            }),
        ),
    ]
}

fn no_news() -> Vec<Shape> {
    vec![
        (
            "other words, the same answer",
            Ended(6, 9),
            times(12, |n| vec![step("search", q(&format!("try {n}x")), "nothing was found")]),
        ),
        (
            "other paths, the same error",
            Ended(6, 9),
            times(12, |n| vec![fails("write", path(&format!("d{n}")), "permission denied")]),
        ),
        (
            "errors that differ",
            Nothing,
            times(12, |n| {
                let errors = [
                    "no a", "no b", "no c", "no d", "no e", "no f", "no g", "no h", "no i", "no j",
                    "no k", "no l",
                ];
                vec![fails("send", q("x"), errors[n])]
            }),
        ),
        (
            "writing twelve files",
            Nothing,
            times(12, |n| vec![step("write", path(&format!("f{n}")), "written")]),
        ),
        (
            "clicking through twelve pages",
            Nothing,
            times(12, |n| vec![step("click", json!({ "on": format!("next {n}") }), "ok")]),
        ),
        (
            "reading twelve files, one of them empty",
            Nothing,
            times(12, |n| {
                let text = if n == 5 { String::new() } else { format!("text {}", n + 100) };
                vec![step("read", path(&format!("f{n}")), text)]
            }),
        ),
        (
            "four rounds without news",
            Nothing,
            one_each((0..5).map(|n| step("search", q(&format!("try {n}x")), "nothing"))),
        ),
        ("news after five rounds without", Told(6), {
            let mut rounds = times(6, |n| vec![step("search", q(&format!("try {n}x")), "nothing")]);
            rounds.extend(times(5, |n| vec![step("search", q("y"), format!("found {}", n + 70))]));
            rounds
        }),
        (
            "one of two says something new",
            Nothing,
            times(12, |n| {
                vec![
                    step("search", q(&format!("w{n}")), "nothing"),
                    step("read", path(&format!("f{n}")), format!("text {}", n + 300)),
                ]
            }),
        ),
        (
            "lists that shrink",
            Nothing,
            times(10, |n| vec![step("list", path("inbox"), json!((n..12).collect::<Vec<_>>()))]),
        ),
        ("no tools at all", Nothing, vec![]),
    ]
}

#[test]
fn recorded_shapes_of_calls_come_to_what_they_should() {
    let shapes = [the_same_call(), in_turns(), pages(), polling(), no_news()];
    let shapes: Vec<_> = shapes.into_iter().flatten().collect();
    assert!(shapes.len() >= 40, "{}", shapes.len());
    for (name, expected, rounds) in shapes {
        assert_eq!(run(&rounds), expected, "{name}");
    }
}

fn stubborn(hook: impl AgentHook) -> ReActAgent {
    let model = ScriptedModel::new("stubborn", |_| ToolUse::new("1", "search", json!({})));
    let search = FunctionTool::new("search", "Searches.", async |_: Value| "nothing");
    ReActAgent::builder("bot").model(model).tool(search).hook(hook).max_iters(50).build().unwrap()
}

#[test]
fn it_fails_the_call_if_it_is_told_so() {
    let agent = stubborn(LoopDetection::new().repeats(2, 4).exit(Exit::Error));
    let error = block_on(agent.call("go")).unwrap_err();
    let text = "`search` was called 4 times with the same arguments and the same result";
    assert_eq!(cause::<LoopDetected>(&error).to_string(), text);
    assert_eq!(agent.memory().messages().iter().flat_map(Msg::tool_results).count(), 4);
}

#[test]
fn what_the_user_says_begins_anew_and_a_call_that_resumes_goes_on() {
    let agent = stubborn(LoopDetection::new().repeats(2, 3));
    for _ in 0..2 {
        let before = agent.memory().messages().iter().flat_map(Msg::tool_results).count();
        let reply = block_on(agent.call("go")).unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
        let after = agent.memory().messages().iter().flat_map(Msg::tool_results).count();
        assert_eq!(after - before, 3);
    }

    // A person approves the same call again and again.
    let model = ScriptedModel::new("stubborn", |_| ToolUse::new("1", "pay", json!({ "euros": 1 })));
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "declined");
    let pay = pay.permission(|_| Permission::Ask);
    let builder = ReActAgent::builder("bot").model(model).tool(pay);
    let agent = builder.hook(LoopDetection::new().repeats(2, 3)).build().unwrap();
    let mut reply = block_on(agent.call("go")).unwrap();
    let mut asked = 0;
    while let Some(pending) = reply.pending().first() {
        asked += 1;
        reply = block_on(agent.resume(CallOptions::new().confirm(&pending.id))).unwrap();
    }
    assert_eq!((asked, reply.reason), (3, Some(GenerateReason::LimitReached)));
}

#[test]
fn a_sub_agent_is_looked_at_by_itself() {
    let sub = stubborn(on(|_: &mut PreCall<'_>| {}));
    let model =
        Script::new().calls([ToolUse::new("1", "bot", json!({ "task": "go" }))]).says("end");
    let boss = ReActAgent::builder("boss").model(model).tool(sub.to_tool("Does it."));
    let boss = boss.hook(LoopDetection::new()).build().unwrap();
    assert_eq!(block_on(boss.call("go")).unwrap().text(), "end");
    let results = boss.memory().messages();
    let result = results.iter().flat_map(Msg::tool_results).next().unwrap();
    assert!(result.output.as_str().contains("went in circles"), "{result:?}");
}

#[test]
fn it_sees_results_as_hooks_left_them() {
    // A hook removes what differs.
    let number = AtomicUsize::new(0);
    let count = move |_: Value| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        async move { format!("nothing, in {number} ms") }
    };
    let cut = on(|event: &mut PostActing<'_>| {
        event
            .tool_result_mut()
            .output
            .map_text(|text| text.split(',').next().unwrap_or_default().to_owned());
    });
    let model = ScriptedModel::new("stubborn", |_| ToolUse::new("1", "search", json!({})));
    let builder = ReActAgent::builder("bot").model(model).max_iters(20);
    let builder = builder.tool(FunctionTool::new("search", "Searches.", count));
    let agent = builder.hook(LoopDetection::new()).hook(cut.with_priority(priority::SECURITY));
    let reply = block_on(agent.build().unwrap().call("go")).unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
}
