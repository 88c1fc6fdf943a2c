//! Interceptors from closures.

use agent_hooks::{AgentContext, Interceptor, Verdict};
use async_trait::async_trait;

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
    decide: impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static,
) -> impl Interceptor + 'static {
    Closure(decide)
}

struct Closure<F>(F);

#[async_trait]
impl<F: Fn(&AgentContext) -> Verdict + Send + Sync> Interceptor for Closure<F> {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        (self.0)(context)
    }
}
