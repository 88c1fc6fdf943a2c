//! Errors that are stored and made again: which pass, what is kept, and that a repeated call goes
//! the same way.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_builtin::recover::{ModelRetry, RetryPolicy};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::{AgentError, BuildError, ErrorKind, ErrorReport, InputError};
use hooks_agent_core::event::{ErrorEvent, PreCall};
use hooks_agent_core::hook::{ModelCall, NextModel, NextTool, ToolCall, on};
use hooks_agent_core::message::{Msg, PendingCall, PendingReason, ToolResult, ToolUse, Usage};
use hooks_agent_core::model::{ModelAnswer, ModelError, ScriptedAnswer};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::StoreError;
use hooks_agent_core::tool::{FunctionTool, ToolError};
use hooks_core::{HookError, HookOptions, HookResult, Hookable};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, script, uses};
use serde_json::{Value, json};

#[derive(Debug)]
struct Because(Box<dyn Error + Send + Sync>);

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("because")
    }
}

impl Error for Because {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// An error that is its own source.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("endless")
    }
}

impl Error for Endless {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&Endless)
    }
}

fn busy() -> ModelError {
    let mut error = ModelError::status("gpt-99", 503);
    if let ModelError::Status { message, request_id, retry_after, .. } = &mut error {
        *message = Some("Slow down.".to_owned());
        *request_id = Some("req_1".to_owned());
        *retry_after = Some(Duration::from_millis(1500));
    }
    error
}

fn model_errors() -> Vec<ModelError> {
    let (model, reason) = (|| "gpt-99".to_owned(), || "so".to_owned());
    vec![
        busy(),
        ModelError::status("gpt-99", 401),
        ModelError::unreachable("gpt-99", "https://example.com", "refused"),
        ModelError::TooLong { model: model(), limit: 9 },
        ModelError::Cut { model: model() },
        ModelError::empty(model(), Usage::default()),
        ModelError::empty(model(), Usage::new(70, 20)),
        ModelError::unreachable("gpt-99", "https://example.com", "no such host").unsent(),
        ModelError::blocked(reason()),
        ModelError::Failed { model: model(), reason: reason() },
        ModelError::other("own", Because("no fuel".into())),
    ]
}

fn tool_errors() -> Vec<ToolError> {
    let tool = || "pay".to_owned();
    let pending = vec![PendingCall::new(
        ToolUse::new("1", "pay", json!({ "euros": 12 })),
        PendingReason::Permission(String::new()),
    )];
    vec![
        ToolError::Failed("no such file".into()),
        ToolError::Failed(Because(busy().into()).into()),
        ToolError::Failed(AgentError::from(busy()).into()),
        ToolError::Panicked { tool: tool() },
        ToolError::TimedOut { tool: tool(), after: Duration::from_secs(3) },
        ToolError::Unknown { tool: tool(), known: vec!["read".to_owned()] },
        ToolError::Denied { tool: tool(), reason: "no".to_owned() },
        ToolError::InvalidInput { tool: tool(), written: "{".to_owned() },
        ToolError::Waiting { pending },
        ToolError::Interrupted,
    ]
}

/// The error of a call of which a hook fails with this cause.
async fn hook_error(
    cause: impl Fn() -> Box<dyn Error + Send + Sync> + Send + Sync + 'static,
) -> AgentError {
    let fails = on(move |_: &mut PreCall<'_>| -> HookResult { Err(cause()) });
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).hook(fails).build().unwrap();
    agent.call(go()).await.unwrap_err()
}

async fn agent_errors() -> Vec<AgentError> {
    let (agent, thread) = (|| "bot".to_owned(), || "ada".to_owned());
    let mut errors = vec![
        hook_error(|| "no".into()).await,
        hook_error(|| Because(busy().into()).into()).await,
        BuildError::MissingModel { agent: agent() }.into(),
        InputError::SystemMessage.into(),
        AgentError::TooManyJumps { limit: 3 },
        AgentError::CallsItself { agent: agent(), thread: thread() },
        AgentError::QueueTimeout {
            agent: agent(),
            thread: thread(),
            after: Duration::from_secs(1),
        },
        AgentError::SetAside { agent: agent(), thread: thread(), times: 5 },
        AgentError::Interrupted,
        AgentError::Compression(Because("too long".into()).into()),
        AgentError::Read { user: agent(), source: std::io::Error::other("closed") },
        AgentError::EndOfInput { user: agent() },
        AgentError::other("own"),
        AgentError::other(busy()),
    ];
    errors.extend(model_errors().into_iter().map(AgentError::from));
    errors
}

