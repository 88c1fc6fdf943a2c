//! The search as a tool.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::Knowledge;
use crate::rag::prompt;
use crate::rag::search::{Settings, search};
use hooks_agent_core::message::visible;
use hooks_agent_core::tool::{FunctionTool, Tool};

/// The name of the tool.
pub(super) const NAME: &str = "search_knowledge";

/// The most passages that the model may ask for.
const MOST: usize = 20;

const DESCRIPTION: &str = "Searches the documents and returns passages with their sources. Use it \
    before you answer from memory, and search again in other words if nothing fits.";

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for: words that the documents would have, or a question.
    query: String,
    /// How many passages to return, at most 20.
    limit: Option<usize>,
}

pub(super) fn search_tool(knowledge: Arc<dyn Knowledge>, settings: Settings) -> Arc<dyn Tool> {
    let run = move |args: Search| {
        let knowledge = knowledge.clone();
        async move {
            let limit = args.limit.unwrap_or(settings.limit).clamp(1, MOST);
            let found = search(&knowledge, settings, &args.query, limit).await;
            let passages = found?;
            if passages.is_empty() {
                return Ok("No passage fits. Search again in other words.".to_owned());
            }
            Ok::<_, KnowledgeError>(visible(&prompt::marked(&passages)).into_owned())
        }
    };
    Arc::new(FunctionTool::new(NAME, DESCRIPTION, run).idempotent())
}
