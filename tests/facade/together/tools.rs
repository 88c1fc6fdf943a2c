//! Hooks around tools together: guards, limits, retries and the vault.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use hooks_agent::builtin::guard::{ApprovalRequest, Decision, ToolApproval, Vault, VaultKey};
use hooks_agent::builtin::limit::{RateLimit, ToolCallLimit};
use hooks_agent::builtin::observe::Monitoring;
use hooks_agent::builtin::recover::{RetryPolicy, ToolRetry};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::{Calls, Script, check_history};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::agents::{
    ADDRESS, MINUTE, SECRET, at_once, call, counts, guards, guards_with, limits, note, observers,
    recovery, results,
};

/// What was written, by everybody.
#[derive(Clone, Default)]
pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).unwrap()
    }
}

impl io::Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A tool that notes what it received and tells all of it.
pub(crate) fn teller(name: &'static str, inputs: &Arc<Mutex<Vec<Value>>>) -> FunctionTool {
    let inputs = inputs.clone();
    FunctionTool::with_context(name, "Sends.", move |input: Value, cx: ToolContext| {
        inputs.lock().unwrap().push(input.clone());
        async move {
            cx.progress(format!("sending {input} key-123"));
            format!("sent {input} key-123")
        }
    })
}

pub(crate) fn send(id: &str) -> ToolUse {
    ToolUse::new(id, "send", json!({ "to": "[EMAIL_XZNDVXQW]", "n": 1 }))
}

/// The calls of a turn: three that run and one whose tool fails twice.
pub(crate) fn turn() -> [ToolUse; 4] {
    [send("1"), call("2", "look"), call("3", "browse"), send("4")]
}

pub(crate) struct Bench {
    pub(crate) agent: ReActAgent,
    pub(crate) script: Script,
    pub(crate) sent: Arc<Mutex<Vec<Value>>>,
    pub(crate) look: Calls,
    pub(crate) screen: Screen,
    pub(crate) monitoring: Monitoring,
    pub(crate) vault: Vault,
}

