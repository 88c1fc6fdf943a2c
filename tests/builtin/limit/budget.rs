//! Tests of `Budget`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::executor::block_on;
use futures::{FutureExt, StreamExt};
use hooks_agent_builtin::limit::{
    Budget, BudgetBuilder, BudgetError, BudgetExceeded, BudgetScope, BudgetUnit, BudgetWarning,
    Exit, PriceTable, UnknownPrice,
};
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Records;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::task::{agent, assert_limited, builder, call, cause};

const DAY: Duration = Duration::from_hours(24);

fn costing(input: u64, output: u64) -> ScriptedAnswer {
    ScriptedAnswer::from("done").costing(Usage::new(input, output))
}

/// A model whose answers cost this much.
fn model(input: u64, output: u64) -> ScriptedModel {
    ScriptedModel::new("m", move |_| costing(input, output))
}

fn agent_of(model: impl ChatModel + 'static, budget: &Budget) -> ReActAgent {
    ReActAgent::builder("bot").model(model).hook(budget.clone()).build().unwrap()
}

fn built(builder: BudgetBuilder) -> Budget {
    builder.build().unwrap()
}

/// The tokens that the thread has spent, and whether they are estimated.
fn spent(memory: &Memory) -> (u64, bool) {
    let thread = memory.values()["Budget"]["thread"].clone();
    (thread["tokens"].as_u64().unwrap(), thread["estimated"].as_bool().unwrap())
}

#[test]
fn a_thread_that_spent_its_tokens_ends_before_the_next_model_call() {
    let budget = built(Budget::builder().thread_tokens(100));
    let agent = agent_of(model(50, 10), &budget);
    for _ in 0..2 {
        assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    }
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Budget of the thread is spent: 120 of 100 tokens");
    let other = CallOptions::new().thread("other");
    assert_eq!(block_on(agent.call_with(other, "go")).unwrap().text(), "done");
}

#[test]
fn a_run_fails_with_its_numbers_by_choice_and_the_next_begins_at_0() {
    let script = Script::new().turn({
        let call = ContentBlock::ToolUse(call("1", "search"));
        ScriptedAnswer::from(vec![call]).costing(Usage::new(90, 10))
    });
    let budget = built(Budget::builder().run_tokens(100).exit(Exit::Error));
    let agent = agent(&script.turn(costing(1, 1)), &Arc::default(), budget);
    let error = block_on(agent.call("go")).unwrap_err();
    let exceeded: &BudgetExceeded = cause(&error);
    assert_eq!((exceeded.scope, exceeded.unit), (BudgetScope::Run, BudgetUnit::Tokens));
    assert_eq!((exceeded.spent, exceeded.limit, exceeded.estimated), (100, 100, false));
    assert_eq!(block_on(agent.call("again")).unwrap().text(), "done");
}

#[test]
fn a_call_that_resumes_a_run_goes_on_with_what_it_spent() {
    let script = Script::new().turn({
        let call = ContentBlock::ToolUse(call("1", "search"));
        ScriptedAnswer::from(vec![call]).costing(Usage::new(90, 10))
    });
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let budget = built(Budget::builder().run_tokens(100));
    let agent = builder(&script, &Arc::default()).hook(ask).hook(budget).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let reply = block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    assert_limited(&agent, &reply, "Budget of the run is spent: 100 of 100 tokens");
}

#[test]
fn money_is_counted_in_whole_numbers_and_rounded_up() {
    let prices = PriceTable::new().model("m", 3, 7);
    assert_eq!(prices.cost("m", 1, 0), Some(1));
    assert_eq!(prices.cost("m", 1_000_000, 1_000_000), Some(10));
    let dear = PriceTable::new().model("m", u64::MAX, u64::MAX);
    assert_eq!(dear.cost("m", u64::MAX, u64::MAX), Some(u64::MAX));
    let budget = built(Budget::builder().run_money(5).day_money(3).prices(prices));
    let agent = agent_of(model(1, 1), &budget);
    for _ in 0..3 {
        block_on(agent.call("go")).unwrap();
    }
    assert_eq!(budget.spent_today("").money, 3);
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Budget of the day is spent: 0.000003 of 0.000003");
}

#[test]
fn a_model_without_a_price_is_refused_if_money_is_limited() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    let model = Arc::new(ScriptedModel::new("m", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        costing(1, 1)
    }));
    let prices = PriceTable::new().model("other", 1, 1);
    let budget = built(Budget::builder().run_money(5).prices(prices.clone()));
    let error = block_on(agent_of(model.clone(), &budget).call("go")).unwrap_err();
    assert_eq!(cause::<UnknownPrice>(&error).model, "m");
    assert_eq!(asked.load(Ordering::Relaxed), 0);

    let budget = built(Budget::builder().run_tokens(5).prices(prices.clone()));
    assert!(block_on(agent_of(model.clone(), &budget).call("go")).is_ok());
    let budget = built(Budget::builder().run_money(5).prices(prices.other_models(1, 1)));
    assert!(block_on(agent_of(model, &budget).call("go")).is_ok());
}

