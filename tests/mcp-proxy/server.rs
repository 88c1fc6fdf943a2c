//! An MCP server on its pipes that does what tool calls tell it.

use std::io::{BufRead, Write};
use std::process::exit;

use serde_json::{Value, json};

fn main() {
    let mut called = Vec::new();
    let mut waiting = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
            continue;
        };
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [tool("echo"), tool("pay"), tool("called")] }),
            "tools/call" => {
                let (name, args) = (params["name"].as_str().unwrap(), &params["arguments"]);
                called.push(json!({ "name": name, "arguments": args }));
                match name {
                    "exit" => exit(i32::try_from(args["code"].as_i64().unwrap()).unwrap()),
                    "hang" => loop {
                        std::thread::park();
                    },
                    "wait" => {
                        waiting.push(id.clone());
                        continue;
                    }
                    "release" => {
                        waiting.drain(..).for_each(|id| answer(&id, &text("released")));
                        text("done")
                    }
                    "says" => {
                        eprintln!("{}", args["text"].as_str().unwrap());
                        text("said")
                    }
                    "line" => {
                        println!("{}", args["text"].as_str().unwrap());
                        text("printed")
                    }
                    "called" => text(&json!(called).to_string()),
                    _ => text(args["text"].as_str().unwrap_or_default()),
                }
            }
            _ => json!({}),
        };
        answer(id, &result);
    }
}

fn answer(id: &Value, result: &Value) {
    let line = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "A tool.", "inputSchema": { "type": "object" } })
}