fn texts(error: &dyn Error) -> Vec<String> {
    let sources = std::iter::successors(Some(error), |error| Error::source(*error));
    sources.take(100).map(ToString::to_string).collect()
}

/// Returns the report as another process reads it.
fn stored(report: &ErrorReport) -> ErrorReport {
    let json = serde_json::to_string(report).unwrap();
    let read = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, report, "{json}");
    read
}

#[tokio::test]
async fn an_error_that_is_made_again_has_the_same_texts_kind_and_transience() {
    for error in agent_errors().await {
        let again = AgentError::from(stored(&error.report()));
        assert_eq!(texts(&again), texts(&error));
        assert_eq!((again.kind(), again.is_transient()), (error.kind(), error.is_transient()));
        assert_eq!(again.report(), error.report());
        assert_eq!(ErrorReport::from(&again), error.report());
    }
    for error in tool_errors() {
        let again = ToolError::from(stored(&error.report()));
        assert_eq!(texts(&again), texts(&error));
        assert_eq!((again.kind(), again.is_transient()), (error.kind(), error.is_transient()));
        assert_eq!(again.report(), error.report());
        assert_eq!(std::mem::discriminant(&again), std::mem::discriminant(&error));
    }
    for error in model_errors() {
        let json = serde_json::to_string(&error).unwrap();
        let read: ModelError = serde_json::from_str(&json).unwrap();
        let AgentError::Model(again) = AgentError::from(stored(&error.report())) else {
            panic!("{error} is not an error of a model again")
        };
        for again in [read, again] {
            assert_eq!(texts(&again), texts(&error));
            assert_eq!((again.kind(), again.is_transient()), (error.kind(), error.is_transient()));
            assert_eq!(json!(again), json!(error));
        }
    }
}

