//! `Sanitize`: everybody has the same text, and a text that cannot be replaced is refused.

use std::fmt;
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::guard::{Sanitize, SanitizeError};
use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::{Value, json};

use crate::everything::shown_of;

fn keys() -> Sanitize {
    Sanitize::new("sk-[0-9]+", "[key]").unwrap()
}

fn calls(tool: &str) -> Script {
    Script::new().calls([ToolUse::new("1", tool, json!({}))]).says("done")
}

/// The result in memory of a tool that returns this.
fn result_of(hook: impl AgentHook, output: impl Into<ToolOutput>) -> ToolResult {
    let tool = Calls::new("read").answers(output);
    let agent = ReActAgent::builder("bot").model(calls("read")).tool(tool).hook(hook);
    result(&agent.build().unwrap())
}

/// The text of this result.
fn text_of(hook: Sanitize, text: &str) -> String {
    result_of(hook, text).output.to_string()
}

fn result(agent: &ReActAgent) -> ToolResult {
    block_on(agent.call("go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    history.iter().flat_map(Msg::tool_results).next().unwrap().clone()
}

/// An error whose source and `Debug` form have more than its text.
#[derive(Debug)]
struct Outer(Inner);

#[derive(Debug)]
struct Inner(&'static str);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outer")
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Inner {}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn what_is_replaced_appears_nowhere() {
    for fails in [false, true] {
        let leak =
            FunctionTool::with_context("leak", "Leaks.", move |_: Value, cx: ToolContext| {
                cx.progress("progress sk-123");
                let output =
                    ToolOutput::json(json!({ "sk-123": ["a\"sk-123", { "n": "sk-123" }] }))
                        .with_block(ContentBlock::text("block sk-123"));
                async move { if fails { Err("failed with sk-123") } else { Ok(output) } }
            });
        let builder = ReActAgent::builder("bot").tool(leak).hook(keys());
        let shown = block_on(shown_of(builder, calls("leak")));
        assert!(!shown.contains("sk-123") && shown.contains("progress [key]"), "{shown}");
        assert!(shown.contains(if fails { "failed with [key]" } else { "block [key]" }), "{shown}");
    }
}

#[test]
fn the_sources_and_the_debug_form_of_an_error_are_replaced_too() {
    let leak =
        FunctionTool::new("leak", "Leaks.", async |_: Value| Err::<&str, _>(Outer(Inner("sk-1"))));
    let shown =
        block_on(shown_of(ReActAgent::builder("bot").tool(leak).hook(keys()), calls("leak")));
    assert!(!shown.contains("sk-1") && shown.contains("outer"), "{shown}");
}

#[test]
fn an_error_without_matches_keeps_its_type() {
    struct Look;

    #[agent_hook]
    impl Look {
        async fn look(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let ended = next.run(call.into_tool_use()).await;
            let Err(ToolError::Failed(error)) = &ended else { panic!("{ended:?}") };
            assert!(error.is::<Outer>());
            ended
        }
    }

    let leak =
        FunctionTool::new("leak", "Fails.", async |_: Value| Err::<&str, _>(Outer(Inner("x"))));
    let agent = ReActAgent::builder("bot").model(calls("leak")).tool(leak);
    let agent = agent.hook(Look.with_priority(1)).hook(keys()).build().unwrap();
    assert_eq!(result(&agent).output, "outer");
}

#[test]
fn a_hook_further_in_that_fails_the_call_leaks_nothing() {
    struct Fail;

    #[agent_hook]
    impl Fail {
        async fn fail(&self, _: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
            Err(next.fail("it failed with sk-123"))
        }
    }

    let builder = ReActAgent::builder("bot").tool(Calls::new("read")).hook(keys()).hook(Fail);
    let shown = block_on(shown_of(builder, calls("read")));
    assert!(!shown.contains("sk-123") && shown.contains("failed with [key]"), "{shown}");
}

#[test]
fn a_result_in_place_of_the_tool_is_replaced_too() {
    let answer = on(|event: &mut PreActing<'_>| event.answer("cached sk-123"));
    let agent = ReActAgent::builder("bot").model(calls("read")).tool(Calls::new("read"));
    let agent = agent.hook(keys()).hook(answer).build().unwrap();
    assert_eq!(result(&agent).output, "cached [key]");
}

#[test]
fn other_tools_stay_as_they_are() {
    let hook = keys().for_tools(["write"]);
    assert_eq!(result_of(hook.clone(), "sk-123").output, "sk-123");
    assert_eq!(result_of(hook.for_tools(["read"]), "sk-123").output, "[key]");
}

#[test]
fn a_second_run_changes_nothing() {
    // The replacement matches the pattern, and two hooks run at two points each.
    let grow = Sanitize::new("a+", "[aa]").unwrap();
    assert_eq!(result_of(grow.clone(), "banana").output, "b[aa]n[aa]n[aa]");
    let agent = ReActAgent::builder("bot").model(calls("read"));
    let agent = agent.tool(Calls::new("read").answers("banana"));
    let agent = agent.hook(grow.clone()).hook(grow.named("second")).build().unwrap();
    assert_eq!(result(&agent).output, "b[aa]n[aa]n[aa]");
}

#[test]
fn what_a_removal_joins_is_removed_too() {
    let hook = Sanitize::new("secret", "").unwrap();
    assert_eq!(result_of(hook, "sesecretcret!").output, "!");
    let two = Sanitize::new("ab", "").unwrap().pattern("x", "").unwrap();
    assert_eq!(result_of(two, "axb!").output, "!");
}

#[test]
fn a_replacement_is_taken_as_it_is_written() {
    let hook = Sanitize::new("(?P<key>sk)-[0-9]+", "$key $1 ${1}").unwrap();
    assert_eq!(result_of(hook, "sk-1").output, "$key $1 ${1}");
}

#[test]
fn a_huge_text_and_a_huge_replacement_are_refused() {
    let hook = keys().max_bytes(100);
    let refused = result_of(hook.clone(), "sk-1 ".repeat(30));
    assert!(refused.is_error && !refused.output.as_str().contains("sk-1"), "{refused:?}");
    assert_eq!(refused.output, "the result of `read` is refused: it is longer than 100 bytes");
    let grow = Sanitize::new("a", "b".repeat(64)).unwrap().max_bytes(100);
    let refused = result_of(grow, "aaaa");
    assert!(refused.is_error && refused.output.as_str().contains("replacements are longer"));
}

#[test]
fn a_report_that_cannot_be_replaced_is_dropped() {
    let chunks = Arc::new(Mutex::new(Vec::new()));
    let seen = chunks.clone();
    let look = on(move |event: &mut ActingChunk<'_>| {
        seen.lock().unwrap().push(event.chunk().to_owned());
    });
    let report =
        FunctionTool::with_context("read", "Reads.", |_: Value, cx: ToolContext| async move {
            cx.progress("half of sk-1");
            cx.progress("sk-1 ".repeat(30));
            cx.progress("x".repeat(101));
            "done"
        });
    let agent = ReActAgent::builder("bot").model(calls("read")).tool(report);
    let agent = agent.hook(keys().max_bytes(100)).hook(look).build().unwrap();
    assert_eq!(result(&agent).output, "done");
    assert_eq!(*chunks.lock().unwrap(), ["half of [key]"]);
}

struct Instead;

#[agent_hook(priority = 400)]
impl Instead {
    async fn run(&self, _: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        next.run(ToolUse::new("1", "read", json!({}))).await
    }
}

#[test]
fn a_tool_that_ran_in_place_of_another_one_is_one_of_the_tools() {
    let hook = || keys().for_tools(["read"]);
    // The tool call that a hook made of it.
    for made in ["read", "other"] {
        let answer = on(move |event: &mut PreActing<'_>| {
            event.tool_use_mut().name = made.to_owned();
            event.answer("sk-123")
        });
        let agent = ReActAgent::builder("bot").model(calls("write")).tool(Calls::new("write"));
        let output = result(&agent.hook(hook()).hook(answer).build().unwrap()).output;
        let expected = if made == "other" { "sk-123" } else { "[key]" };
        assert_eq!(output, expected, "{made}");
    }

    let agent = ReActAgent::builder("bot").model(calls("write")).tool(Calls::new("write"));
    let agent = agent.tool(Calls::new("read").answers("sk-123")).hook(hook()).hook(Instead);
    assert_eq!(result(&agent.build().unwrap()).output, "[key]");
}

#[test]
fn reports_and_errors_of_a_tool_that_ran_in_place_of_another_one_are_replaced_too() {
    for (tools, expected) in [("read", "half of [key]"), ("other", "half of sk-1")] {
        let chunks = Arc::new(Mutex::new(Vec::new()));
        let seen = chunks.clone();
        let look = on(move |event: &mut ActingChunk<'_>| {
            seen.lock().unwrap().push(event.chunk().to_owned());
        });
        let report =
            FunctionTool::with_context("read", "Reads.", |_: Value, cx: ToolContext| async move {
                cx.progress("half of sk-1");
                Err::<String, _>("no sk-1")
            });
        let agent = ReActAgent::builder("bot").model(calls("write")).tool(Calls::new("write"));
        let agent = agent.tool(report).hook(keys().for_tools([tools])).hook(look).hook(Instead);
        let text = result(&agent.build().unwrap()).output.to_string();
        assert_eq!(*chunks.lock().unwrap(), [expected]);
        assert_eq!(text.contains("[key]"), tools == "read", "{text}");
    }
}

/// The tool call of the thread, or the name that the caller gives.
#[test]
fn a_result_that_the_caller_brings_is_of_the_tool_that_was_called_or_is_named() {
    for (tool, expected) in [("write", "[key]"), ("read", "[key]"), ("other", "sk-123")] {
        let stop = on(|event: &mut PreActing<'_>| event.stop());
        let script = calls("write");
        let agent = ReActAgent::builder("bot").model(script.clone()).tool(Calls::new("write"));
        let agent = agent.hook(keys().for_tools([tool])).hook(stop).build().unwrap();
        let id = block_on(agent.call("go")).unwrap().pending()[0].id.clone();
        let said = ToolResult::success(&ToolUse::new(id, "read", json!({})), "sk-123");
        block_on(agent.call(Msg::tool_result(said))).unwrap();
        let request = script.requests().pop().unwrap();
        let read = request.messages.iter().flat_map(Msg::tool_results).last().unwrap();
        assert_eq!(read.output, expected, "{tool}");
    }
}

#[test]
fn replacements_of_replacements_end() {
    let swap = Sanitize::new("a", "bb").unwrap().pattern("b", "aa").unwrap();
    assert_eq!(result_of(swap, "xa").output, "xbb");
    let nested = format!("{}{}", "se".repeat(20), "cret".repeat(20));
    let refused = result_of(Sanitize::new("secret", "").unwrap(), nested);
    assert!(refused.output.as_str().contains("still match after 8 rounds"), "{refused:?}");
}

#[test]
fn a_refused_text_takes_its_blocks_and_structured_value_with_it() {
    let output = ToolOutput::text("ok").with_structured(json!({ "sk-1": "x".repeat(200) }));
    let refused = result_of(keys().max_bytes(100), output.with_block(ContentBlock::text("sk-2")));
    assert!(refused.is_error && refused.output.structured().is_none());
    assert!(refused.output.blocks().is_empty());
}

#[test]
fn many_replacements_take_linear_time() {
    let hook = Sanitize::new("[a-z]+", "[ab]").unwrap();
    let text = "[ab] cd ".repeat(50_000);
    let started = std::time::Instant::now();
    assert_eq!(result_of(hook, text).output.as_str().len(), "[ab] [ab] ".len() * 50_000);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn patterns_that_cannot_work_are_errors_of_construction() {
    let error = Sanitize::new("(", "x").unwrap_err();
    assert!(matches!(error, SanitizeError::Pattern { .. }));
    assert_eq!(error.to_string(), "the pattern `(` is not valid or too large");
    let error = Sanitize::new(r"\w{1000}{1000}", "x").unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("size limit"), "{source}");
    let error = Sanitize::new("a*", "x").unwrap_err();
    assert!(matches!(error, SanitizeError::MatchesEmpty { .. }), "{error}");
    assert!(!format!("{:?}", Sanitize::new("hunter2", "x").unwrap()).contains("hunter2"));
}

#[test]
fn parallel_results_are_all_replaced() {
    let uses = (0..64).map(|n| ToolUse::new(n.to_string(), "read", json!({})));
    let tool = (0..64).fold(Calls::new("read"), |tool, n| tool.answers(format!("sk-{n}")));
    let agent = ReActAgent::builder("bot").model(Script::new().calls(uses).says("done"));
    let agent = agent.tool(tool).parallel_tools(true).hook(keys()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    let results: Vec<_> = history.iter().flat_map(Msg::tool_results).collect();
    assert_eq!(results.len(), 64);
    assert!(results.iter().all(|result| result.output == "[key]"));
}

#[test]
fn the_tools_of_a_sub_agent_are_covered() {
    let helper = ReActAgent::builder("helper").model(calls("read"));
    let helper = helper.tool(Calls::new("read").answers("sk-123")).build().unwrap();
    let script = Script::new().calls([ToolUse::new("1", "helper", json!({ "task": "x" }))]);
    let builder = ReActAgent::builder("bot").tool(helper.to_tool("Helps")).hook(keys());
    let shown = block_on(shown_of(builder, script.says("done")));
    assert!(!shown.contains("sk-123"), "{shown}");
    let history = helper.threads().memory("default").unwrap().messages();
    assert!(format!("{history:?}").contains("[key]"));
}

#[test]
fn other_forms_of_what_a_pattern_describes_are_replaced() {
    for text in [
        "sk-77",
        "\u{ff53}k-77",
        "s\u{200b}k\u{ad}-7\u{2060}7",
        "sk\u{2010}77",
        "s&#107;-77",
        "%73k-77",
        "\\u0073k-77",
        "sk-\u{0667}\u{1d7d5}",
    ] {
        assert_eq!(text_of(keys(), &format!("a {text}, b")), "a [key], b", "{text}");
    }
    // Lines stay apart, and what is no match stays as it is written.
    let line = Sanitize::new("key=.*", "[line]").unwrap();
    assert_eq!(text_of(line.clone(), "key=\u{200b}1\r\nb&amp;\u{ff23}"), "[line]\nb&amp;\u{ff23}");
    assert_eq!(text_of(line, "\u{ff4b}ey=1\nb"), "[line]\nb");
    let entity = Sanitize::new("&[a-z]+;", "").unwrap();
    assert_eq!(text_of(entity, "a&nbsp;b &#64; c"), "ab &#64; c");
    // A path of Windows and code stay as they are.
    let tab = Sanitize::new("[\\t\\n]+", "").unwrap();
    assert_eq!(text_of(tab, r"C:\temp\new a\n"), r"C:\temp\new a\n");
    // Half of a character cannot be replaced: all of it is.
    let half = Sanitize::new("1", "x").unwrap();
    assert_eq!(text_of(half, "\u{2469} 1"), "x x");
}