pub(crate) fn bench(
    parallel: bool,
    script: Script,
    more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> Bench {
    let (screen, monitoring, vault) =
        (Screen::default(), Monitoring::new(), Vault::stored(VaultKey::new("test", [7; 32])));
    let sent = Arc::default();
    let look = Calls::new("look").fails("key-1").fails("key-2").answers("seen key-3");
    let browse = Calls::new("browse").answers(format!("a page of {ADDRESS}, swordfish"));
    let builder = ReActAgent::builder("bot").model(script.clone()).parallel_tools(parallel);
    let builder = builder.tool(teller("send", &sent)).tool(browse).tool(look.clone());
    let builder = recovery(limits(guards(builder, &vault)), ScriptedModel::new("other", |_| "x"));
    let retry = ToolRetry::with(at_once(3)).unwrap().tools(["look"]).named("ToolRetry[look]");
    let builder = observers(builder.hook(retry), screen.clone(), &monitoring);
    let agent = more(builder).build().unwrap();
    Bench { agent, script, sent, look, screen, monitoring, vault }
}

impl Bench {
    /// Streams a call; returns what the stream showed.
    pub(crate) async fn shown(&self, options: CallOptions, text: String) -> String {
        let mut stream = self.agent.stream_with(options, text);
        let mut shown = String::new();
        while let Some(event) = stream.next().await {
            note(&mut shown, &event);
        }
        shown
    }

    /// Asserts that nothing shows what guards hide.
    pub(crate) fn assert_hidden(&self, shown: &str) {
        let history = self.agent.threads().memory("default").unwrap().messages();
        let json = serde_json::to_string(&history).unwrap();
        let (requests, screen) = (self.script.requests(), self.screen.text());
        let values = self.agent.memory().values();
        let all = format!("{shown} {history:?} {json} {requests:?} {screen} {values:?}");
        for secret in [SECRET, ADDRESS, "key-1", "swordfish"] {
            let at = all.find(secret);
            assert_eq!(at.map(|at| &all[at.saturating_sub(300)..at + 20]), None, "{secret}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_tool_call_has_one_result_and_nothing_is_shown() {
    for parallel in [false, true] {
        let script = Script::new().calls(turn()).says("done");
        let bench = bench(parallel, script, |builder| builder);
        let text = format!("write to {ADDRESS}");
        let shown = bench.shown(CallOptions::new(), text).await;
        check_history(bench.agent.memory());
        bench.assert_hidden(&shown);
        assert!(shown.contains("[EMAIL_XZNDVXQW]") && shown.contains("[key]"));

        // The tool has all, and the vault gives the data back.
        let input = json!({ "to": ADDRESS, "n": 1, "token": SECRET });
        assert_eq!(*bench.sent.lock().unwrap(), [input.clone(), input]);
        assert_eq!(bench.vault.reveal_in(bench.agent.id(), "default", "[EMAIL_XZNDVXQW]"), ADDRESS);

        // Attempts of a retry are one tool call.
        let count = |name| counts(&bench.agent, "default", name);
        assert_eq!(count("ToolCallLimit"), (4, 4));
        assert_eq!(count("ToolCallLimit[send]"), (2, 2));
        assert_eq!(bench.look.inputs().len(), 3);
        let results = results(&bench.agent);
        let ids: Vec<_> = results.iter().map(|result| (&*result.id, result.is_error)).collect();
        assert_eq!(ids, [("1", false), ("2", false), ("3", false), ("4", false)]);
        assert_eq!(results[1].output, "seen [key]");
        let page = results[2].output.as_str();
        assert!(page.contains("a page of [EMAIL_XZNDVXQW], *********"), "{page}");
        let snapshot = bench.monitoring.snapshot();
        assert_eq!((snapshot.tool_calls, snapshot.tool_errors, snapshot.in_flight), (4, 0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_edited_after_another_approval_does_not_run_and_counts_once() {
    for parallel in [false, true] {
        let asked = Arc::new(Mutex::new(String::new()));
        let seen = asked.clone();
        let approval = ToolApproval::new(["send"], move |request: ApprovalRequest| {
            note(&mut seen.lock().unwrap(), request.tool_use());
            async { Decision::Edit(json!({ "to": "[EMAIL_XZNDVXQW]", "n": 5 })) }
        });
        let script = Script::new().calls(turn()).says("done");
        let bench = bench(parallel, script, |builder| builder.hook(approval.named("editor")));
        let shown = bench.shown(CallOptions::new(), format!("write to {ADDRESS}")).await;
        bench.assert_hidden(&shown);
        let asked = asked.lock().unwrap();
        assert!(
            asked.contains("EMAIL_XZNDVXQW") && !asked.contains(ADDRESS) && !asked.contains(SECRET)
        );

        // The first approval saw another tool call, so what the second one made of it does not run.
        assert!(bench.sent.lock().unwrap().is_empty());
        check_history(bench.agent.memory());
        assert_eq!(counts(&bench.agent, "default", "ToolCallLimit[send]"), (2, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn an_edited_tool_call_is_what_runs() {
    for parallel in [false, true] {
        let script = Script::new().calls(turn()).says("done");
        let approval = ToolApproval::new(["send"], async |_| {
            Decision::Edit(json!({ "to": "[EMAIL_XZNDVXQW]", "n": 5 }))
        });
        let sent = Arc::default();
        let vault = Vault::stored(VaultKey::new("test", [7; 32]));
        let builder = ReActAgent::builder("bot").model(script.clone()).parallel_tools(parallel);
        let builder = builder.tool(teller("send", &sent)).tool(Calls::new("look").answers("seen"));
        let builder = builder.tool(Calls::new("browse").answers("page"));
        let agent = limits(guards_with(builder, &vault, approval)).build().unwrap();
        agent.call(format!("write to {ADDRESS}")).await.unwrap();
        let input = json!({ "to": ADDRESS, "n": 5, "token": SECRET });
        assert_eq!(*sent.lock().unwrap(), [input.clone(), input]);
        assert_eq!(counts(&agent, "default", "ToolCallLimit[send]"), (2, 2));
        let ran = results(&agent)[0].ran.clone().unwrap();
        assert_eq!(ran.input, json!({ "to": "[EMAIL_XZNDVXQW]", "n": 5, "token": "[hidden]" }));
        check_history(agent.memory());
    }
}

#[tokio::test(start_paused = true)]
async fn a_denied_tool_call_takes_no_permit_and_no_quota_of_the_thread() {
    for parallel in [false, true] {
        let deny = ToolApproval::new(["send"], async |_| Decision::deny("no"));
        let rate = RateLimit::of_tools().requests(1, MINUTE).clock(|| Duration::ZERO);
        let script = Script::new().calls([send("1"), send("2"), call("3", "look")]).says("done");
        let look = Calls::new("look").answers("seen");
        let builder = ReActAgent::builder("bot").model(script).parallel_tools(parallel);
        let builder = builder.tool(teller("send", &Arc::default())).tool(look.clone());
        let limit = ToolCallLimit::all().thread(9).build().unwrap();
        let builder = builder.hook(deny).hook(limit).hook(rate.build().unwrap());
        let agent = builder.build().unwrap();
        agent.call("go").await.unwrap();
        assert_eq!(look.inputs().len(), 1, "the only permit was free");
        // Documented: a tool call counts when the model makes it, also if a hook refuses it later.
        assert_eq!(counts(&agent, "default", "ToolCallLimit"), (3, 3));
        check_history(agent.memory());
    }
}

#[tokio::test(start_paused = true)]
async fn a_decider_is_asked_beyond_the_limit_unless_the_limit_has_a_lower_priority() {
    for (priority, expected) in [(ToolCallLimit::PRIORITY, 2), (15, 1)] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let approval = ToolApproval::new(["send"], move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Decision::Allow }
        });
        let (sent, script) = (Arc::default(), Script::new().calls([send("1"), send("2")]));
        let limit = ToolCallLimit::all().run(1).build().unwrap().with_priority(priority);
        let builder = ReActAgent::builder("bot").model(script.says("done"));
        let builder = builder.tool(teller("send", &sent)).hook(limit).hook(approval);
        let agent = builder.build().unwrap();
        agent.call("go").await.unwrap();
        assert_eq!((asked.load(Ordering::Relaxed), sent.lock().unwrap().len()), (expected, 1));
        check_history(agent.memory());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_permit_is_not_retried() {
    for parallel in [false, true] {
        let script = Script::new().calls([call("1", "look"), call("2", "look")]).says("done");
        let rate = RateLimit::of_tools().requests(1, MINUTE).clock(|| Duration::ZERO);
        let retry = ToolRetry::with(RetryPolicy::new().attempts(9).jitter(false)).unwrap();
        let look = Calls::new("look").fails("locked");
        let builder = ReActAgent::builder("bot").model(script).parallel_tools(parallel);
        let builder = builder.tool(look.clone()).hook(rate.build().unwrap());
        let agent = builder.hook(retry.tools(["look"])).build().unwrap();
        let start = Instant::now();
        agent.call("go").await.unwrap();
        assert_eq!(look.inputs().len(), 1);
        // The delay after the tool failed, and none after a refusal.
        assert_eq!(start.elapsed(), Duration::from_secs(1));
        for result in results(&agent) {
            let text = "the rate limit of requests is reached, retry in 60s";
            assert_eq!((result.output.as_str(), result.is_error), (text, true));
        }
        check_history(agent.memory());
    }
}

/// Turns every tool call into one of `look`.
struct Detour;

#[agent_hook]
impl Detour {
    async fn turn(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        "look".clone_into(&mut call.tool_use_mut().name);
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_beyond_its_limit_is_not_retried() {
    let script = Script::new().calls([call("1", "browse")]).says("done");
    let look = Calls::new("look").answers("seen");
    let limit = ToolCallLimit::of("look").run(0).build().unwrap();
    let retry = ToolRetry::with(RetryPolicy::new().attempts(9)).unwrap();
    let builder = ReActAgent::builder("bot").model(script).tool(look.clone());
    let builder = builder.tool(Calls::new("browse")).hook(Detour).hook(limit);
    let agent = builder.hook(retry.tools(["browse", "look"])).build().unwrap();
    let start = Instant::now();
    agent.call("go").await.unwrap();
    assert_eq!((look.inputs().len(), start.elapsed()), (0, Duration::ZERO));
    let text = "Tool call limit exceeded. Do not call 'look' again.";
    assert_eq!(results(&agent)[0].output, text);
}