struct Other;

#[agent_hook(priority = 300)]
impl Other {
    async fn ask(&self, call: ModelCall<'_>, _: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        let model = ScriptedModel::new("unknown", |_| costing(1, 1));
        Ok(ModelAnswer::ask(&model, call.into_request()).await?)
    }
}

#[test]
fn the_answer_of_another_model_without_a_price_is_not_passed_on() {
    let prices = PriceTable::new().model("m", 1, 1);
    let budget = built(Budget::builder().run_money(5).prices(prices));
    let builder = ReActAgent::builder("bot").model(model(1, 1)).hook(budget).hook(Other);
    let agent = builder.build().unwrap();
    let error = block_on(agent.call("go")).unwrap_err();
    assert_eq!(cause::<UnknownPrice>(&error).model, "unknown");
    assert!(spent(agent.memory()).1);
}

#[test]
fn what_is_not_reported_is_estimated() {
    let budget = built(Budget::builder().thread_tokens(9));
    let agent = agent_of(ScriptedModel::new("m", |_| "12345678"), &budget);
    block_on(agent.call("1234")).unwrap();
    assert_eq!(spent(agent.memory()), (3, true));
    let reply = {
        block_on(agent.call("1234")).unwrap();
        block_on(agent.call("1234")).unwrap()
    };
    let text = "Budget of the thread is spent: 9 of 9 tokens (partly estimated)";
    assert_limited(&agent, &reply, text);
}

#[test]
fn an_answer_that_breaks_is_estimated_and_one_that_the_provider_refuses_is_free() {
    let script = Script::new().fails(ModelError::status("m", 503)).cut_after("12345678");
    let budget = built(Budget::builder().thread_tokens(100));
    let agent = agent(&script.cut(), &Arc::default(), budget);
    block_on(agent.call("1234")).unwrap_err();
    assert!(!agent.memory().values().contains_key("Budget"));
    block_on(agent.call("1234")).unwrap_err();
    let (tokens, is_estimated) = spent(agent.memory());
    assert!(tokens > 2 && is_estimated);
    block_on(agent.call("1234")).unwrap_err();
    assert!(spent(agent.memory()).0 > tokens);
}

#[test]
fn an_empty_answer_costs_what_was_reported() {
    let usage = hooks_agent_core::message::Usage::new(70, 20);
    let empty =
        ScriptedModel::new("m", move |_| ScriptedAnswer::Stream(vec![Ok(ChatChunk::end(usage))]));
    let agent = agent_of(empty, &built(Budget::builder().thread_tokens(100)));
    block_on(agent.call("1234")).unwrap_err();
    assert_eq!(spent(agent.memory()), (90, false));
}

/// A model that begins and never ends.
struct Slow(bool);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let chunk = self.0.then(|| Ok(ChatChunk::Text("12345678".to_owned())));
        Box::pin(futures::stream::iter(chunk).chain(futures::stream::pending()))
    }
}

#[tokio::test]
async fn a_dropped_call_is_charged_what_it_may_have_cost() {
    for (begins, expected) in [(false, 1), (true, 3)] {
        let budget = built(Budget::builder().thread_tokens(100));
        let agent = agent_of(Slow(begins), &budget);
        // The call is polled, then dropped.
        assert!(agent.call("1234").now_or_never().is_none());
        assert_eq!(spent(agent.memory()), (expected, true));
        assert_eq!(budget.spent_today("").tokens, expected);
    }
}

fn warnings(builder: BudgetBuilder) -> (BudgetBuilder, Arc<Records<BudgetWarning>>) {
    let warned = Arc::new(Records::new());
    let seen = warned.clone();
    (builder.on_warning(move |warning| seen.push(*warning)), warned)
}

#[test]
fn a_budget_warns_once_for_each_limit() {
    let budget = Budget::builder().thread_tokens(100).day_tokens(50);
    let (budget, warned) = warnings(budget);
    let agent = agent_of(model(20, 10), &built(budget));
    for _ in 0..3 {
        block_on(agent.call("go")).unwrap();
    }
    let warned = warned.take();
    let days: Vec<_> = warned.iter().map(|warning| (warning.scope, warning.spent)).collect();
    assert_eq!(days, [(BudgetScope::Day, 60)]);

    let (budget, warned) = warnings(Budget::builder().thread_tokens(100).warn_at(0.5));
    let agent = agent_of(model(20, 10), &built(budget));
    for _ in 0..5 {
        block_on(agent.call("go")).unwrap();
    }
    let warned = warned.take();
    assert_eq!((warned.len(), warned[0].spent, warned[0].limit), (1, 60, 100));
}

