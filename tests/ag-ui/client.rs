//! A client: it keeps the messages that the events build, and every stream that it reads passes the verifier
//! of another implementation.

use ag_ui::server::EventVerifier;
use futures::StreamExt;
use hooks_agent_ag_ui::{AgUi, Caller, Refused};
use hooks_agent_core::react::ReActAgent;
use serde_json::{Value, json};

pub(crate) struct Client {
    server: AgUi,
    caller: Caller,
    thread: String,
    runs: usize,
    /// The conversation as the client sees it.
    pub(crate) messages: Vec<Value>,
    pub(crate) tools: Value,
    pub(crate) version: Option<&'static str>,
}

impl Client {
    pub(crate) fn new(agent: ReActAgent) -> Self {
        Self::of(AgUi::new(agent))
    }

    pub(crate) fn of(server: AgUi) -> Self {
        Self {
            server,
            caller: Caller::new("ada"),
            thread: "t".to_owned(),
            runs: 0,
            messages: Vec::new(),
            tools: json!([]),
            version: Some("1.0"),
        }
    }

    /// Says something and returns the events.
    pub(crate) async fn say(&mut self, text: &str) -> Vec<Value> {
        self.push_user(text);
        self.send(json!({})).await.unwrap()
    }

    pub(crate) fn push_user(&mut self, text: &str) {
        let id = format!("user-{}", self.messages.len());
        self.messages.push(json!({ "id": id, "role": "user", "content": text }));
    }

    /// Answers interrupts and returns the events.
    pub(crate) async fn resume(&mut self, entries: Value) -> Vec<Value> {
        self.send(json!({ "resume": entries })).await.unwrap()
    }

    /// Sends the conversation with more members, and returns the events.
    pub(crate) async fn send(&mut self, more: Value) -> Result<Vec<Value>, Refused> {
        self.runs += 1;
        let mut input = json!({
            "threadId": self.thread,
            "runId": format!("run-{}", self.runs),
            "messages": self.messages,
            "tools": self.tools,
        });
        if let Some(version) = self.version {
            input["protocolVersion"] = version.into();
        }
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        let input = serde_json::from_value(input).unwrap();
        let events = self.server.run(self.caller.clone(), input).await?;
        let events: Vec<_> =
            events.map(|event| serde_json::to_value(event).unwrap()).collect().await;
        verify(&events, &self.messages);
        for event in &events {
            apply(&mut self.messages, event);
        }
        Ok(events)
    }

    /// Returns the text of the message of this id.
    pub(crate) fn text(&self, id: &str) -> &str {
        let message = self.messages.iter().find(|message| message["id"] == id);
        message.and_then(|message| message["content"].as_str()).unwrap_or("none")
    }
}

/// Has another implementation check a stream, for a client with these messages.
pub(crate) fn verify(events: &[Value], messages: &[Value]) {
    let mut verifier = EventVerifier::new();
    for event in events {
        assert!(!has_null(event), "an optional field is null: {event}");
        let mut event = event.clone();
        if event["type"] == "RUN_STARTED" {
            // What the client has seen in earlier runs; the server does not send it again.
            event["input"] = json!({ "threadId": "t", "runId": "r", "messages": messages, "state": {},
                "tools": [], "context": [], "forwardedProps": {} });
        }
        let parsed: ag_ui::Event = serde_json::from_value(event.clone())
            .unwrap_or_else(|error| panic!("{error} in {event}"));
        verifier.observe(&parsed).unwrap_or_else(|error| panic!("{error} in {events:#?}"));
    }
    let is_end =
        |event: &Value| ["RUN_FINISHED", "RUN_ERROR"].iter().any(|it| event["type"] == *it);
    assert_eq!(events.iter().position(is_end), Some(events.len() - 1), "one end, the last event");
}

fn has_null(event: &Value) -> bool {
    let members = event.as_object().unwrap().iter();
    members
        .filter(|(name, _)| !["value", "snapshot"].contains(&name.as_str()))
        .any(|(_, it)| it.is_null())
}

/// Returns the types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Returns the events of a type.
pub(crate) fn all<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// Returns the only event of a type.
pub(crate) fn one<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    match all(events, kind)[..] {
        [event] => event,
        _ => panic!("not one {kind} in {events:#?}"),
    }
}

/// Returns the outcome of a run.
pub(crate) fn outcome(events: &[Value]) -> &Value {
    &one(events, "RUN_FINISHED")["outcome"]
}

/// Does to the messages of a client what an event says.
pub(crate) fn apply(messages: &mut Vec<Value>, event: &Value) {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let at = |messages: &[Value], id: &str| messages.iter().position(|it| it["id"] == id);
    let tagged = |mut message: Value| {
        if !event["subagentRunId"].is_null() {
            message["subagentRunId"] = event["subagentRunId"].clone();
        }
        message
    };
    match event["type"].as_str().unwrap() {
        "TEXT_MESSAGE_START" => {
            messages.push(tagged(
                json!({ "id": text("messageId"), "role": "assistant", "content": "" }),
            ));
        }
        "REASONING_MESSAGE_START" => {
            messages.push(tagged(
                json!({ "id": text("messageId"), "role": "reasoning", "content": "" }),
            ));
        }
        "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
            let at = at(messages, &text("messageId")).unwrap();
            let content = messages[at]["content"].as_str().unwrap().to_owned() + &text("delta");
            messages[at]["content"] = content.into();
        }
        "REASONING_ENCRYPTED_VALUE" if event["subtype"] == "message" => {
            let at = at(messages, &text("entityId")).unwrap();
            messages[at]["encryptedValue"] = event["encryptedValue"].clone();
        }
        "REASONING_ENCRYPTED_VALUE" => {
            call_mut(messages, &text("entityId"))["encryptedValue"] =
                event["encryptedValue"].clone();
        }
        "TOOL_CALL_START" => {
            let parent = text("parentMessageId");
            let at = at(messages, &parent).unwrap_or_else(|| {
                messages.push(tagged(json!({ "id": parent, "role": "assistant" })));
                messages.len() - 1
            });
            let call = json!({ "id": text("toolCallId"), "type": "function",
                "function": { "name": text("toolCallName"), "arguments": "" } });
            match messages[at].get_mut("toolCalls").and_then(Value::as_array_mut) {
                Some(calls) => calls.push(call),
                None => messages[at]["toolCalls"] = json!([call]),
            }
        }
        "TOOL_CALL_ARGS" => {
            let arguments = &mut call_mut(messages, &text("toolCallId"))["function"]["arguments"];
            *arguments = (arguments.as_str().unwrap().to_owned() + &text("delta")).into();
        }
        "TOOL_CALL_RESULT" => {
            let mut message = tagged(json!({ "id": text("messageId"), "role": "tool",
                "toolCallId": text("toolCallId"), "content": event["content"] }));
            if !event["metadata"].is_null() {
                message["metadata"] = event["metadata"].clone();
            }
            messages.push(message);
        }
        "MESSAGES_SNAPSHOT" => {
            let all = event["messages"].as_array().unwrap();
            messages.retain(|message| all.iter().any(|it| it["id"] == message["id"]));
            for new in all {
                match at(messages, new["id"].as_str().unwrap()) {
                    Some(at) => messages[at] = new.clone(),
                    None => messages.push(new.clone()),
                }
            }
        }
        _ => {}
    }
}

fn call_mut<'a>(messages: &'a mut [Value], id: &str) -> &'a mut Value {
    let calls =
        messages.iter_mut().filter_map(|message| message.get_mut("toolCalls")?.as_array_mut());
    calls.flatten().find(|call| call["id"] == id).expect("the tool call was started")
}
