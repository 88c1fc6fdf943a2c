//! Quotas in agents: what is counted, for whom, and what the model reads.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::User;
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{ModelError, ModelOptions, PriceTable};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Reservation, Store, Used, Window, admit};
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_rules::{Per, Quota, QuotaExit, Quotas, QuotasBuilder, Within};
use serde_json::{Value, json};

use crate::{calls, tool};

pub(crate) const HOUR: Duration = Duration::from_hours(1);

pub(crate) fn quotas(all: impl IntoIterator<Item = Quota>) -> Quotas {
    all.into_iter().fold(Quotas::builder(), QuotasBuilder::quota).build().unwrap()
}

fn payments() -> Quota {
    Quota::tool_calls("payments", 2).tools(["pay"]).within(HOUR)
}

/// Agents that share a store.
pub(crate) struct Bots(MemoryStore);

impl Bots {
    pub(crate) fn new() -> Self {
        Self(MemoryStore::new())
    }

    pub(crate) fn builder(&self, name: &str, model: impl ChatModel + 'static) -> ReActAgentBuilder {
        ReActAgent::builder(name).model(model).store(self.0.clone())
    }

    pub(crate) async fn used(&self, quota: &str) -> Vec<(String, u64)> {
        let uses = self.0.quota_uses(quota, &Window::Sliding(HOUR)).await.unwrap();
        uses.into_iter().map(|it| (it.subject.to_string(), it.amount)).collect()
    }
}

pub(crate) fn used(subject: &str, amount: u64) -> (String, u64) {
    (subject.to_owned(), amount)
}

/// Pays once in a thread for a user, and returns what the model read.
async fn pay(bots: &Bots, quota: Quota, args: Value, options: CallOptions) -> String {
    let agent = bots.builder("bot", calls([("pay", args)])).tool(tool("pay")).hook(quotas([quota]));
    let agent = agent.build().unwrap();
    let thread = format!("{}", hooks_agent_core::call::RunId::random());
    agent.call_with(options.thread(&*thread), "Pay").await.unwrap();
    let memory = agent.threads().memory(&thread).unwrap();
    let messages = memory.messages();
    let results: Vec<_> = messages.iter().flat_map(Msg::tool_results).collect();
    results[0].output.as_str().to_owned()
}

fn of(user: &str) -> CallOptions {
    CallOptions::new().user(user)
}

#[tokio::test]
async fn a_tool_does_not_run_when_its_quota_is_used_up() {
    let bots = Bots::new();
    let (tool, other) = (tool("pay"), tool("look"));
    let script =
        calls([("pay", json!({})), ("look", json!({})), ("pay", json!({})), ("pay", json!({}))]);
    let quota = payments().reason("two an hour");
    let agent = bots.builder("bot", script).tool(tool.clone()).tool(other.clone());
    let agent = agent.hook(quotas([quota])).build().unwrap();
    assert_eq!(agent.call("Pay").await.unwrap().text(), "end");
    assert_eq!((tool.inputs().len(), other.inputs().len()), (2, 1));
    let results = hooks_fixtures::scripted_agents::results(&agent);
    let text = results[3].1.trim_start_matches("! ");
    assert!(text.starts_with("the quota \"payments\" of 2 in 3600s is used up until 2"), "{text}");
    assert!(text.ends_with(" +00:00: two an hour"), "{text}");
    assert_eq!(bots.used("payments").await, [used("all", 2)]);
}

