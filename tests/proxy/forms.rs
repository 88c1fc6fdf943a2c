//! The forms of requests and answers, each streamed and whole.

use serde_json::{Value, json};

use crate::rig::Reply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Chat,
    Responses,
    Messages,
}

pub(crate) use Form::{Chat, Messages, Responses};

/// Each form, streamed and whole.
pub(crate) const ALL: [(Form, bool); 6] = [
    (Chat, true),
    (Chat, false),
    (Responses, true),
    (Responses, false),
    (Messages, true),
    (Messages, false),
];

impl Form {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Chat => "/openai/v1/chat/completions",
            Responses => "/openai/v1/responses",
            Messages => "/anthropic/v1/messages",
        }
    }

    pub(crate) fn prompt(self, text: &str, streams: bool) -> Value {
        match self {
            Responses => json!({ "model": "m", "input": text, "stream": streams }),
            Chat | Messages => json!({
                "model": "m", "stream": streams, "max_tokens": 9,
                "messages": [{ "role": "user", "content": text }],
            }),
        }
    }

    /// Returns the prompt in a request that the upstream got.
    pub(crate) fn prompt_of(self, body: &Value) -> String {
        let text = match self {
            Responses => &body["input"],
            Chat | Messages => &body["messages"][0]["content"],
        };
        text.as_str().unwrap().to_owned()
    }

    /// Returns an answer with these parts of a text.
    pub(crate) fn says(self, streams: bool, parts: &[&str]) -> Reply {
        if streams {
            Reply::events(self.text_events(parts).concat())
        } else {
            Reply::json(&self.whole_text(&parts.concat()))
        }
    }

    pub(crate) fn text_events(self, parts: &[&str]) -> Vec<String> {
        let all = parts.concat();
        match self {
            Chat => {
                let begin =
                    chat_chunk(&json!({ "role": "assistant", "content": "" }), &Value::Null);
                let texts =
                    parts.iter().map(|it| chat_chunk(&json!({ "content": it }), &Value::Null));
                let end = chat_chunk(&json!({}), &"stop".into());
                let mut usage =
                    json!({ "id": "c", "object": "chat.completion.chunk", "choices": [] });
                usage["usage"] = json!({ "prompt_tokens": 3, "completion_tokens": 5 });
                let chunks = [begin].into_iter().chain(texts).chain([end, data(&usage)]);
                chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
            }
            Responses => {
                let item = message_item(&all);
                let mut events = vec![
                    json!({ "type": "response.created", "response": { "id": "r1", "status": "in_progress", "output": [] } }),
                    json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "m1", "role": "assistant", "content": [] } }),
                    json!({ "type": "response.content_part.added", "item_id": "m1", "output_index": 0, "content_index": 0, "part": { "type": "output_text", "text": "", "annotations": [] } }),
                ];
                events.extend(parts.iter().map(|part| json!({ "type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": part })));
                events.extend([
                    json!({ "type": "response.output_text.done", "item_id": "m1", "output_index": 0, "content_index": 0, "text": all }),
                    json!({ "type": "response.content_part.done", "item_id": "m1", "output_index": 0, "content_index": 0, "part": item["content"][0] }),
                    json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                    json!({ "type": "response.completed", "response": self.whole_text(&all) }),
                ]);
                numbered(events)
            }
            Messages => {
                let mut events = vec![
                    json!({ "type": "message_start", "message": { "id": "m1", "type": "message", "role": "assistant", "content": [], "usage": { "input_tokens": 3 } } }),
                    json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                    json!({ "type": "ping" }),
                ];
                events.extend(parts.iter().map(|part| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": part } })));
                events.extend([
                    json!({ "type": "content_block_stop", "index": 0 }),
                    json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 5 } }),
                    json!({ "type": "message_stop" }),
                ]);
                events.iter().map(typed).collect()
            }
        }
    }

    pub(crate) fn whole_text(self, text: &str) -> Value {
        match self {
            Chat => json!({
                "id": "c", "object": "chat.completion", "model": "m",
                "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text, "refusal": null } }],
                "usage": { "prompt_tokens": 3, "completion_tokens": 5 },
            }),
            Responses => json!({
                "id": "r1", "object": "response", "status": "completed", "model": "m",
                "output": [message_item(text)], "usage": { "input_tokens": 3, "output_tokens": 5 },
            }),
            Messages => json!({
                "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{ "type": "text", "text": text }], "usage": { "input_tokens": 3, "output_tokens": 5 },
            }),
        }
    }

    /// Returns an answer with a text and a tool call.
    pub(crate) fn calls(self, streams: bool, name: &str, input: &Value) -> Reply {
        if streams {
            Reply::events(self.call_events(name, input).concat())
        } else {
            Reply::json(&self.whole_call(name, input))
        }
    }

    fn call_events(self, name: &str, input: &Value) -> Vec<String> {
        let arguments = input.to_string();
        let (first, last) = arguments.split_at(arguments.len() / 2);
        let mut events = self.text_events(&["Well. "]);
        match self {
            Chat => {
                let begin = json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": { "name": name, "arguments": first } }] });
                let more =
                    json!({ "tool_calls": [{ "index": 0, "function": { "arguments": last } }] });
                let end = chat_chunk(&json!({}), &"tool_calls".into());
                events.splice(
                    2..3,
                    [chat_chunk(&begin, &Value::Null), chat_chunk(&more, &Value::Null), end],
                );
                events
            }
            Responses => {
                let mut all: Vec<Value> = events.iter().map(|event| event_of(event)).collect();
                let item = function_item(name, &arguments);
                let mut added = item.clone();
                added["arguments"] = "".into();
                let at = all.len() - 1;
                all.splice(at.., [
                    json!({ "type": "response.output_item.added", "output_index": 1, "item": added }),
                    json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": first }),
                    json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": last }),
                    json!({ "type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "arguments": arguments }),
                    json!({ "type": "response.output_item.done", "output_index": 1, "item": item }),
                    json!({ "type": "response.completed", "response": self.whole_call(name, input) }),
                ]);
                numbered(all)
            }
            Messages => {
                let at = events.len() - 2;
                let new = [
                    json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "toolu_1", "name": name, "input": {} } }),
                    json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": first } }),
                    json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": last } }),
                    json!({ "type": "content_block_stop", "index": 1 }),
                    json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 5 } }),
                ];
                events.splice(at..=at, new.iter().map(typed));
                events
            }
        }
    }

    fn whole_call(self, name: &str, input: &Value) -> Value {
        let mut whole = self.whole_text("Well. ");
        match self {
            Chat => {
                whole["choices"][0]["finish_reason"] = "tool_calls".into();
                whole["choices"][0]["message"]["tool_calls"] = json!([{ "id": "call_1", "type": "function", "function": { "name": name, "arguments": input.to_string() } }]);
            }
            Responses => whole["output"]
                .as_array_mut()
                .unwrap()
                .push(function_item(name, &input.to_string())),
            Messages => {
                whole["stop_reason"] = "tool_use".into();
                whole["content"].as_array_mut().unwrap().push(
                    json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": input }),
                );
            }
        }
        whole
    }
}

fn chat_chunk(delta: &Value, finish: &Value) -> String {
    let mut chunk = json!({ "id": "c", "object": "chat.completion.chunk", "model": "m" });
    chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    data(&chunk)
}

fn message_item(text: &str) -> Value {
    json!({
        "type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

fn function_item(name: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments, "status": "completed" })
}

/// Returns an event without a name.
pub(crate) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Returns an event whose name is its type.
pub(crate) fn typed(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

/// Returns events with their numbers.
pub(crate) fn numbered(events: Vec<Value>) -> Vec<String> {
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        typed(&event)
    });
    numbered.collect()
}

/// Returns the data of an event.
pub(crate) fn event_of(event: &str) -> Value {
    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
    serde_json::from_str(data.unwrap_or_else(|| panic!("no data: {event}"))).unwrap()
}
