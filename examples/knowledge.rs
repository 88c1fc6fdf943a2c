//! An agent answers from the documents of this repository and names its sources, without a network.
//!
//! `cargo run --example knowledge --features knowledge [-- "QUESTION"]`
//!
//! The model is a script that quotes the first passage it is given; any other model reads the same
//! passages. The index is kept in the folder `target`, so the second run reads only what changed.

use std::path::Path;
use std::time::Instant;

use hooks_agent::builtin::knowledge::{KnowledgeError, Passages, Rag, TextIndex};
use hooks_agent::model::ChatRequest;
use hooks_agent::prelude::*;

const QUESTIONS: [&str; 3] = [
    "Which hook asks people before a tool call runs?",
    "How do I add a built-in hook?",
    "What is the capital of France?",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let documents = open_documents().await?;
    let agent = ReActAgent::builder("librarian")
        .system_prompt(
            "Answer from the passages and name their sources. Without a passage, say so.",
        )
        .model(ScriptedModel::new("quoting", quote))
        .hook(Rag::new(documents))
        .hook(on(name_sources))
        .build()?;

    let asked = std::env::args().nth(1);
    let questions = asked.map_or(QUESTIONS.map(str::to_owned).to_vec(), |question| vec![question]);
    for question in questions {
        let reply = agent.call(question.as_str()).await?;
        println!("question: {question}\n{}\n", reply.text());
    }
    // Memory has questions and answers, and no passages.
    let history = agent.memory().messages();
    assert!(history.iter().all(|msg| !msg.text().contains("<passage")));
    Ok(())
}

/// Opens the index of the Markdown files in this repository.
async fn open_documents() -> Result<TextIndex, KnowledgeError> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let index = repository.join("target/knowledge-example");
    let start = Instant::now();
    let documents = TextIndex::builder(repository, index)
        .only(|path| !path.starts_with("target"))
        .open()
        .await?;
    let passages = documents.passages().await?;
    println!("{passages} passages, up to date after {:?}\n", start.elapsed());
    Ok(documents)
}

/// What a model is expected to do: answer with what it read. This one quotes the first lines of the
/// first passage.
fn quote(request: &ChatRequest) -> String {
    let texts: Vec<_> = request.messages.iter().map(Msg::text).collect();
    let read = texts.iter().find_map(|text| text.split_once("\n<passage id=")?.1.split_once(">\n"));
    match read {
        Some((_, passage)) => {
            let quoted = passage.lines().take_while(|line| !line.starts_with("</passage"));
            quoted.take(4).map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
        }
        None => "The documents say nothing about it.".to_owned(),
    }
}

/// Names the sources below the reply.
fn name_sources(event: &mut PostCall<'_>) {
    if let Some(passages) = event.context().get::<Passages>() {
        for passage in &*passages {
            let line = format!("\n  {:.2}  {}", passage.score, passage.place());
            event.final_message_mut().push_text(&line);
        }
    }
}
