//! The types of handlers.

use serde_json::{Map, Value};

use crate::command::entry::{CommandEntry, Handler, McpTool};

/// A field that is not valid, and what was expected.
pub(super) type Wrong = (&'static str, &'static str);

/// The keys that handlers of all types have.
const COMMON: [&str; 7] = ["type", "timeout", "if", "onFailure", "statusMessage", "name", "id"];

/// Returns the keys of a handler that mean something here, and those that change nothing.
pub(super) fn known_keys(handler: &Handler) -> Vec<&'static str> {
    let of_type: &[_] = match handler {
        Handler::Exec(_) | Handler::Shell(..) => &["command", "args", "shell", "env"],
        Handler::Http(_) => &["url", "headers", "allowedEnvVars"],
        Handler::McpTool(_) => &["server", "tool", "input"],
        Handler::Prompt(_) => &["prompt"],
    };
    [&COMMON, of_type].concat()
}

/// Reads what a handler runs; `wrong` gets each field that is not valid.
pub(super) fn handler_of(fields: &Map<String, Value>, wrong: &mut Vec<Wrong>) -> Option<Handler> {
    match fields.get("type").and_then(Value::as_str) {
        Some("command") => command_of(fields, wrong),
        Some("http") => text(fields, "url", wrong).map(Handler::Http),
        Some("mcp_tool") => tool_of(fields, wrong).map(Handler::McpTool),
        Some("prompt") => text(fields, "prompt", wrong).map(Handler::Prompt),
        _ => {
            let expected = "expected `command`, `http`, `mcp_tool` or `prompt`, handlers of other types do \
                            not run here";
            wrong.push(("type", expected));
            None
        }
    }
}

/// Adds the headers of a request, and the variables in them.
pub(super) fn with_headers(
    mut entry: CommandEntry,
    fields: &Map<String, Value>,
    wrong: &mut Vec<Wrong>,
) -> CommandEntry {
    if let Some(headers) = fields.get("headers") {
        let pairs = headers.as_object().map(|all| all.iter().map(|(k, v)| Some((k, v.as_str()?))));
        match pairs.and_then(Iterator::collect::<Option<Vec<_>>>) {
            Some(pairs) => entry = pairs.into_iter().fold(entry, |it, (k, v)| it.header(k, v)),
            None => wrong.push(("headers", "expected an object of texts")),
        }
    }
    match fields.get("allowedEnvVars").map(texts) {
        None => entry,
        Some(Some(names)) => names.into_iter().fold(entry, CommandEntry::pass_env),
        Some(None) => {
            wrong.push(("allowedEnvVars", "expected a list of names of variables"));
            entry
        }
    }
}

fn command_of(fields: &Map<String, Value>, wrong: &mut Vec<Wrong>) -> Option<Handler> {
    let shell = match fields.get("shell").map(Value::as_str) {
        None => "sh",
        Some(Some("bash")) => "bash",
        Some(_) => {
            wrong.push(("shell", "expected `bash`"));
            "sh"
        }
    };
    let command = text(fields, "command", wrong)?;
    match fields.get("args").map(texts) {
        None => Some(Handler::Shell(shell, command)),
        Some(Some(args)) => Some(Handler::Exec([vec![command], args].concat())),
        Some(None) => {
            wrong.push(("args", "expected a list of texts"));
            None
        }
    }
}

fn tool_of(fields: &Map<String, Value>, wrong: &mut Vec<Wrong>) -> Option<McpTool> {
    let (server, tool) = (text(fields, "server", wrong), text(fields, "tool", wrong));
    let input = match fields.get("input") {
        None => Some(Map::new()),
        Some(Value::Object(input)) => Some(input.clone()),
        Some(_) => {
            wrong.push(("input", "expected an object"));
            None
        }
    };
    Some(McpTool { server: server?, tool: tool?, input: input? })
}

fn text(fields: &Map<String, Value>, key: &'static str, wrong: &mut Vec<Wrong>) -> Option<String> {
    let text = fields.get(key).and_then(Value::as_str).map(str::to_owned);
    if text.is_none() {
        wrong.push((key, "expected a text"));
    }
    text
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}
