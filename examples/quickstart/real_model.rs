//! A model behind HTTP, in programs that are built with the feature `genai`.

/// Returns the model that the environment names, at `OpenAI` if it names none.
#[cfg(feature = "genai")]
pub(crate) fn open(key: String) -> Result<hooks_agent::model::GenAiModel, String> {
    let set = |name, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let url = set("OPENAI_BASE_URL", "https://api.openai.com/v1/");
    let model = set("HOOKS_MODEL", "gpt-5-mini");
    Ok(hooks_agent::model::GenAiModel::openai_compatible(url, key, model))
}

/// Refuses: a question for a real model is not answered by a script.
#[cfg(not(feature = "genai"))]
pub(crate) fn open(_: String) -> Result<hooks_agent::model::ScriptedModel, String> {
    Err("OPENAI_API_KEY is set, and no real model is built in: \
         `cargo run --example quickstart --features genai` has it, or unset the key"
        .to_owned())
}
