//! Interceptors from closures.

use std::ops::{Deref, Index};

use agent_hooks::{AgentContext, Decision, Interceptor, Transform, Verdict};
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

/// Creates the verdict that changes a part of the target of a point: `$target`, or a path in it, such as
/// `$target.content` and `$target[0].content`. The guide has the target of each point.
///
/// ```
/// use hooks_agent::interceptors::{intercept, transform};
///
/// let mask = intercept(|context| match context.point() {
///     "output" => transform("$target.content", "[masked]"),
///     _ => hooks_agent::interceptors::agent_hooks::Verdict::allow(),
/// });
/// ```
#[must_use]
pub fn transform(path: impl Into<String>, value: impl Into<Value>) -> Verdict {
    let transform = Some(Transform { path: path.into(), value: value.into() });
    Verdict { decision: Decision::Transform, transform, ..Verdict::allow() }
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