#[tokio::test]
async fn transient_is_what_a_model_a_store_or_time_may_mend() {
    let unavailable = || StoreError::Unavailable("refused".into());
    let full = || StoreError::Full("no space".into());
    let transient = [
        AgentError::from(busy()),
        AgentError::other(busy()),
        AgentError::other(Because(busy().into())),
        AgentError::other(unavailable()),
        AgentError::other(AgentError::from(busy()).report()),
        AgentError::other(ToolError::TimedOut { tool: "t".to_owned(), after: Duration::ZERO }),
        AgentError::Compression(busy().into()),
        hook_error(|| busy().into()).await,
        hook_error(|| Because(StoreError::Unavailable("refused".into()).into()).into()).await,
    ];
    for error in transient {
        assert!(error.is_transient(), "{error:?}");
    }
    let lasting = [
        AgentError::from(ModelError::status("gpt-99", 401)),
        AgentError::from(ModelError::other("own", busy())),
        AgentError::Interrupted,
        AgentError::other("no"),
        AgentError::other(Endless),
        AgentError::other(full()),
        AgentError::other(StoreError::Failed(unavailable().into())),
        hook_error(|| "no".into()).await,
    ];
    for error in lasting {
        assert!(!error.is_transient(), "{error:?}");
    }
    assert!(ToolError::Failed(unavailable().into()).is_transient());
    assert!(!ToolError::Failed(std::io::Error::other("no").into()).is_transient());
    assert!(!ToolError::Panicked { tool: "t".to_owned() }.is_transient());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_took_too_long_is_transient() {
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let options = HookOptions::named("slow").timeout(Duration::from_secs(1));
    let slow =
        hooks_core::hook!(ReActAgent::PRE_REPLY, async |_, _| std::future::pending::<()>().await);
    agent.register_instance_hook(ReActAgent::PRE_REPLY, options, slow);
    let error = agent.call(go()).await.unwrap_err();
    assert!(matches!(error, AgentError::Hook(HookError::TimedOut { .. })));
    assert!(error.is_transient());
}

#[test]
fn an_endless_chain_of_causes_is_cut() {
    let report = AgentError::other(Endless).report();
    assert_eq!(report.causes().count(), 32);
    let causes = vec!["again"; 100_000];
    let hostile =
        json!({ "kind": "other", "message": "", "causes": causes, "is_transient": false });
    let report: ErrorReport = serde_json::from_value(hostile).unwrap();
    assert_eq!(report.causes().count(), 32);
}

#[test]
fn a_report_of_a_later_version_is_read() {
    let later = json!({
        "kind": "eclipsed", "message": "the moon", "is_transient": true, "phase": "full",
        "original": { "eclipsed": { "by": "the moon" } },
    });
    let report: ErrorReport = serde_json::from_value(later).unwrap();
    assert_eq!((report.kind(), report.is_transient()), (ErrorKind::Other, true));
    let error = AgentError::from(report.clone());
    assert!(error.is_transient());
    assert_eq!(error.to_string(), "the moon");
    assert!(matches!(ToolError::from(report), ToolError::Failed(_)));
}

#[test]
fn the_debug_form_of_a_report_has_no_arguments_of_tool_calls() {
    let waiting = tool_errors().into_iter().find(|error| error.kind() == ErrorKind::Waiting);
    let report = format!("{:?}", waiting.unwrap().report());
    assert!(report.contains("Waiting") && !report.contains("euros"), "{report}");
}

/// Answers each model call from a record.
struct ReplayModel(Vec<String>, AtomicUsize);

#[agent_hook(name = "replay", priority = 900)]
impl ReplayModel {
    async fn run(&self, _: ModelCall<'_>, next: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        let step = self.1.fetch_add(1, Ordering::Relaxed);
        let report = serde_json::from_str::<ErrorReport>(&self.0[step]);
        Err(report.map_err(|error| next.fail(error))?.into())
    }
}

/// Answers each tool call from a record.
struct ReplayTool(String);

#[agent_hook(name = "replay", priority = 900)]
impl ReplayTool {
    async fn run(&self, _: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let report = serde_json::from_str::<ErrorReport>(&self.0);
        Err(report.map_err(|error| next.fail(error))?.into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_the_same_way_on_recorded_errors() {
    let refused = ModelError::status("gpt-99", 401);
    let policy = || RetryPolicy::new().jitter(false).initial_delay(Duration::from_millis(1));
    let retry = || ModelRetry::with(policy()).unwrap();
    let (model, asked) = script([ScriptedAnswer::from(busy()), refused.clone().into()]);
    let agent = ReActAgent::builder("bot").model(model).hook(retry()).build().unwrap();
    let begun = tokio::time::Instant::now();
    let first = agent.call(go()).await.unwrap_err();
    let took = begun.elapsed();
    assert_eq!(asked.take().len(), 2);

    let record = [busy(), refused].map(|error| serde_json::to_string(&error.report()).unwrap());
    let replay = ReplayModel(record.to_vec(), AtomicUsize::new(0));
    let (model, asked) = script(["not asked"]);
    let builder = ReActAgent::builder("bot").model(model).hook(retry()).hook(replay);
    let begun = tokio::time::Instant::now();
    let again = builder.build().unwrap().call(go()).await.unwrap_err();
    assert_eq!((texts(&again), begun.elapsed()), (texts(&first), took));
    assert!(took >= Duration::from_millis(1500) && asked.take().is_empty());
}

/// Calls an agent whose only tool call ends by this record. Returns what the call ends with, and the
/// kinds of errors that error hooks received.
async fn replayed(report: &ErrorReport) -> (Result<Msg, AgentError>, Vec<&'static str>) {
    let kinds = Arc::new(Records::new());
    let seen = kinds.clone();
    let watch = on(move |event: &mut ErrorEvent<'_>| seen.push(event.error_kind()));
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| -> String { panic!("it ran") });
    let (model, _) = script([uses([ToolUse::new("1", "pay", json!({}))]), "ok".into()]);
    let replay = ReplayTool(serde_json::to_string(report).unwrap());
    let builder = ReActAgent::builder("bot").model(model).tool(pay).hook(replay).hook(watch);
    let agent = builder.build().unwrap();
    let ended = agent.call(go()).await.map(|_| {
        let messages = agent.memory().messages();
        messages.iter().find(|msg| msg.tool_results().next().is_some()).unwrap().clone()
    });
    (ended, kinds.take())
}

#[tokio::test]
async fn the_model_reads_a_recorded_error_of_a_tool_again() {
    for error in tool_errors().into_iter().take(8) {
        let (ended, kinds) = replayed(&error.report()).await;
        let read = ended.unwrap();
        let result = read.tool_results().next().unwrap();
        assert!(result.is_error);
        assert_eq!(result.output, error.to_string().as_str());
        assert!(
            kinds[0].replace('_', "").eq_ignore_ascii_case(&error.kind().as_str().replace('_', ""))
        );
    }
}

#[tokio::test]
async fn a_recorded_failure_of_a_hook_fails_the_call_again() {
    let AgentError::Hook(hook) = hook_error(|| busy().into()).await else {
        panic!("a hook failed")
    };
    let error = ToolError::Hook(hook);
    let (ended, kinds) = replayed(&error.report()).await;
    let again = ended.unwrap_err();
    assert_eq!(texts(&again), texts(&error));
    assert_eq!((again.kind(), again.is_transient()), (ErrorKind::Hook, true));
    assert_eq!(kinds, ["Hook"]);
}
