//! Parts that the tests share: hooks of every kind, agents with them, and the ends of their calls.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::time::Duration;

use hooks_agent::builtin::connect::Studio;
use hooks_agent::builtin::guard::{
    Decision, EgressGuard, InjectPrompt, Judge, McpPins, PiiDetection, Provenance, Requires,
    RuleOfTwo, Rules, Sanitize, Secrets, SensitiveWords, Spotlight, Then, ToolApproval, ToolParams,
    ToolRule, Vault, WordList,
};
use hooks_agent::builtin::limit::{Budget, ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent::builtin::observe::{JsonlTrace, Logging, Monitoring, OpenTelemetry, Timing};
use hooks_agent::builtin::recover::{
    CircuitBreaker, ModelFallback, ModelRetry, RetryPolicy, ToolRetry,
};
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use serde_json::json;

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// The key that tools receive and nobody else sees.
pub(crate) const SECRET: &str = "hunter2-hunter2";

/// The address that the vault keeps.
pub(crate) const ADDRESS: &str = "ada@example.com";

pub(crate) fn busy() -> ModelError {
    ModelError::status("script", 503)
}

pub(crate) fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({}))
}

pub(crate) fn at_once(attempts: usize) -> RetryPolicy {
    RetryPolicy::new().attempts(attempts).initial_delay(Duration::ZERO)
}

pub(crate) fn approve_all(tools: &[&str]) -> ToolApproval {
    ToolApproval::new(tools.iter().copied(), async |_| Decision::Allow)
}

/// Returns the typed cause of an error.
pub(crate) fn cause<E: Error + 'static>(error: &AgentError) -> &E {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return found;
        }
        source = error.source();
    }
    panic!("another error: {error}")
}

/// Returns the counts of a limit on a thread: of the thread and of the run.
pub(crate) fn counts(agent: &ReActAgent, thread: &str, name: &str) -> (u64, u64) {
    let values = agent.threads().memory(thread).map(|memory| memory.values()).unwrap_or_default();
    let count = |scope: &str| values.get(name).map_or(0, |it| it[scope].as_u64().unwrap());
    (count("thread"), count("run"))
}

/// Appends the `Debug` form of something.
pub(crate) fn note(into: &mut String, what: &dyn std::fmt::Debug) {
    writeln!(into, "{what:?}").unwrap();
}

pub(crate) fn results(agent: &ReActAgent) -> Vec<ToolResult> {
    let history = agent.threads().memory("default").unwrap().messages();
    history.iter().flat_map(Msg::tool_results).cloned().collect()
}

/// Adds all guards, none of which refuses anything. The tool `send` receives an address and a secret.
pub(crate) fn guards(builder: ReActAgentBuilder, vault: &Vault) -> ReActAgentBuilder {
    guards_with(builder, vault, approve_all(&["send"]))
}

/// Adds all guards, of which this approval may refuse or edit tool calls.
pub(crate) fn guards_with(
    builder: ReActAgentBuilder,
    vault: &Vault,
    approval: ToolApproval,
) -> ReActAgentBuilder {
    let words = SensitiveWords::new(WordList::new(["swordfish"]).unwrap());
    let rule =
        RuleOfTwo::new().untrusted_input(["browse"]).harmless(["look", "send", "inner", "middle"]);
    let provenance = Provenance::new()
        .untrusted(["browse"])
        .unwrap()
        .trusted(["look", "send", "inner", "middle"])
        .unwrap();
    let known = ToolRule::new("known", Then::Deny).when("size(args) > 1000000");
    let after = ToolRule::new("after", Then::Deny).tools(["look"]).requires(Requires::new("none"));
    let rules = Rules::builder().rule(known).rule(after.when("false")).build().unwrap();
    let small = ScriptedModel::new("small", |_| r#"{"score": 1.0, "reason": "It is good."}"#);
    let judge = Judge::new(small, "Be good.").input().tool_calls().answers();
    builder
        .hook(Sanitize::new("key-[0-9]+", "[key]").unwrap())
        .hook(PiiDetection::email().everywhere().vault(vault.clone()).reveal_only_to(["send"]))
        .hook(Secrets::new())
        .hook(words.tool_results(true).tool_arguments(true))
        .hook(EgressGuard::new(["*.example"]).unwrap().private_data(["look"]).unwrap())
        .hook(McpPins::open("no-pins.json").unwrap())
        .hook(judge)
        .hook(approval)
        .hook(rule)
        .hook(rules)
        .hook(provenance)
        .hook(InjectPrompt::new("Be brief."))
        .hook(Spotlight::new(["browse"]))
        .hook(ToolParams::new().secret("token", SECRET.to_owned()).for_tools(["send"]))
}

/// Adds all limits, with room for many calls.
pub(crate) fn limits(builder: ReActAgentBuilder) -> ReActAgentBuilder {
    let models = RateLimit::of_models().requests(1_000_000, MINUTE).tokens(100_000_000, MINUTE);
    let tools = RateLimit::of_tools().requests(1_000_000, MINUTE);
    builder
        .hook(ModelCallLimit::builder().thread(1_000_000).build().unwrap())
        .hook(ToolCallLimit::all().thread(1_000_000).build().unwrap())
        .hook(ToolCallLimit::of("send").thread(1_000_000).build().unwrap())
        .hook(Budget::builder().thread_tokens(100_000_000).day_tokens(1 << 60).build().unwrap())
        .hook(models.wait(MINUTE).build().unwrap().named("RateLimit[models]"))
        .hook(tools.build().unwrap().named("RateLimit[tools]"))
}

/// Adds the hooks that recover, except for the emulator.
pub(crate) fn recovery(
    builder: ReActAgentBuilder,
    other: impl ChatModel + 'static,
) -> ReActAgentBuilder {
    builder
        .hook(ModelRetry::with(at_once(3)).unwrap())
        .hook(ToolRetry::with(at_once(3)).unwrap())
        .hook(ModelFallback::new(other))
        .hook(CircuitBreaker::for_model("script").failures(1_000_000))
        .hook(CircuitBreaker::for_tool("look").failures(1_000_000))
}

/// Adds the hooks that observe, except for the audit log, which needs a file.
pub(crate) fn observers(
    builder: ReActAgentBuilder,
    out: impl io::Write + Send + Clone + 'static,
    monitoring: &Monitoring,
) -> ReActAgentBuilder {
    let trace = JsonlTrace::to_writer(out.clone()).include_acting_chunks();
    observers_at_once(builder, out, monitoring).hook(trace.open().unwrap())
}

/// Adds the hooks that observe without waiting for a file.
pub(crate) fn observers_at_once(
    builder: ReActAgentBuilder,
    out: impl io::Write + Send + 'static,
    monitoring: &Monitoring,
) -> ReActAgentBuilder {
    let logging = Logging::to_writer(out).content(true);
    let telemetry = OpenTelemetry::builder().environment(|_| None).build();
    let builder = builder.hook(telemetry).hook(Studio::new().hook());
    builder.hook(logging).hook(Timing::new()).hook(monitoring.clone())
}
