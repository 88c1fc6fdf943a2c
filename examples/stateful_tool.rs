//! Tools that share state: methods of a type that are marked `#[tool]`, and a function beside them.
//!
//! `cargo run --example stateful_tool`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent::prelude::*;
use serde_json::json;

/// A shop's stock, which several tools read and change.
#[derive(Default)]
struct Stock {
    pieces: Mutex<BTreeMap<String, u32>>,
}

#[derive(Debug, thiserror::Error)]
#[error("there are only {left} of `{item}`")]
struct TooFew {
    item: String,
    left: u32,
}

#[tool]
impl Stock {
    /// Says how many pieces of an item there are.
    #[tool(idempotent)]
    fn count(
        &self,
        /// The name of the item.
        item: &str,
    ) -> String {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{} of `{item}`", pieces.get(item).copied().unwrap_or(0))
    }

    /// Takes pieces of an item out of the stock.
    #[tool]
    async fn take(
        &self,
        /// The name of the item.
        item: String,
        /// How many pieces; one if it is left out.
        pieces: Option<u32>,
        cx: &ToolContext,
    ) -> Result<String, TooFew> {
        let wanted = pieces.unwrap_or(1);
        cx.progress(format!("looking for {wanted} of `{item}`"));
        let mut stock = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let left = stock.entry(item.clone()).or_default();
        if *left < wanted {
            return Err(TooFew { item, left: *left });
        }
        *left -= wanted;
        Ok(format!("took {wanted}, {left} are left"))
    }
}

/// Sums prices up, in euros.
#[tool(idempotent)]
fn total(prices: &[f64]) -> String {
    format!("{:.2} euros", prices.iter().sum::<f64>())
}

fn clerk(request: &ChatRequest) -> ScriptedAnswer {
    let call = |id, tool, input| ContentBlock::ToolUse(ToolUse::new(id, tool, input));
    let results: Vec<_> =
        request.messages.iter().flat_map(hooks_agent::message::Msg::tool_results).collect();
    if results.is_empty() {
        return vec![
            call("1", "count", json!({ "item": "apples" })),
            call("2", "take", json!({ "item": "apples", "pieces": 3 })),
            call("3", "take", json!({ "item": "apples", "pieces": 30 })),
            call("4", "total", json!({ "prices": [0.5, 0.5, 0.75] })),
        ]
        .into();
    }
    let outputs: Vec<_> = results.iter().map(|result| result.output.as_str()).collect();
    outputs.join("\n").into()
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let stock = Arc::new(Stock::default());
    stock.pieces.lock().unwrap_or_else(PoisonError::into_inner).insert("apples".to_owned(), 10);
    let agent = ReActAgent::builder("clerk")
        .model(ScriptedModel::new("clerk", clerk))
        .tools(stock.tools())
        .tool(Total)
        .build()?;
    println!("{}", agent.call("Three apples, please").await?.text());
    // The function itself is as it was.
    println!("the stock now has {}, {}", stock.count("apples"), total(&[1.0, 2.0]));
    Ok(())
}
