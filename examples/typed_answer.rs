//! A typed answer: the model answers wrongly, reads what does not fit, and answers again, while the
//! value is shown as it arrives.
//!
//! `cargo run --example typed_answer --features structured-output`

use futures::StreamExt;
use hooks_agent::builtin::answer::{Mode, StructuredOutput, StructuredOutputError, TypedCalls};
use hooks_agent::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// What the letter asks for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Invoice {
    number: u32,
    items: Vec<Item>,
    payment: Payment,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "printed by `Debug`")]
struct Item {
    name: String,
    /// In euros.
    price: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "printed by `Debug`")]
enum Payment {
    Transfer { iban: String },
    Cash,
}

const WRONG: &str = r#"Here is the invoice: {"number": 7, "items": [{"name": "ink", "price": "two euros"}],
    "payment": {"kind": "cheque"}}"#;
const RIGHT: &str = r#"{"number": 7, "items": [{"name": "ink", "price": 2.5}, {"name": "paper", "price": 4}],
    "payment": {"kind": "cash"}}"#;

/// Answers rightly once it was told what does not fit.
fn clerk(request: &ChatRequest) -> &'static str {
    let last = request.last_text();
    if !last.starts_with("Your answer does not fit") {
        return WRONG;
    }
    println!("  the model reads: {}", last.replace('\n', "\n    "));
    RIGHT
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let agent = ReActAgent::builder("clerk").model(ScriptedModel::new("clerk", clerk)).build()?;

    println!("a call:");
    let invoice = agent.call_typed::<Invoice>("Read this letter: ..").await?;
    println!("  invoice {}, {} items, {:?}", invoice.number, invoice.items.len(), invoice.payment);

    println!("a stream:");
    let letter = "Read that letter: ..";
    let mut partials = agent.stream_typed::<Invoice>(letter);
    while let Some(partial) = partials.next().await {
        let partial = partial?;
        println!("  {}. {}", partial.attempt(), partial.value());
        if let Some(invoice) = partial.complete() {
            println!("  done: {invoice:?}");
        }
    }

    println!("a model that does not learn:");
    let stubborn = ScriptedModel::new("stubborn", |_| WRONG);
    let agent = ReActAgent::builder("clerk").model(stubborn).build()?;
    let output = StructuredOutput::of::<Invoice>().mode(Mode::Prompt).retries(1).build()?;
    match output.call::<Invoice>(&agent, CallOptions::new(), letter).await {
        Err(error @ StructuredOutputError::Mismatch { .. }) => {
            println!("  {error}");
            for problem in error.problems() {
                println!("  {problem}");
            }
        }
        other => println!("  {other:?}"),
    }
    Ok(())
}
