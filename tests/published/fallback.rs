//! Retries, then other models.

use std::sync::Arc;

use hooks_agent::prelude::*;

/// Calls a model that is busy again, and other models after that, in order.
///
/// A model is busy if its error is [transient](hooks_agent::model::ModelError::is_transient). Other
/// errors are left as they are, and so is a stream that breaks later: its chunks have been seen.
///
/// ```
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
/// use hooks_published::Fallback;
///
/// # futures::executor::block_on(async {
/// let busy = ScriptedModel::new("first", |_| -> ScriptedAnswer {
///     ModelError::status("first", 503).into()
/// });
/// let spare = ScriptedModel::new("second", |_| "I am here.");
/// let agent = ReActAgent::builder("assistant")
///     .model(busy)
///     .hook(Fallback::new().retries(2).model(spare))
///     .build()?;
/// assert_eq!(agent.call("hello").await?.text(), "I am here.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Fallback {
    retries: usize,
    models: Vec<Arc<dyn ChatModel>>,
}

impl Fallback {
    /// Creates a hook without retries and without other models.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many times a model that is busy is called again.
    pub fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    /// Adds a model that is called if those before it are busy.
    pub fn model(mut self, model: impl ChatModel + 'static) -> Self {
        self.models.push(Arc::new(model));
        self
    }
}

#[agent_hook(inherit)]
impl Fallback {
    async fn ask(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let request = call.into_request();
        let mut ended = next.run(request.clone()).await;
        for _ in 0..self.retries {
            if !is_busy(&ended) {
                return ended;
            }
            ended = next.run(request.clone()).await;
        }
        for model in &self.models {
            if !is_busy(&ended) {
                return ended;
            }
            ended = ModelAnswer::ask(&**model, request.clone()).await.map_err(AgentError::from);
        }
        ended
    }
}

fn is_busy(ended: &Result<ModelAnswer, AgentError>) -> bool {
    matches!(ended, Err(AgentError::Model(error)) if error.is_transient())
}

impl std::fmt::Debug for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let models: Vec<_> = self.models.iter().map(hooks_agent::model::ChatModel::name).collect();
        f.debug_struct("Fallback").field("retries", &self.retries).field("models", &models).finish()
    }
}
