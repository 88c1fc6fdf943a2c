//! A rewriter of model answers as a hook.

use hooks_core::HookRole;

use crate::error::AgentError;
use crate::event::EventMask;
use crate::hook::{AgentHook, AroundMask, ModelCall, NextModel, priority};
use crate::model::{Finding, ModelAnswer, Rewriter};

/// Rewrites the answers of the model before hooks, memory and the caller receive them. Changed
/// thoughts lose their signature. Empty chunks are dropped.
///
/// Text that becomes one block of the message is rewritten as one text, as are thoughts. Other
/// chunks between two texts, such as thoughts or a tool call, keep them apart.
///
/// What may still become a finding with more text is held back: a found range is never emitted; all
/// other text is emitted once, in order. The result does not depend on how the model splits its text
/// into chunks. Several of these hooks search the text of the model, and text is held back once; see
/// [`Rewriter`].
///
/// It is a hook around the model calls of an agent, at [`priority::SECURITY`].
///
/// ```
/// use hooks_agent::hook::Rewrite;
/// use hooks_agent::model::Finding;
/// use hooks_agent::prelude::*;
///
/// let mask = Rewrite::new(6, |text, from| {
///     let start = from + text[from..].find("secret")?;
///     Some(Finding::Replace { range: start..start + "secret".len(), text: "***".to_owned() })
/// });
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("careless", |_| "The secret word is not secret.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(mask.named("mask")).build()?;
/// assert_eq!(agent.call(Msg::user("Tell me")).await?.text(), "The *** word is not ***.");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Rewrite(Rewriter);

impl Rewrite {
    /// Creates a rewriter of the findings of `find`, which holds back `window` characters: see
    /// [`Rewriter::within`].
    pub fn new(
        window: usize,
        find: impl Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self(Rewriter::within(window, find))
    }

    /// Leaves the thoughts of the model unchanged.
    #[must_use]
    pub fn text_only(self) -> Self {
        Self(self.0.text_only())
    }
}

impl From<Rewriter> for Rewrite {
    fn from(rewriter: Rewriter) -> Self {
        Self(rewriter)
    }
}

impl AgentHook for Rewrite {
    fn priority(&self) -> i32 {
        priority::SECURITY
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Redacts)
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        Ok(next.run(call.into_request()).await?.rewrite(self.0.clone()))
    }
}
