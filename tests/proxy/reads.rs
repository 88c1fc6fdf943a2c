//! Answers, as an agent reads them.

use serde_json::Value;

use crate::forms::{Chat, Form, Messages, Responses, event_of};
use crate::rig::Answer;

/// What an agent reads in an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) thoughts: String,
    /// Names and arguments.
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<u64>,
    pub(crate) error: Option<Value>,
    pub(crate) has_end: bool,
}

impl Form {
    /// Reads an answer as an agent does.
    pub(crate) fn read(self, streams: bool, answer: &Answer) -> Read {
        if answer.status != 200 {
            return Read { error: Some(answer.json()["error"].clone()), ..Read::default() };
        }
        if !streams {
            return self.read_whole(&answer.json());
        }
        let mut read = Read::default();
        let events: Vec<_> = answer.text.split("\n\n").filter(|event| !event.is_empty()).collect();
        match self {
            Chat => read_chat(&events, &mut read),
            Responses => {
                let values: Vec<_> = events.iter().map(|event| event_of(event)).collect();
                for (number, event) in values.iter().enumerate() {
                    assert_eq!(event["sequence_number"], number, "{event}");
                }
                let deltas = values.iter().filter(|it| it["type"] == "response.output_text.delta");
                let text: String = deltas.map(|it| it["delta"].as_str().unwrap()).collect();
                read.error = values.iter().find(|it| it["type"] == "error").cloned();
                match values.iter().find(|it| it["type"] == "response.completed") {
                    Some(event) => {
                        read = self.read_whole(&event["response"]);
                        assert_eq!(read.text, text);
                    }
                    None => read.text = text,
                }
            }
            Messages => read_messages(&events, &mut read),
        }
        read
    }

    pub(crate) fn read_whole(self, body: &Value) -> Read {
        let mut read = Read { has_end: true, ..Read::default() };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self {
            Chat => {
                let choice = &body["choices"][0];
                let message = &choice["message"];
                read.text = text(&message["content"]);
                read.thoughts = text(&message["reasoning_content"]);
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    read.calls.push(call_of(&call["function"]));
                }
                read.finish = choice["finish_reason"].as_str().map(str::to_owned);
                read.usage = body["usage"]["completion_tokens"].as_u64();
            }
            Responses => {
                for item in body["output"].as_array().unwrap() {
                    match item["type"].as_str().unwrap() {
                        "message" => {
                            let parts = item["content"].as_array().unwrap().iter();
                            read.text.extend(parts.map(|part| text(&part["text"])));
                        }
                        "function_call" => read.calls.push(call_of(item)),
                        "reasoning" => read.thoughts += &text(&item["summary"][0]["text"]),
                        _ => {}
                    }
                }
                read.finish = body["status"].as_str().map(str::to_owned);
                read.usage = body["usage"]["output_tokens"].as_u64();
            }
            Messages => {
                for block in body["content"].as_array().unwrap() {
                    match block["type"].as_str().unwrap() {
                        "text" => read.text += &text(&block["text"]),
                        "thinking" => read.thoughts += &text(&block["thinking"]),
                        "tool_use" => {
                            read.calls.push((text(&block["name"]), block["input"].clone()));
                        }
                        _ => {}
                    }
                }
                read.finish = body["stop_reason"].as_str().map(str::to_owned);
                read.usage = body["usage"]["output_tokens"].as_u64();
            }
        }
        read
    }
}

fn read_chat(events: &[&str], read: &mut Read) {
    let mut calls: Vec<(String, String)> = Vec::new();
    for event in events {
        if event.ends_with("[DONE]") {
            read.has_end = true;
            continue;
        }
        let chunk = event_of(event);
        if !chunk["error"].is_null() {
            read.error = Some(chunk["error"].clone());
        }
        read.usage = read.usage.or_else(|| chunk["usage"]["completion_tokens"].as_u64());
        let Some(choice) = chunk["choices"].as_array().and_then(|all| all.first()) else {
            continue;
        };
        read.text += choice["delta"]["content"].as_str().unwrap_or_default();
        read.thoughts += choice["delta"]["reasoning_content"].as_str().unwrap_or_default();
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            calls.resize(calls.len().max(index + 1), (String::new(), String::new()));
            calls[index].0 += call["function"]["name"].as_str().unwrap_or_default();
            calls[index].1 += call["function"]["arguments"].as_str().unwrap_or_default();
        }
        let finish = choice["finish_reason"].as_str().map(str::to_owned);
        read.finish = read.finish.take().or(finish);
    }
    let calls = calls
        .into_iter()
        .map(|(name, arguments)| (name, serde_json::from_str(&arguments).unwrap()));
    read.calls = calls.collect();
}

fn read_messages(events: &[&str], read: &mut Read) {
    let mut blocks = Vec::new();
    let mut arguments = String::new();
    for event in events {
        let event = event_of(event);
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(event["index"], blocks.len(), "{event}");
                blocks.push(event["content_block"].clone());
                arguments.clear();
            }
            "content_block_delta" => {
                assert_eq!(event["index"], blocks.len() - 1, "{event}");
                let delta = &event["delta"];
                read.text += delta["text"].as_str().unwrap_or_default();
                read.thoughts += delta["thinking"].as_str().unwrap_or_default();
                arguments += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" => {
                let block = blocks.last().unwrap();
                if block["type"] == "tool_use" {
                    let name = block["name"].as_str().unwrap().to_owned();
                    read.calls.push((name, serde_json::from_str(&arguments).unwrap()));
                }
            }
            "message_delta" => {
                read.finish = event["delta"]["stop_reason"].as_str().map(str::to_owned);
                read.usage = event["usage"]["output_tokens"].as_u64();
            }
            "message_stop" => read.has_end = true,
            "error" => read.error = Some(event["error"].clone()),
            _ => {}
        }
    }
}

fn call_of(function: &Value) -> (String, Value) {
    let arguments = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
    (function["name"].as_str().unwrap().to_owned(), arguments)
}
