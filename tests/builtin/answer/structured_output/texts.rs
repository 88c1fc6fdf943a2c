//! Where the JSON is in the text of an answer.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::answer::{Mode, StructuredOutput, StructuredOutputError};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use proptest::prelude::*;
use serde_json::{Deserializer, Value, json};

use crate::structured_output::bot;

/// What linear work needs, on a machine that is busy; quadratic work needs far longer.
const SOON: Duration = Duration::from_secs(10);

/// Any object.
fn objects() -> StructuredOutput {
    let schema = json!({ "type": "object" });
    let builder = StructuredOutput::with_schema("Any", schema).mode(Mode::Prompt);
    builder.retries(0).build().unwrap()
}

/// Any array of numbers.
fn arrays() -> StructuredOutput {
    let schema = json!({ "type": "array", "items": { "type": "integer" } });
    let builder = StructuredOutput::with_schema("Numbers", schema).mode(Mode::Prompt);
    builder.retries(0).build().unwrap()
}

fn read(output: &StructuredOutput, text: &str) -> Result<Value, StructuredOutputError> {
    let agent = bot(&Script::new().says(text));
    let typed = output.call::<Value>(&agent, CallOptions::new(), "Go");
    block_on(typed).map(|typed| typed.value)
}

#[test]
fn a_fence_with_more_than_a_language_is_a_fence() {
    for opening in [
        "```json title=\"x\"",
        "```json title='{'",
        "``` json title=\"x\" {1,3}",
        "```{.json .numberLines}",
        "```JSON5 // the answer",
        "```text/json; charset=utf-8",
        "````json",
        "   ```json title=\"x\"",
        "Here it is: ```json title=\"x\"",
        "Use {x} and ```json",
        "It is ```x```:\n```json title=\"x\"",
    ] {
        let closing = if opening.contains("````") { "````" } else { "```" };
        for after in ["", "\n", "\nDone.", "\nSee [1] and {2}."] {
            let text = format!("{opening}\n{{\"a\": 1}}\n{closing}{after}");
            assert_eq!(read(&objects(), &text).unwrap(), json!({ "a": 1 }), "{text}");
            let text = format!("{opening}\n[1, 2]\n{closing}{after}");
            assert_eq!(read(&arrays(), &text).unwrap(), json!([1, 2]), "{text}");
        }
    }
}

#[test]
fn json_on_the_line_of_a_fence_is_read() {
    for text in [
        "```{\"a\": 1}```",
        "```json {\"a\": 1}```",
        "``` {\"a\": 1}\n```",
        "Here: ```{\n\"a\": 1}\n```",
        "Here: ```json {\"a\": 1}``` Done.",
        "```{ \"a\": 1}\n```\nDone.",
    ] {
        assert_eq!(read(&objects(), text).unwrap(), json!({ "a": 1 }), "{text}");
    }
}

#[test]
fn what_breaks_off_does_not_hide_what_follows_or_is_inside() {
    for text in [
        "{a {\"a\": 1}",
        "{\"b\": {\"c\": x, then {\"a\": 1}",
        "{\"b\": {\"a\": 1}, or not",
        "{\"b\": 1,{\"a\": 1}",
        "{\"b\": \"{\", or {\"a\": 1}",
    ] {
        assert_eq!(read(&objects(), &format!("Well: {text}")).unwrap(), json!({ "a": 1 }));
    }
    for text in ["{\"b\": {\"a\": 1}", "{\"b\": [{\"c\": 2}, x, {\"a\": 1}"] {
        assert!(read(&objects(), &format!("Well: {text}")).is_err());
    }
}

#[test]
fn a_part_of_a_value_that_is_nested_too_deeply_is_no_answer() {
    let deep = |levels: usize| "{\"a\":".repeat(levels) + "1" + &"}".repeat(levels);
    assert!(read(&objects(), &format!("Here: {}", deep(100))).is_ok());
    for text in [deep(200), format!("Here: {}", deep(200)), format!("```json\n{}\n```", deep(200))]
    {
        let error = read(&objects(), &text).unwrap_err();
        let problem = error.problems()[0].to_string();
        assert!(problem.contains("recursion limit"), "{problem}");
    }
}