#[tokio::test]
async fn each_user_and_each_team_has_a_quota_of_an_own() {
    let bots = Bots::new();
    let per = |per| Quota::tool_calls("q", 1).per(per).within(HOUR);
    assert_eq!(pay(&bots, per(Per::User), json!({}), of("ada")).await, "done");
    assert_eq!(pay(&bots, per(Per::User), json!({}), of("bob")).await, "done");
    assert!(pay(&bots, per(Per::User), json!({}), of("ada")).await.contains("is used up"));
    assert_eq!(
        pay(&bots, per(Per::User), json!({}), CallOptions::new()).await,
        "the call of `pay` is not permitted: the quota \"q\" cannot be counted: the call names no user"
    );

    let bots = Bots::new();
    let eve = |team: Value| CallOptions::new().user(User::new("eve").with_attribute("team", team));
    let ada = CallOptions::new().user(User::new("ada").with_attribute("team", "sales"));
    assert_eq!(pay(&bots, per(Per::Team), json!({}), ada).await, "done");
    assert!(pay(&bots, per(Per::Team), json!({}), eve("sales".into())).await.contains("used up"));
    assert_eq!(pay(&bots, per(Per::Team), json!({}), eve("legal".into())).await, "done");
    let unclear = pay(&bots, per(Per::Team), json!({}), eve(7.into())).await;
    assert!(unclear.ends_with("the team of the user is not known"), "{unclear}");
}

#[tokio::test]
async fn agents_threads_and_tools_have_quotas_of_their_own() {
    let bots = Bots::new();
    for (name, quota) in [("one", Per::Agent), ("two", Per::Agent), ("one", Per::Thread)] {
        let quota = Quota::tool_calls(format!("{quota:?}"), 9).per(quota).within(HOUR);
        let tools = Quota::tool_calls("tools", 9).per(Per::Tool).within(HOUR);
        let script = calls([("pay", json!({})), ("look", json!({}))]);
        let agent = bots.builder(name, script).tool(tool("pay")).tool(tool("look"));
        let agent = agent.hook(quotas([quota, tools])).build().unwrap();
        agent.call_with(CallOptions::new().thread("t"), "Go").await.unwrap();
    }
    assert_eq!(bots.used("Agent").await, [used("one", 2), used("two", 2)]);
    assert_eq!(bots.used("Thread").await, [used("one/t", 2)]);
    assert_eq!(bots.used("tools").await, [used("look", 3), used("pay", 3)]);
}

#[tokio::test]
async fn a_quota_is_about_its_agents_roles_and_tools_alone() {
    let bots = Bots::new();
    let clerk = || CallOptions::new().user(User::new("ada").with_role("clerk"));
    for quota in [
        Quota::tool_calls("a", 0).within(HOUR).roles(["boss"]),
        Quota::tool_calls("b", 0).within(HOUR).not_roles(["clerk"]),
        Quota::tool_calls("c", 0).within(HOUR).tools(["*", "!pay"]),
        Quota::tool_calls("d", 0).within(HOUR).agents(["other"]),
        Quota::tool_calls("e", 0).within(HOUR).acting(["*", "!bot"]),
        Quota::tool_calls("f", 0).within(HOUR).tools(["bank::pay"]),
    ] {
        assert_eq!(pay(&bots, quota, json!({}), clerk()).await, "done");
    }
    let unknown = CallOptions::new().user(User::unverified("ada"));
    let quota = Quota::tool_calls("a", 9).within(HOUR).not_roles(["boss"]);
    let text = pay(&bots, quota, json!({}), unknown).await;
    assert!(text.ends_with("the roles of the user are not known"), "{text}");
}

#[tokio::test]
async fn amounts_of_arguments_add_up() {
    let bots = Bots::new();
    let sum =
        || Quota::amount("euros", "sum.euros", 100.5).within(Within::Day).zone("Europe/Berlin");
    let euros = |euros: Value| json!({ "sum": { "euros": euros } });
    let pay = async |args: Value| pay(&bots, sum(), args, CallOptions::new()).await;
    assert_eq!(pay(euros(60.into())).await, "done");
    assert_eq!(pay(euros("EUR 40.40".into())).await, "done");
    assert_eq!(pay(euros(0.1.into())).await, "done");
    assert_eq!(bots.used("euros").await, [used("all", 100_500_000)]);
    let text = pay(euros(0.000_001.into())).await;
    assert!(text.starts_with("the quota \"euros\" of 100.5 in a day is used up until "), "{text}");
    let text = pay(euros(100.6.into())).await;
    assert_eq!(text, "this is more than the quota \"euros\" of 100.5 in a day");
    for (args, why) in [
        (json!({}), "is missing"),
        (euros((-1).into()), "is negative"),
        (euros(json!([1])), "is no number"),
        (euros("1.250".into()), "is not one clear amount"),
        (euros(1e300.into()), "is too large"),
        (euros("-5".into()), "is negative"),
    ] {
        let text = pay(args).await;
        assert!(text.ends_with(&format!("the argument `sum.euros` {why}")), "{text}");
    }
    assert_eq!(bots.used("euros").await, [used("all", 100_500_000)]);
}