#[test]
fn a_closure_of_warnings_that_panics_fails_nothing() {
    let budget = Budget::builder().thread_tokens(10).on_warning(|_| panic!("a bug"));
    let agent = agent_of(model(9, 9), &built(budget));
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(spent(agent.memory()), (18, false));
}

#[test]
fn a_day_ends_and_a_clock_that_jumps_back_refunds_nothing() {
    let now = Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + DAY * 100));
    let clock = now.clone();
    let builder = Budget::builder().clock(move || *clock.lock().unwrap()).day_tokens(50);
    let budget = built(builder);
    let (agent, twin) = (agent_of(model(20, 10), &budget), agent_of(model(20, 10), &budget));
    let text = |agent: &ReActAgent| block_on(agent.call("go")).unwrap().text();
    assert_eq!((text(&agent), text(&twin)), ("done".to_owned(), "done".to_owned()));
    let spent = "Budget of the day is spent: 60 of 50 tokens";
    assert_eq!((text(&agent), text(&twin)), (spent.to_owned(), spent.to_owned()));
    *now.lock().unwrap() -= DAY * 3;
    assert_eq!(text(&agent), spent);
    *now.lock().unwrap() = SystemTime::UNIX_EPOCH - Duration::from_secs(9);
    assert_eq!(text(&agent), spent);
    *now.lock().unwrap() = SystemTime::UNIX_EPOCH + DAY * 101;
    assert_eq!(text(&agent), "done");
    *now.lock().unwrap() -= Duration::from_secs(1);
    assert_eq!(text(&agent), "done");
    assert_eq!(text(&agent), spent);
}

struct User(&'static str);

#[test]
fn each_user_has_a_day_by_choice_and_a_closure_that_fails_refuses_the_call() {
    let user = |cx: &CallContext| cx.get::<User>().expect("there is a user").0.to_owned();
    let budget = built(Budget::builder().day_tokens(20).day_of(user));
    let agent = agent_of(model(20, 10), &budget);
    let call = |user| block_on(agent.call_with(CallOptions::new().value(User(user)), "go"));
    assert_eq!(call("ada").unwrap().reason, Some(GenerateReason::ModelStop));
    assert_eq!(call("ada").unwrap().reason, Some(GenerateReason::LimitReached));
    assert_eq!(call("bob").unwrap().reason, Some(GenerateReason::ModelStop));
    assert!(block_on(agent.call("go")).is_err());
    assert_eq!(budget.spent_today("ada").tokens, 30);
    assert!(!format!("{budget:?}").contains("ada"));
}

#[test]
fn beyond_the_most_keys_of_a_day_all_others_have_one_sum() {
    let user = |cx: &CallContext| cx.get::<User>().expect("there is a user").0.to_owned();
    let budget = built(Budget::builder().day_tokens(40).day_of(user).most_keys(2));
    let agent = agent_of(model(20, 10), &budget);
    let spends = |user| {
        let options = CallOptions::new().value(User(user));
        block_on(agent.call_with(options, "go")).unwrap().reason
    };
    let goes_on = Some(GenerateReason::ModelStop);
    assert_eq!((spends("ada"), spends("bob")), (goes_on, goes_on));
    assert_eq!((spends("new"), budget.spent_today("newer").tokens), (goes_on, 30));
    assert_eq!(spends("newer"), goes_on);
    assert_eq!(spends("newest"), Some(GenerateReason::LimitReached));
    // Those that have a sum keep it.
    assert_eq!((budget.spent_today("ada").tokens, spends("ada")), (30, goes_on));
    assert!(format!("{budget:?}").contains("keys: 2"));
}

#[test]
fn sub_agents_spend_from_the_same_budget() {
    for (counting, expected) in [(true, 66), (false, 6)] {
        let poet = ReActAgent::builder("poet").model(model(20, 10)).build().unwrap();
        let ask = |id| ToolUse::new(id, "poet", json!({ "task": "a poem" }));
        let calls: ScriptedAnswer =
            vec![ContentBlock::ToolUse(ask("1")), ContentBlock::ToolUse(ask("2"))].into();
        let script = Script::new().turn(calls.costing(Usage::new(2, 1))).turn(costing(2, 1));
        let budget = Budget::builder().thread_tokens(1_000).counting_sub_agents(counting);
        let builder = builder(&script, &Arc::default()).tool(poet.to_tool("Writes."));
        let agent = builder.hook(built(budget)).build().unwrap();
        block_on(agent.call("go")).unwrap();
        assert_eq!(spent(agent.memory()), (expected, false));
    }
}

/// Has two model calls run at once.
struct Both(Barrier);

#[agent_hook(priority = 300, inherit)]
impl Both {
    async fn ask(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        if call.context().parent().is_some() {
            self.0.wait().await;
        }
        next.run(call.into_request()).await
    }
}

#[tokio::test]
async fn model_calls_at_once_are_open_and_counted_each() {
    let agent = |name| ReActAgent::builder(name).model(model(20, 10)).build().unwrap();
    let (poet, critic) = (agent("poet"), agent("critic"));
    let ask = |name| ContentBlock::ToolUse(ToolUse::new(name, name, json!({ "task": "a poem" })));
    let calls: ScriptedAnswer = vec![ask("poet"), ask("critic")].into();
    let script = Script::new().turn(calls.costing(Usage::new(2, 1))).turn(costing(2, 1));
    let builder = builder(&script, &Arc::default()).tool(poet.to_tool("Writes."));
    let builder = builder.tool(critic.to_tool("Reads."));
    let budget = built(Budget::builder().thread_tokens(1_000));
    let builder = builder.parallel_tools(true).hook(budget).hook(Both(Barrier::new(2)));
    let agent = builder.build().unwrap();
    agent.call("go").await.unwrap();
    assert_eq!(spent(agent.memory()), (66, false));
    assert_eq!(agent.memory().values()["Budget"]["open"], Value::Null);
}

#[test]
fn a_report_has_the_run_the_thread_and_the_day() {
    let budget = built(Budget::builder().run_tokens(1_000));
    let (reports, ledger) = (Arc::new(Records::new()), budget.clone());
    let seen = reports.clone();
    let report = on(move |event: &mut PostCall<'_>| -> HookResult {
        seen.push(ledger.report(event.context())?);
        Ok(())
    });
    let builder = ReActAgent::builder("bot").model(model(20, 10)).hook(budget).hook(report);
    let agent = builder.build().unwrap();
    for _ in 0..2 {
        block_on(agent.call("go")).unwrap();
    }
    let last = reports.take()[1];
    assert_eq!((last.run.tokens, last.thread.tokens, last.day.tokens), (30, 60, 60));
}