/// Texts of 100 kB that a search from every bracket anew takes long for.
fn hostile() -> Vec<String> {
    let many = |part: &str| part.repeat(100_000 / part.len());
    vec![
        format!("Here: {}", many("{\"a\":")),
        format!("Here: {} no", many("{\"a\":")),
        format!("Here: {}", many("[{\"a\":")),
        format!("Here: {} no", many("{\"a\":[")),
        format!("Here: {} no", many("{\"{\":\"[\",\"a\":")),
        format!("Here: {} no", many("{\"a\":\"{\",")),
        format!("Here: {}", many("{ ")),
        format!("Here: {}", many("{\"")),
        format!("Here: {}", many("{\"a\":{x}")),
        format!("Here: {}", many("```")),
        format!("Here: {}", many("``` ")),
        format!("Here: {}", many("```json ")),
        many("```json x\n"),
        many("\n{"),
    ]
}

#[test]
fn json_is_searched_for_in_time_that_grows_with_the_text() {
    for text in hostile() {
        let start = Instant::now();
        for output in [objects(), arrays()] {
            // Nothing of them is an answer.
            assert!(read(&output, &text).is_err());
        }
        assert!(start.elapsed() < SOON, "{} {:?}", &text[..40], start.elapsed());
    }
}

/// What a stream of a text in pieces yields.
fn items(output: &StructuredOutput, text: &str, size: usize) -> (usize, Vec<Value>) {
    let pieces = text.as_bytes().chunks(size).map(|piece| String::from_utf8(piece.into()).unwrap());
    let chunks = pieces.map(|piece| Ok(ChatChunk::Text(piece)));
    let chunks: Vec<_> = chunks.chain([Ok(ChatChunk::end(Usage::default()))]).collect();
    let agent = bot(&Script::new().turn(ScriptedAnswer::Stream(chunks)));
    let stream = output.stream::<Value>(&agent, CallOptions::new(), "Go");
    let partials: Vec<_> = block_on(stream.collect::<Vec<_>>()).into_iter().flatten().collect();
    let last = partials.iter().rev().take(2).map(|partial| partial.value().clone());
    (partials.len(), last.collect())
}

#[test]
fn a_stream_is_searched_in_time_that_grows_with_the_text() {
    for text in hostile() {
        let start = Instant::now();
        items(&objects(), &text, 100);
        assert!(start.elapsed() < SOON, "{} {:?}", &text[..40], start.elapsed());
    }
    // A chunk costs what it has, not what there is before it.
    let start = Instant::now();
    let words = "some {words} in [front] ".repeat(3_000);
    let (count, last) = items(&objects(), &format!("{words}{{\"a\": \"{words}\"}}"), 8);
    assert!(count > 9_000 && last[0] == json!({ "a": words }), "{count}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn a_stream_shows_json_in_words_and_fences_from_its_begin_on() {
    for (before, after) in [
        ("", ""),
        ("Well: ", ""),
        ("See [1] and [x]: ", " Done."),
        ("```json title=\"x\"\n", "\n```\n"),
        ("First:\n```json title=\"x\"\n", "\n```\nDone."),
    ] {
        let json = r#"{"a": "b", "c": 12}"#;
        let text = format!("{before}{json}{after}");
        let (count, last) = items(&objects(), &text, 1);
        assert_eq!(last, [json!({ "a": "b", "c": 12 }), json!({ "a": "b", "c": 12 })], "{text}");
        // One for each byte from the bracket on, and the complete one.
        assert_eq!(count, json.len() + after.len() + 1, "{text}");
    }
}

/// The value that a search from every bracket anew finds, if there is one alone.
fn searched(text: &str) -> Option<Value> {
    let value_at = |at: usize| {
        let mut values = Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next().map(|value| value.map(|value| (value, at + values.byte_offset())))
    };
    let mut found = None;
    let mut at = 0;
    while let Some(next) = text[at..].find(['{', '[']).map(|next| at + next) {
        match value_at(next).unwrap() {
            Ok(_) if found.is_some() => return None,
            Ok((value, end)) => (found, at) = (Some(value), end),
            Err(error) if error.is_eof() => return None,
            Err(_) => at = next + 1,
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_search_that_skips_finds_what_one_from_every_bracket_finds(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", "\"", ":", ",", "1", "a", " ", "\\", "\"a\":", "{\"a\":", "[1,",
                "{\"a\":1}", "\"{\"", "\"[\\\"\"", "{\"{\":\"[\",\"a\":", "{}", "true",
            ]),
            0..24,
        ),
    ) {
        let text = format!("Well {}", parts.concat());
        let schema = json!({ "type": ["array", "object"] });
        let output = StructuredOutput::with_schema("Any", schema).mode(Mode::Prompt);
        let output = output.retries(0).build().unwrap();
        // White space at the end is no part of an answer.
        prop_assert_eq!(read(&output, &text).ok(), searched(text.trim_end()));
    }
}