#[tokio::test]
async fn all_quotas_of_a_tool_call_are_reserved_or_none() {
    let bots = Bots::new();
    let first = || quotas([Quota::tool_calls("first", 9).within(HOUR)]);
    let second = || quotas([Quota::tool_calls("second", 1).within(HOUR)]);
    let agent = bots.builder("bot", calls([("pay", json!({})), ("pay", json!({}))]));
    let agent = agent.tool(tool("pay")).hook(first()).hook(second()).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(
        (bots.used("first").await, bots.used("second").await),
        (vec![used("all", 1)], vec![used("all", 1)])
    );
}

#[tokio::test]
async fn sub_agents_count_where_the_agent_with_the_hook_counts() {
    let bots = Bots::new();
    let sub = ReActAgent::builder("sub").model(calls([("pay", json!({})), ("pay", json!({}))]));
    let pay = tool("pay");
    let sub = sub.tool(pay.clone()).build().unwrap();
    let main = calls([("sub", json!({ "task": "Pay" })), ("pay", json!({}))]);
    let agent = bots.builder("main", main).tool(sub.to_tool("Pays.")).tool(pay.clone());
    let agent = agent.hook(quotas([payments().per(Per::User)])).build().unwrap();
    agent.call_with(of("ada"), "Pay").await.unwrap();
    assert_eq!(pay.inputs().len(), 2);
    assert_eq!(bots.used("payments").await, [used("ada", 2)]);
}

#[tokio::test]
async fn a_hook_that_runs_a_tool_twice_uses_twice_as_much() {
    let bots = Bots::new();
    let twice = on_tool_twice();
    let pay = tool("pay");
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone());
    let agent = agent.hook(quotas([payments()])).hook(twice).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(pay.inputs().len(), 2);
    assert_eq!(bots.used("payments").await, [used("all", 2)]);
}

fn on_tool_twice() -> Twice {
    Twice
}

struct Twice;