#[test]
fn what_was_spent_and_cannot_be_read_refuses_the_call() {
    let budget = built(Budget::builder().thread_tokens(100));
    let agent = agent_of(model(1, 1), &budget);
    agent.memory().set_values(json!({ "Budget": 7 }).as_object().unwrap().clone());
    block_on(agent.call("go")).unwrap_err();
    assert_eq!(budget.spent_today("").tokens, 0);
}

#[test]
fn a_spent_budget_says_what_its_text_says_and_nothing_of_the_limit() {
    let text = "Please come back tomorrow.";
    let agent = agent_of(model(50, 50), &built(Budget::builder().thread_tokens(100).text(text)));
    block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &block_on(agent.call("go")).unwrap(), text);
    let error = Budget::builder().run_tokens(1).text(text).exit(Exit::Error).build().unwrap_err();
    assert_eq!(error, BudgetError::UnusedText);
}

#[test]
fn a_budget_that_cannot_be_meant_is_not_built() {
    let error = |builder: BudgetBuilder| builder.build().unwrap_err();
    assert_eq!(error(Budget::builder()), BudgetError::NoLimit);
    assert_eq!(error(Budget::builder().run_money(1)), BudgetError::NoPrices);
    let fraction = Budget::builder().run_tokens(1).warn_at(f64::NAN);
    assert_eq!(error(fraction), BudgetError::InvalidFraction);
    let exit = Budget::builder().run_tokens(1).exit(Exit::Continue);
    assert_eq!(error(exit), BudgetError::InvalidExit);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_calls_at_once_each_is_counted_once_and_one_warns() {
    let (budget, warned) = warnings(Budget::builder().day_tokens(2_000));
    let budget = built(budget);
    let agent = Arc::new(agent_of(model(20, 10), &budget));
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let agent = agent.clone();
            let options = CallOptions::new().thread(number.to_string());
            tokio::spawn(async move { agent.call_with(options, "go").await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(budget.spent_today("").tokens, 64 * 30);
    assert_eq!(warned.take().len(), 1);
}

#[test]
fn two_budgets_of_one_agent_have_ledgers_of_their_own() {
    let run = built(Budget::builder().run_tokens(1_000));
    let thread = built(Budget::builder().thread_tokens(1_000).counter("second"));
    let builder = ReActAgent::builder("bot").model(model(20, 10)).hook(run);
    let agent = builder.hook(thread.named("second")).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let values = agent.memory().values();
    assert_eq!(values["Budget"]["thread"], values["second"]["thread"]);
    assert_eq!(spent(agent.memory()), (30, false));
}
