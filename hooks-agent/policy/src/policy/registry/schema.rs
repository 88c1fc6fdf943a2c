//! The JSON schema of policy files.

use hooks_agent_core::options::Factory;
use serde_json::{Value, json};

use crate::policy::file::HookTable;
use crate::policy::registry::hooks::Registry;

/// Returns the JSON schema of policy files, for editors: their keys, and the options of every hook
/// that the linker collected. [`PolicyBuilder::schema`](crate::policy::PolicyBuilder::schema) has
/// the hooks of the program too.
///
/// ```
/// let schema = hooks_agent::policy::schema();
/// assert_eq!(schema["properties"]["version"]["const"], 1);
/// ```
#[must_use]
pub fn schema() -> Value {
    schema_of(&Registry::linked())
}

pub(crate) fn schema_of(registry: &Registry) -> Value {
    let of = |uses: &str, key: &str| match registry.get(uses).map(Factory::schema) {
        Some(schema) => schema.as_value()["properties"][key].clone(),
        // The program has no such hook.
        None => Value::Bool(false),
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy of agents",
        "type": "object",
        "additionalProperties": false,
        "required": ["version"],
        "properties": {
            "version": { "const": 1 },
            "mode": mode(),
            "on_failure": on_failure(),
            "hook": { "type": "array", "items": hook(registry) },
            "command": { "type": "array", "items": command() },
            "limits": limits(),
            "rules": of(HookTable::RULES, "rules"),
            "vars": of(HookTable::RULES, "vars"),
            "rule": of(HookTable::RULES, "rule"),
            "quotas": of(HookTable::QUOTAS, "quotas"),
            "quota": of(HookTable::QUOTAS, "quota"),
        },
    })
}

fn mode() -> Value {
    json!({ "enum": ["enforce", "shadow"], "description": "In shadow, it changes no call." })
}

fn on_failure() -> Value {
    json!({ "enum": ["block", "continue"], "description": "What a failure of a command does." })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn hook(registry: &Registry) -> Value {
    let names: Vec<_> = registry.names().collect();
    let options = registry.names().filter_map(|name| {
        let schema = registry.get(name)?.schema();
        Some(json!({
            "if": { "properties": { "use": { "const": name } } },
            "then": { "properties": { "with": schema } },
        }))
    });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["use"],
        "properties": {
            "use": { "enum": names, "description": "The registered hook." },
            "name": { "type": "string", "description": "A unique name. Default: `use`." },
            "agents": texts("Globs of agent names; after `!`, those left out. Default: all."),
            "priority": { "type": "integer", "description": "Lower runs first." },
            "before": texts("Names of hooks of the policy that run later."),
            "after": texts("Names of hooks of the policy that run earlier."),
            "requires": texts("Names of hooks of the policy that must be there."),
            "parallel": { "type": "boolean", "description": "Runs at once with neighbours that do." },
            "inherit": { "type": "boolean", "description": "Also runs in sub-agents." },
            "enabled": { "type": "boolean", "default": true },
            "mode": mode(),
            "with": { "type": "object", "description": "The options of the hook." },
        },
        "allOf": options.collect::<Vec<_>>(),
    })
}

fn command() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["event"],
        "oneOf": [
            { "required": ["exec"] },
            { "required": ["command"] },
            { "required": ["url"] },
            { "required": ["prompt"] },
        ],
        "properties": {
            "event": { "type": "string" },
            "matcher": { "type": "string" },
            "if": { "type": "string" },
            "exec": texts("A program and its arguments, started without a shell."),
            "command": { "type": "string", "description": "A line for `sh -c`." },
            "url": { "type": "string", "description": "A server that is asked." },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "prompt": { "type": "string", "description": "A question to the model of the program." },
            "timeout": { "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" },
            "on_failure": on_failure(),
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "pass_env": texts("Variables that the program, or the headers, receive."),
            "sequence": { "type": "boolean" },
            "name": { "type": "string" },
        },
    })
}

fn limits() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "max_iters": { "type": "integer", "minimum": 1 },
            "deny_tools": texts("Globs of tools that no agent may call."),
        },
    })
}