#[agent_hook]
impl Twice {
    async fn twice(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        next.run(call.tool_use().clone()).await?;
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn calls_end_with_a_text_or_an_error_and_leave_memory_as_it_was() {
    for exit in [QuotaExit::End, QuotaExit::Error] {
        let bots = Bots::new();
        let model = ScriptedModel::new("yes", |_| "yes");
        let calls = Quota::calls("calls", 2).per(Per::User).within(HOUR);
        let hook = Quotas::builder().quota(calls).exit(exit).build().unwrap();
        let agent = bots.builder("bot", model).hook(hook).build().unwrap();
        for _ in 0..2 {
            assert_eq!(agent.call_with(of("ada"), "Hello").await.unwrap().text(), "yes");
        }
        match (exit, agent.call_with(of("ada"), "Hello").await) {
            (QuotaExit::End, Ok(reply)) => {
                assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
                assert!(reply.text().starts_with("the quota \"calls\" of 2 in 3600s is used up"));
            }
            (_, ended) => assert!(ended.unwrap_err().to_string().contains("calls")),
        }
        assert_eq!(agent.threads().memory("default").unwrap().messages().len(), 4);
        assert!(agent.call_with(of("bob").thread("b"), "Hello").await.is_ok());
        // Nobody is counted as nobody.
        assert!(agent.call_with(CallOptions::new().thread("c"), "Hello").await.is_err());
    }
}

#[tokio::test]
async fn a_call_that_is_resumed_is_no_new_one() {
    let bots = Bots::new();
    let ask = on(|event: &mut PreActing<'_>| event.ask("ok?"));
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(tool("pay"));
    let hook = quotas([Quota::calls("calls", 1).within(HOUR)]);
    let agent = agent.hook(hook).hook(ask).build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    let options = CallOptions::new().confirm(&reply.pending()[0].id);
    assert_eq!(agent.resume(options).await.unwrap().text(), "end");
    assert_eq!(bots.used("calls").await, [used("all", 1)]);
}

#[tokio::test]
async fn tokens_are_those_that_the_provider_reports() {
    let bots = Bots::new();
    let model =
        ScriptedModel::new("m", |_| ScriptedAnswer::from("yes").costing(Usage::new(70, 20)));
    let hook = quotas([Quota::tokens("tokens", 100).within(HOUR)]);
    let agent = bots.builder("bot", model).hook(hook).build().unwrap();
    assert_eq!(agent.call("Hello").await.unwrap().text(), "yes");
    assert_eq!(bots.used("tokens").await, [used("all", 90)]);
    // The next request and its answer, which may have 20 tokens, do not fit.
    let options = ModelOptions::default().max_tokens(20);
    let model = ScriptedModel::new("m", |_| "yes");
    let hook = quotas([Quota::tokens("tokens", 100).within(HOUR)]);
    let agent = bots.builder("bot", model).hook(hook).model_options(options).build().unwrap();
    let reply = agent.call_with(CallOptions::new().thread("t"), "Hello").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert!(reply.text().starts_with("the quota \"tokens\" of 100 in 3600s is used up until"));
    assert_eq!(bots.used("tokens").await, [used("all", 90)]);
}

#[tokio::test]
async fn a_model_call_that_is_cut_off_keeps_what_it_reserved_and_one_that_is_refused_nothing() {
    let bots = Bots::new();
    let hook = || quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let refused = ScriptedModel::new("busy", |_| ModelError::status("busy", 429));
    let agent = bots.builder("bot", refused).hook(hook()).build().unwrap();
    agent.call("Hello").await.unwrap_err();
    assert_eq!(bots.used("tokens").await, []);

    let gate = Arc::new(tokio::sync::Notify::new());
    let entered = gate.clone();
    let waits = on_model(move || entered.notify_one());
    let agent = bots.builder("bot", ScriptedModel::new("m", |_| "yes")).hook(hook()).hook(waits);
    let agent = Arc::new(agent.build().unwrap());
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.call_with(CallOptions::new().thread("t"), "x".repeat(400)).await }
    });
    gate.notified().await;
    running.abort();
    running.await.unwrap_err();
    let [(_, amount)] = &bots.used("tokens").await[..] else { panic!("nothing is kept") };
    assert!(*amount >= 100, "{amount}");
}

/// A hook inside of the quotas whose model call never ends.
fn on_model(entered: impl Fn() + Send + Sync + 'static) -> Stuck {
    Stuck(Box::new(entered))
}

struct Stuck(Box<dyn Fn() + Send + Sync>);

#[agent_hook(priority = 300)]
impl Stuck {
    async fn stay(
        &self,
        call: hooks_agent_core::hook::ModelCall<'_>,
        _: hooks_agent_core::hook::NextModel<'_>,
    ) -> Result<hooks_agent_core::model::ModelAnswer, AgentError> {
        drop(call);
        (self.0)();
        std::future::pending().await
    }
}

