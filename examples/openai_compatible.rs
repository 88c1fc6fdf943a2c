//! A model behind the wire format of `OpenAI`'s chat completions, which many servers speak.
//!
//! `cargo run --example openai_compatible --features genai,web [-- URL MODEL]`
//!
//! Without a URL the example brings a server of its own on this machine, so that you can see what
//! goes over the wire. The key, where the server wants one, is in `OPENAI_API_KEY`.

use axum::Router;
use axum::routing::post;
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentModelCallArgs;
use hooks_core::Hookable;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Answers in two pieces, as a server that streams does.
async fn completions(body: String) -> ([(&'static str, &'static str); 1], String) {
    let request: Value = serde_json::from_str(&body).unwrap_or_default();
    println!("the server got {}", request["messages"]);
    let piece = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = json!({
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 },
    });
    let events = [piece("Hello from "), piece("this machine."), end];
    let lines = events.map(|event| format!("data: {event}\n\n")).concat();
    ([("content-type", "text/event-stream")], lines + "data: [DONE]\n\n")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (url, model) = match (args.next(), args.next()) {
        (Some(url), Some(model)) => (url, model),
        (Some(_), None) => return Err("name the model after the URL".into()),
        (None, _) => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("http://{}/v1/", listener.local_addr()?);
            let router = Router::new().route("/v1/chat/completions", post(completions));
            tokio::spawn(async move { axum::serve(listener, router).await });
            (url, "local".to_owned())
        }
    };
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_else(|_| "none".to_owned());
    let agent = ReActAgent::builder("assistant")
        .system_prompt("Be brief.")
        .model(GenAiModel::openai_compatible(url, key, model))
        .model_options(ModelOptions::new().temperature(0.2))
        .build()?;
    agent.register_instance_hook(
        ReActAgent::PRE_MODEL_CALL,
        "log",
        |agent: &ReActAgent, args: &ReActAgentModelCallArgs| {
            println!(
                "{:?} sends {} messages",
                agent.hook_plan().agent(),
                args.request.messages.len()
            );
        },
    );

    let reply = agent.call(Msg::user("Say hello")).await?;
    let usage = reply.usage.unwrap_or_default();
    println!("{}\n({} tokens in, {} out)", reply.text(), usage.input_tokens, usage.output_tokens);
    Ok(())
}
