//! Interceptors from closures.

use std::ops::{Deref, Index};

use agent_hooks::{AgentContext, Interceptor, Verdict};
use async_trait::async_trait;
use serde_json::Value;

/// Makes an interceptor of a closure that does not wait. One that waits implements [`Interceptor`].
///
/// ```
/// use hooks_agent::interceptors::agent_hooks::Verdict;
/// use hooks_agent::interceptors::{Interceptors, Profile, intercept};
///
/// let no_mail = intercept(|context| match context["tool_call"]["name"] == "send_mail" {
///     true => Verdict::deny(Some("no_mail".to_owned()), None),
///     false => Verdict::allow(),
/// });
/// let hook = Interceptors::new(Profile::default()).add("no_mail", no_mail);
/// ```
pub fn intercept(
    decide: impl Fn(Context<'_>) -> Verdict + Send + Sync + 'static,
) -> impl Interceptor + 'static {
    Closure(decide)
}

/// The context of a point, for a closure. A field that the point does not have is null: the map that it
/// [is](Deref) panics there.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a>(pub &'a AgentContext);

impl Context<'_> {
    /// Returns the name of the point, such as `pre_tool_call`.
    #[must_use]
    pub fn point(&self) -> &str {
        self["interception_point"].as_str().unwrap_or_default()
    }
}

impl Index<&str> for Context<'_> {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        self.0.get(field).unwrap_or(&Value::Null)
    }
}

impl Deref for Context<'_> {
    type Target = AgentContext;

    fn deref(&self) -> &AgentContext {
        self.0
    }
}

struct Closure<F>(F);

#[async_trait]
impl<F: Fn(Context<'_>) -> Verdict + Send + Sync> Interceptor for Closure<F> {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        (self.0)(Context(context))
    }
}