#[tokio::test]
async fn money_needs_a_price_for_the_model() {
    let bots = Bots::new();
    let hook = |prices: PriceTable| {
        let money = Quota::money("money", 1_000_000).within(Within::Month);
        Quotas::builder().quota(money).prices(prices).build().unwrap()
    };
    let model =
        || ScriptedModel::new("m", |_| ScriptedAnswer::from("yes").costing(Usage::new(1000, 100)));
    let prices = PriceTable::new().model("m", 3_000_000, 15_000_000);
    let agent = bots.builder("bot", model()).hook(hook(prices)).build().unwrap();
    agent.call("Hello").await.unwrap();
    assert_eq!(bots.used("money").await, [used("all", 4_500)]);
    let agent = bots.builder("bot", model()).hook(hook(PriceTable::new())).build().unwrap();
    let error = agent.call("Hello").await.unwrap_err();
    let told = hooks_agent_core::error::AgentError::report(&error);
    let told: Vec<_> = told.causes().collect();
    assert!(told.concat().contains("the model `m` has no price"), "{told:?}");
    assert_eq!(bots.used("money").await, [used("all", 4_500)]);
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_place() {
    let all = [
        Quota::calls("a", 1),
        Quota::money("a", 1).within(HOUR),
        Quota::tokens("b", 1).within(Duration::ZERO).tools(["x"]),
        Quota::amount("c", "sum..euros", f64::NAN).within(HOUR).zone("Mars"),
        Quota::calls("pаy", 1).within(HOUR).per(Per::Tool).roles([""; 0]),
    ];
    let builder = all.into_iter().fold(Quotas::builder(), QuotasBuilder::quota);
    let error = builder.build().unwrap_err().to_string();
    let lines: Vec<_> = error.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(
        lines,
        [
            "quota[0].within",
            "quota[1].name",
            "quota[1].over",
            "quota[2].tools",
            "quota[2].within",
            "quota[3].argument",
            "quota[3].zone",
            "quota[3].most",
            "quota[4].name",
            "quota[4].per",
            "quota[4].users.roles",
        ],
        "{error}"
    );
    assert_eq!(
        Quotas::builder().build().unwrap_err().to_string(),
        "quota: expected at least one quota"
    );
}

#[test]
fn a_request_of_many_reservations_is_decided_in_one_pass() {
    // Were each compared with those before, this would take minutes.
    let count = 300_000;
    let one = |key: usize| {
        Reservation::new("q", "all", 1, u64::MAX, Window::Sliding(HOUR)).with_key(key.to_string())
    };
    let wanted: Vec<_> = (0..count).chain(0..count).map(one).collect();
    let admitted = admit(wanted.iter().map(|it| (it, Used::default())), 1).unwrap();
    assert_eq!(admitted.len(), count);
    assert_eq!(admitted[count - 1].reservation, wanted[count - 1]);
}

#[tokio::test]
async fn tools_that_run_at_once_do_not_share_what_is_left() {
    let bots = Bots::new();
    let uses = (0..6).map(|it| ToolUse::new(it.to_string(), "pay", json!({})));
    let script = Script::new().calls(uses).says("end");
    let pay = (0..6).fold(Calls::new("pay"), |tool, _| tool.answers("done"));
    let agent = bots.builder("bot", script).tool(pay.clone()).parallel_tools(true);
    let agent = agent.hook(quotas([payments()])).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(pay.inputs().len(), 2);
    assert_eq!(bots.used("payments").await, [used("all", 2)]);
}

#[tokio::test]
async fn a_durable_engine_has_no_place_for_quotas() {
    let hook = quotas([payments()]);
    let pay = tool("pay");
    let agent = ReActAgent::builder("bot").model(calls([("pay", json!({}))])).tool(pay.clone());
    let agent = agent.hook(hook).build().unwrap();
    let journal = hooks_agent_core::journal::MemoryJournal::new();
    let error = agent.call_with(CallOptions::new().journal(journal), "Pay").await.unwrap_err();
    let report = error.report();
    let told = report.causes().collect::<Vec<_>>().concat();
    assert!(told.contains("no durable engine"), "{told}");
    assert_eq!(pay.inputs().len(), 0);
}
