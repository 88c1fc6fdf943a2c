//! Agents whose hooks would change text after its last verdict are not built.

use agent_hooks::Verdict;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::error::BuildError;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::Output;

use crate::support::deciding;

struct Outside;

#[agent_hook(priority = -1)]
impl Outside {
    async fn sign(&self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
        let mut reply = next.run(call.into_messages()).await?;
        reply.push_text(" - A.");
        Ok(reply)
    }
}

struct Beside;

#[agent_hook]
impl Beside {
    async fn again(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        next.run(attempt.into_request()).await
    }
}

fn built(hook: impl AgentHook, output: Output) -> Result<ReActAgent, BuildError> {
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let model = ScriptedModel::new("fixed", |_| "Done.");
    ReActAgent::builder("bot").model(model).hook(hook).hook(interceptors.output(output)).build()
}

#[test]
fn a_hook_outside_of_the_last_verdict_is_refused() {
    let error = built(Outside, Output::Buffered).unwrap_err();
    let said = "the hook `Interceptors` of agent `bot` cannot run beside the others: `Outside` is outside of it around whole \
                calls, where it may change a reply after the verdict about it: give it a priority above 0";
    assert_eq!(error.to_string(), said);
    assert!(built(Outside.with_priority(1), Output::Buffered).is_ok());
    assert!(built(Outside.with_role(HookRole::Observes), Output::Buffered).is_ok());
}

#[test]
fn another_hook_around_attempts_is_refused() {
    let error = built(Beside, Output::Buffered).unwrap_err();
    assert!(error.to_string().contains("`Beside` is around attempts too"), "{error}");
    assert!(built(Beside.with_role(HookRole::Retries), Output::Buffered).is_ok());
}

#[test]
fn a_hook_that_rewrites_streamed_text_needs_buffered_output() {
    let pii = || PiiDetection::all().output(true);
    assert!(built(pii(), Output::Buffered).is_ok());
    let error = built(pii(), Output::incremental()).unwrap_err();
    assert!(error.to_string().contains("rewrites streamed text after the verdict"), "{error}");
}
