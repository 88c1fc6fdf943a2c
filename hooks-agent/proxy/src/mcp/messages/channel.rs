//! The messages between one agent and one server, decided one by one.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::mcp::messages::calls::{Call, Calls, NotTaken};
use crate::mcp::messages::content::Readable;
use crate::mcp::messages::decisions::{After, Asked, Before, Decisions};
use crate::mcp::messages::message::{self, Message, NO_PARAMS, NOT_ANSWERED};
use crate::mcp::messages::name::ServerName;

/// What becomes of a message.
#[derive(Debug)]
pub(crate) enum Passage {
    /// This goes on to the other side.
    On(Value),
    /// This goes back to the side that it comes from.
    Back(Value),
    /// Nothing goes anywhere, for this reason.
    Dropped(&'static str),
}

/// What all channels to a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) decisions: Decisions,
    pub(crate) name: ServerName,
}

/// The messages between one agent and one server.
#[derive(Debug)]
pub(crate) struct Channel {
    shared: Arc<Shared>,
    /// The requests of the agent.
    calls: Calls,
    /// The requests of the server.
    asked: Calls,
}

impl Channel {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, calls: Calls::default(), asked: Calls::default() }
    }

    /// Returns whether no request waits for its answer.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.asked.is_empty()
    }

    /// Returns what answers the requests of the agent that the server will not answer.
    pub(crate) fn unanswered(&self, reason: &str) -> Vec<Value> {
        let ids = self.calls.end_all();
        ids.iter().map(|id| message::error(id, NOT_ANSWERED, reason)).collect()
    }

    /// Returns what answers a request that the server will not answer, if it waits.
    pub(crate) fn unanswered_one(&self, id: &Value, reason: &str) -> Option<Value> {
        self.calls.end(id)?;
        Some(message::error(id, NOT_ANSWERED, reason))
    }

    /// Returns what answers the only request of the agent that waits. Of several, nobody knows which it is.
    pub(crate) fn unanswered_only(&self, reason: &str) -> Option<Value> {
        let id = self.calls.end_only()?;
        Some(message::error(&id, NOT_ANSWERED, reason))
    }

    /// Decides about a message of the agent.
    pub(crate) async fn of_agent(&self, text: &[u8]) -> Passage {
        match Message::read(text) {
            Err(no) => Passage::Back(message::error(&no.id, no.code, no.reason)),
            Ok(Message::Notification { method, fields }) => {
                if let Some(id) = cancelled(&method, &fields) {
                    self.calls.cancel(id);
                }
                Passage::On(fields.into())
            }
            Ok(Message::Response { id, fields }) => match self.asked.end(&id) {
                Some(_) => Passage::On(fields.into()),
                None => Passage::Dropped("it answers no request of the server"),
            },
            Ok(Message::Request { id, method, fields }) => {
                self.request_of_agent(id, method, fields).await
            }
        }
    }

    async fn request_of_agent(
        &self,
        id: Value,
        method: String,
        mut fields: Map<String, Value>,
    ) -> Passage {
        let tool = match (method == "tools/call").then(|| tool_call(&fields)) {
            None => None,
            Some(Ok(tool)) => Some(tool),
            Some(Err(reason)) => return Passage::Back(message::error(&id, NO_PARAMS, reason)),
        };
        match self.calls.begin(&id, Call { method, tool: tool.clone() }) {
            Ok(()) => {}
            Err(NotTaken::SameId) => {
                return Passage::Dropped("a request of the same id waits for its answer");
            }
            Err(NotTaken::TooMany) => {
                let reason = "too many requests wait for their answers";
                return Passage::Back(message::error(&id, NOT_ANSWERED, reason));
            }
        }
        let Some((tool, arguments)) = tool else { return Passage::On(fields.into()) };
        match self.before(&id, &tool, arguments).await {
            Before::Runs => Passage::On(fields.into()),
            Before::RunsWith(arguments) => {
                self.calls.rewrite(&id, &arguments);
                if let Some(params) = fields.get_mut("params") {
                    params["arguments"] = arguments.into();
                }
                Passage::On(fields.into())
            }
            // The end of the server may have answered it.
            Before::Refused(reason) => match self.calls.end(&id) {
                Some(_) => Passage::Back(message::tool_error(&id, &reason)),
                None => Passage::Dropped("its request has an answer"),
            },
        }
    }

    async fn before(&self, id: &Value, tool: &str, arguments: Map<String, Value>) -> Before {
        if !self.shared.name.is_known() {
            let reason =
                "the MCP server has not said its name, which hooks need: write `--server NAME`";
            return Before::Refused(reason.to_owned());
        }
        let asked = Asked { tool: self.shared.name.of(tool), arguments, id: written(id) };
        self.shared.decisions.before(asked).await
    }

    /// Decides about a message of the server.
    pub(crate) async fn of_server(&self, text: &[u8]) -> Passage {
        match Message::read_plain(text) {
            Err(no) => Passage::Dropped(no.reason),
            Ok(Message::Response { id, fields }) => match self.calls.end(&id) {
                Some(call) => Passage::On(self.answer(&id, &call, fields).await),
                None => Passage::Dropped("it answers no request of the agent"),
            },
            Ok(Message::Request { id, method, fields }) => {
                self.request_of_server(id, method, fields).await
            }
            Ok(Message::Notification { method, mut fields }) => {
                if let Some(id) = cancelled(&method, &fields) {
                    self.asked.cancel(id);
                }
                let asked = self.of_method(&method, "notification");
                match self.screened(asked, fields.get("params")).await {
                    Err(_) => Passage::Dropped("hooks withhold it"),
                    Ok(params) => {
                        replace(&mut fields, "params", params);
                        Passage::On(fields.into())
                    }
                }
            }
        }
    }

    async fn request_of_server(
        &self,
        id: Value,
        method: String,
        mut fields: Map<String, Value>,
    ) -> Passage {
        let asked = self.of_method(&method, &written(&id));
        match self.asked.begin(&id, Call { method, tool: None }) {
            Ok(()) => {}
            Err(NotTaken::SameId) => {
                return Passage::Dropped("a request of the same id waits for its answer");
            }
            Err(NotTaken::TooMany) => {
                let reason = "too many requests wait for their answers";
                return Passage::Back(message::error(&id, NOT_ANSWERED, reason));
            }
        }
        match self.screened(asked, fields.get("params")).await {
            Ok(params) => {
                replace(&mut fields, "params", params);
                Passage::On(fields.into())
            }
            Err(reason) => {
                self.asked.end(&id);
                Passage::Back(message::error(&id, NOT_ANSWERED, &withheld(&reason)))
            }
        }
    }

    /// Returns the answer of the server, as hooks leave it.
    async fn answer(&self, id: &Value, call: &Call, mut fields: Map<String, Value>) -> Value {
        if let Some(Value::Object(result)) = fields.get("result") {
            self.shared.name.learn(&call.method, result);
        }
        let asked = match &call.tool {
            Some((tool, arguments)) => {
                let tool = self.shared.name.of(tool);
                Asked { tool, arguments: arguments.clone(), id: written(id) }
            }
            None => self.of_method(&call.method, &written(id)),
        };
        let left = match fields.get("error") {
            Some(error) => self.screened_error(asked, error).await.map(|error| ("error", error)),
            None => {
                let result = self.screened(asked, fields.get("result")).await;
                result.map(|result| ("result", result))
            }
        };
        match left {
            Ok((field, value)) => {
                replace(&mut fields, field, value);
                fields.into()
            }
            Err(reason) if call.tool.is_some() => message::tool_error(id, &withheld(&reason)),
            Err(reason) => message::error(id, NOT_ANSWERED, &withheld(&reason)),
        }
    }

    /// Returns another value, if hooks changed this one, or why they withhold it.
    async fn screened(&self, asked: Asked, said: Option<&Value>) -> Result<Option<Value>, String> {
        let Some(said) = said else { return Ok(None) };
        let readable = Readable::of(said);
        if readable.is_empty() {
            return Ok(None);
        }
        match self.shared.decisions.after(asked, readable.value.clone()).await {
            After::Same => Ok(None),
            After::Withheld(reason) => Err(reason),
            After::Changed(left) => {
                let no_form = || "a hook made another form of it".to_owned();
                readable.changed(said, left).map(Some).ok_or_else(no_form)
            }
        }
    }

    /// The same for an error, whose message and data are read.
    async fn screened_error(&self, asked: Asked, error: &Value) -> Result<Option<Value>, String> {
        let mut read = error.clone();
        let code = read.as_object_mut().and_then(|fields| fields.remove("code"));
        let left = match self.shared.decisions.after(asked, read).await {
            After::Same => return Ok(None),
            After::Withheld(reason) => return Err(reason),
            After::Changed(left) => left,
        };
        let mut fields = match left {
            Value::Object(fields) if fields.get("message").is_some_and(Value::is_string) => fields,
            Value::String(text) => Map::from_iter([("message".to_owned(), text.into())]),
            _ => return Err("a hook made another form of it".to_owned()),
        };
        if let Some(code) = code {
            fields.insert("code".to_owned(), code);
        }
        Ok(Some(fields.into()))
    }

    fn of_method(&self, method: &str, id: &str) -> Asked {
        Asked { tool: self.shared.name.of(method), arguments: Map::new(), id: id.to_owned() }
    }
}

/// Returns the tool and the arguments of a tool call.
fn tool_call(fields: &Map<String, Value>) -> Result<(String, Map<String, Value>), &'static str> {
    let params = fields.get("params").and_then(Value::as_object).ok_or("`params` is missing")?;
    let name = params.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or("`params.name` is no name of a tool")?.to_owned();
    match params.get("arguments") {
        None => Ok((name, Map::new())),
        Some(Value::Object(arguments)) => Ok((name, arguments.clone())),
        Some(_) => Err("`params.arguments` is no object"),
    }
}

fn cancelled<'a>(method: &str, fields: &'a Map<String, Value>) -> Option<&'a Value> {
    let params = (method == "notifications/cancelled").then(|| fields.get("params"))??;
    params.get("requestId")
}

fn replace(fields: &mut Map<String, Value>, field: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(field.to_owned(), value);
    }
}

/// Returns an id as text.
fn written(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Returns what is read in place of what hooks withhold.
fn withheld(reason: &str) -> String {
    format!("[withheld: {reason}]")
}
