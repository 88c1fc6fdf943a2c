//! Checks the globs of tools, which go by names.

use hooks_agent_core::options::Globs;

use crate::rule::check_globs;

/// Why a guard cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct ProvenanceError {
    /// The place of the glob among those that it stands with.
    pub index: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Makes the globs of these texts; `None` of no texts.
pub(super) fn globs(
    tools: impl IntoIterator<Item = impl Into<String>>,
) -> Result<Option<Globs>, ProvenanceError> {
    let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
    if tools.is_empty() {
        return Ok(None);
    }
    let with_server = tools.iter().position(|it| it.contains("::"));
    if let Some(index) = with_server {
        let why = "expected a glob of names: a result does not tell its server".to_owned();
        return Err(ProvenanceError { index, why });
    }
    check_globs(&tools).map(Some).map_err(|(index, why)| ProvenanceError { index, why })
}
