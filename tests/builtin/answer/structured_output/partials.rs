//! A typed answer while it arrives.

use std::fmt::Write;

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::answer::{
    Mode, Partial, StructuredOutput, StructuredOutputError, TypedCalls,
};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::structured_output::{GOOD, Invoice, bot, invoice, of_invoices};

/// An answer in pieces.
fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> ScriptedAnswer {
    let chunks = pieces.into_iter().map(|piece| Ok(ChatChunk::Text(piece.to_owned())));
    ScriptedAnswer::Stream(chunks.chain([Ok(ChatChunk::end(Usage::default()))]).collect())
}

/// What a stream yields.
fn all<T>(
    stream: impl futures::Stream<Item = Result<Partial<T>, StructuredOutputError>>,
) -> Vec<Partial<T>> {
    block_on(stream.collect::<Vec<_>>()).into_iter().map(Result::unwrap).collect()
}

#[test]
fn fields_appear_as_they_arrive_and_the_last_item_is_complete() {
    let parts = [r#"{"number": 1"#, r#"2, "items": [{"name": "i"#, r#"nk", "price": 2"#, ".5}]}"];
    let agent = bot(&Script::new().turn(pieces(parts)));
    let partials = all(agent.stream_typed::<Invoice>("Go"));
    let values: Vec<_> = partials.iter().map(Partial::value).collect();
    let done = json!({ "number": 12, "items": [{ "name": "ink", "price": 2.5 }] });
    assert_eq!(values[0], &json!({}));
    assert_eq!(values[1], &json!({ "number": 12, "items": [{ "name": "i" }] }));
    assert_eq!(values[2], &json!({ "number": 12, "items": [{ "name": "ink" }] }));
    assert_eq!(values[3], &done);
    assert_eq!(partials[2].get("/items/0/name"), Some(&json!("ink")));
    let last = partials.last().unwrap().clone();
    assert_eq!(last.value(), &done);
    assert!(partials.iter().rev().skip(1).all(|partial| !partial.is_complete()));
    assert_eq!(last.complete().unwrap().number, 12);
}

#[test]
fn an_answer_that_goes_back_begins_a_new_attempt() {
    let script = Script::new().says(r#"{"number": 1}"#).says(GOOD);
    let partials = all(bot(&script).stream_typed::<Invoice>("Go"));
    let attempts: Vec<_> = partials.iter().map(Partial::attempt).collect();
    assert!(attempts.is_sorted() && attempts[0] == 1 && attempts.ends_with(&[2, 2]));
    assert_eq!(partials.last().unwrap().clone().complete(), Some(invoice()));
}

#[test]
fn in_words_and_fences_only_the_json_is_seen() {
    let text = format!("Well, see [1]:\n```json\n{GOOD}\n```\nDone.");
    let agent = bot(&Script::new().turn(pieces(text.split_inclusive([' ', ',', '\n']))));
    let output = of_invoices(Mode::Prompt);
    let partials = all(output.stream::<Invoice>(&agent, CallOptions::new(), "Go"));
    assert!(partials.iter().all(|partial| partial.value().is_object()));
    assert!(partials.len() > 3);
    assert_eq!(partials.last().unwrap().clone().complete(), Some(invoice()));
}

#[test]
fn what_a_guard_rewrites_is_what_partials_see() {
    let answer = GOOD.replace("ink", "write to ada@example.com today");
    let script = Script::new().turn(pieces(answer.split_inclusive(['@', ' ', '.'])));
    let emails = PiiDetection::email().output(true);
    let agent = ReActAgent::builder("bot").model(script).hook(emails).build().unwrap();
    let partials = all(agent.stream_typed::<Invoice>("Go"));
    assert!(!format!("{partials:?}").contains("ada@"));
    let last = partials.last().unwrap().clone().complete().unwrap();
    assert_eq!(last.items[0].name, "write to [REDACTED_EMAIL] today");
}

#[test]
fn arguments_of_a_tool_arrive_whole() {
    let call = ToolUse::new("1", "final_answer", serde_json::from_str(GOOD).unwrap());
    let search = ToolUse::new("2", "search", json!({}));
    let script = Script::new().calls([search]).calls([call]);
    let tool = Calls::new("search").answers("42");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).build().unwrap();
    let partials = all(agent.stream_typed::<Invoice>("Go"));
    assert_eq!(partials.len(), 2);
    assert_eq!(partials[0].value(), partials[1].value());
    assert_eq!(partials[1].attempt(), 2);
}

#[test]
fn a_value_inside_of_an_object_is_shown_by_itself() {
    let agent = bot(&Script::new().turn(pieces([r#"{"ans"#, r#"wer": ["a", "#, r#""b"]}"#])));
    let partials = all(agent.stream_typed::<Vec<String>>("Go"));
    let values: Vec<_> = partials.iter().map(Partial::value).collect();
    assert_eq!(values, [&json!(["a"]), &json!(["a", "b"]), &json!(["a", "b"])]);
}

#[test]
fn a_stream_that_fails_ends_with_the_error() {
    let agent = bot(&(0..4).fold(Script::new(), |script, _| script.says("no")));
    let items = block_on(agent.stream_typed::<Invoice>("Go").collect::<Vec<_>>());
    assert!(matches!(&items[..], [Err(StructuredOutputError::Mismatch { .. })]));
    let output = bot(&Script::new().says(GOOD));
    assert_eq!(block_on(output.stream_typed::<Invoice>("Go").finish()).unwrap().value, invoice());
}

/// Whether one value may become the other while more arrives.
fn grows(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(before), Value::String(after)) => after.starts_with(before.as_str()),
        (Value::Array(before), Value::Array(after)) => {
            before.len() <= after.len()
                && before.iter().zip(after).all(|(one, other)| grows(one, other))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.iter().all(|(key, one)| after.get(key).is_some_and(|other| grows(one, other)))
        }
        _ => before == after,
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let text = r#"[a-c"\\\n {}\[\],:üß😀0-9]{0,6}"#;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Writes all characters beyond ASCII as escapes.
fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    json.chars().fold(String::new(), |mut text, char| {
        if char.is_ascii() {
            text.push(char);
        } else {
            for unit in char.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn json_is_found_in_words_and_fences(
        fields in prop::collection::btree_map("[a-c`]{1,5}", json_value(), 0..4),
        before in "[a-z][a-z .:\\]\\[1-9]{0,12}",
        after in "[a-z .:\\]\\[1-9]{0,12}",
        form in 0..4,
    ) {
        let value = Value::Object(fields.into_iter().collect());
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let text = match form {
            0 => format!("{before}{value}{after}"),
            1 => format!("{before}\n```json\n{pretty}\n```\n{after}"),
            2 => format!("```\n{value}\n```"),
            _ => format!("{before}{pretty}{after}"),
        };
        let agent = bot(&Script::new().says(text));
        let schema = json!({ "type": "object" });
        let output = StructuredOutput::with_schema("Any", schema).retries(0).build().unwrap();
        let typed = block_on(output.call::<Value>(&agent, CallOptions::new(), "Go"));
        prop_assert_eq!(typed.unwrap().value, value);
    }

    #[test]
    fn partial_values_only_grow_wherever_the_stream_is_cut(
        fields in prop::collection::btree_map("[a-c]{1,3}", json_value(), 0..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        is_pretty in any::<bool>(),
        is_escaped in any::<bool>(),
        mode in prop_oneof![Just(Mode::Format), Just(Mode::Prompt)],
    ) {
        let value = Value::Object(fields.into_iter().collect());
        let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = if is_escaped { escaped(&text.unwrap()) } else { text.unwrap() };
        let mut cuts: Vec<_> = cuts
            .into_iter()
            .map(|cut| text.floor_char_boundary(cut.index(text.len())))
            .chain([0, text.len()])
            .collect();
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        let agent = bot(&Script::new().turn(pieces(parts)));
        let schema = json!({ "type": "object" });
        let output = StructuredOutput::with_schema("Any", schema).mode(mode).build().unwrap();
        let partials = all(output.stream::<Value>(&agent, CallOptions::new(), "Go"));
        for pair in partials.windows(2) {
            prop_assert!(grows(pair[0].value(), pair[1].value()), "{:?}", pair);
        }
        prop_assert_eq!(partials.last().unwrap().value(), &value);
        prop_assert_eq!(partials.last().unwrap().clone().complete(), Some(value));
    }
}
