//! The tools of a request.

use hooks_agent_core::options::Globs;
use hooks_agent_guest::GuestThread;
use serde_json::{Value, json};

use crate::model::guarded::Session;
use crate::model::refusal::Form;

/// The kinds of tools that run where the agent is, though the provider describes them.
const OF_AGENT: [&str; 12] = [
    "function",
    "custom",
    "computer",
    "computer_use",
    "computer-use",
    "local_shell",
    "apply_patch",
    "bash",
    "text_editor",
    "memory",
    "namespace",
    "tool_search",
];

/// Takes the tools out of a request that the policy denies by their names, and those of the provider that hooks deny.
pub(crate) async fn remove_denied(
    body: &mut Value,
    form: Form,
    denied: &Globs,
    session: &Session,
    thread: &GuestThread,
) {
    let mut removed = Vec::new();
    for list in ["tools", "mcp_servers"] {
        let Some(tools) = body[list].as_array() else { continue };
        let mut kept = Vec::with_capacity(tools.len());
        for tool in tools {
            let (name, is_hosted) = name_of(tool, list);
            let is_denied = denied.is_match(&name)
                || is_hosted && session.denies(thread, &name, tool.clone()).await;
            if is_denied {
                removed.push(name);
            } else {
                kept.push(tool.clone());
            }
        }
        if kept.len() == tools.len() {
            continue;
        }
        if kept.is_empty() {
            if let Some(fields) = body.as_object_mut() {
                fields.shift_remove(list);
            }
        } else {
            body[list] = kept.into();
        }
    }
    if form == Form::Chat && !body["web_search_options"].is_null() {
        let of_request = body["web_search_options"].clone();
        let name = "web_search";
        if denied.is_match(name) || session.denies(thread, name, of_request).await {
            body.as_object_mut().and_then(|fields| fields.shift_remove("web_search_options"));
        }
    }
    if !removed.is_empty() {
        unchoose(body, &removed);
    }
}

/// Returns the name of a tool, as policies have it, and whether its provider runs it.
pub(crate) fn name_of(tool: &Value, list: &str) -> (String, bool) {
    let kind = tool["type"].as_str().unwrap_or("function");
    let own = tool["name"].as_str();
    let server = tool["server_label"].as_str().or_else(|| tool["mcp_server_name"].as_str());
    let server = server.or_else(|| own.filter(|_| list == "mcp_servers"));
    if let Some(server) = server {
        return (format!("mcp__{server}"), true);
    }
    let within = [&tool["function"]["name"], &tool["custom"]["name"]];
    let name = own.or_else(|| within.into_iter().find_map(Value::as_str)).unwrap_or(kind);
    (name.to_owned(), !OF_AGENT.contains(&without_version(kind)))
}

/// Returns the kind of a tool without the version at its end, as in `bash_20250124` and `web_search_preview`.
fn without_version(kind: &str) -> &str {
    match kind.rsplit_once('_') {
        Some((before, last)) if last.bytes().all(|byte| byte.is_ascii_digit()) => before,
        Some((before, "preview")) => before,
        _ => kind,
    }
}

/// Drops a choice of a tool that is gone.
fn unchoose(body: &mut Value, removed: &[String]) {
    let choice = &body["tool_choice"];
    let named = choice["name"].as_str().or_else(|| choice["function"]["name"].as_str());
    let named = named.or_else(|| choice["type"].as_str());
    let is_gone = named.is_some_and(|name| removed.iter().any(|gone| gone == name));
    let has_tools = body["tools"].is_array();
    if (is_gone || !has_tools) && !body["tool_choice"].is_null() {
        body.as_object_mut().and_then(|fields| fields.shift_remove("tool_choice"));
    } else if let Some(allowed) = body["tool_choice"]["tools"].as_array() {
        let is_kept = |tool: &&Value| {
            let (name, _) = name_of(tool, "tools");
            !removed.contains(&name)
        };
        let kept: Vec<_> = allowed.iter().filter(is_kept).cloned().collect();
        body["tool_choice"]["tools"] = json!(kept);
    }
}
