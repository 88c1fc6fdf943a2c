//! What hooks, sub-agents and programs might get around quotas with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::RunId;
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{ChatChunk, ChatRequest, ModelAnswer, ModelError, PriceTable};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_rules::{Per, Quota, Quotas};
use serde_json::json;

use crate::quotas::{Bots, HOUR, quotas, used};
use crate::{calls, tool};

fn costly() -> ScriptedModel {
    ScriptedModel::new("m", |_| ScriptedAnswer::from("yes").costing(Usage::new(70, 20)))
}

struct Again(fn(&mut ToolUse));

#[agent_hook(priority = 300)]
impl Again {
    async fn again(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        if call.tool_use().name == "sub" {
            return next.run(call.into_tool_use()).await;
        }
        next.run(call.tool_use().clone()).await?;
        let mut other = ToolUse::clone(call.tool_use());
        (self.0)(&mut other);
        next.run(other).await
    }
}

#[tokio::test]
async fn a_second_run_with_a_larger_amount_is_reserved() {
    let bots = Bots::new();
    let pay = tool("pay");
    let agent = bots.builder("bot", calls([("pay", json!({ "euros": 1 }))])).tool(pay.clone());
    let euros = Quota::amount("euros", "euros", 10.0).within(HOUR);
    let agent = agent
        .hook(quotas([euros]))
        .hook(Again(|call| call.input["euros"] = 1000.into()))
        .build()
        .unwrap();
    agent.call("Pay").await.unwrap();
    let spent: u64 = pay.inputs().iter().map(|it| it["euros"].as_u64().unwrap()).sum();
    assert!(spent <= 10, "spent {spent} of 10, counted {:?}", bots.used("euros").await);
}

#[tokio::test]
async fn a_second_run_of_another_tool_is_another_call() {
    let bots = Bots::new();
    let (pay, wire) = (tool("pay"), tool("wire"));
    let agent =
        bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone()).tool(wire.clone());
    let agent = agent
        .hook(quotas([Quota::tool_calls("q", 1).within(HOUR)]))
        .hook(Again(|call| call.name = "wire".to_owned()))
        .build()
        .unwrap();
    agent.call("Pay").await.unwrap();
    assert!(pay.inputs().len() + wire.inputs().len() <= 1, "both ran, of 1");
}

#[tokio::test]
async fn what_ran_is_not_given_back() {
    let bots = Bots::new();
    let (pay, wire) = (tool("pay"), tool("wire"));
    let sub = ReActAgent::builder("sub").model(calls([("pay", json!({}))]));
    let sub = sub.tool(pay.clone()).tool(wire.clone());
    let own = quotas([Quota::tool_calls("wires", 0).tools(["wire"]).within(HOUR)]);
    let sub = sub.hook(own).hook(Again(|call| call.name = "wire".to_owned())).build().unwrap();
    let main = calls([("sub", json!({ "task": "Pay" })), ("pay", json!({}))]);
    let agent = bots.builder("main", main).tool(sub.to_tool("Pays.")).tool(pay.clone());
    let money = Quota::tool_calls("money", 1).tools(["pay", "wire"]).within(HOUR);
    let agent = agent.hook(quotas([money])).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(wire.inputs().len(), 0);
    assert!(
        pay.inputs().len() <= 1,
        "{} of 1, counted {:?}",
        pay.inputs().len(),
        bots.used("money").await
    );
}

enum Then {
    InPlace,
    Fail,
    OtherModel,
}

struct Inner(Then);

#[agent_hook(priority = 300)]
impl Inner {
    async fn model(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match self.0 {
            Then::InPlace => {
                let mut answer = next.run(call.into_request()).await?;
                while answer.next().await.is_some() {}
                Ok(ModelAnswer::in_place("guard", "blocked", GenerateReason::LimitReached))
            }
            Then::Fail => {
                let mut answer = next.run(call.into_request()).await?;
                while answer.next().await.is_some() {}
                Err(next.fail("not good enough"))
            }
            Then::OtherModel => {
                let other = ScriptedModel::new("other", |_| {
                    ScriptedAnswer::from("yes").costing(Usage::new(7000, 2000))
                });
                Ok(ModelAnswer::ask(&other, call.into_request()).await?)
            }
        }
    }
}

#[tokio::test]
async fn an_answer_in_place_of_a_read_answer_costs_what_was_reported() {
    let bots = Bots::new();
    let hook = quotas([Quota::tokens("tokens", 1000).within(HOUR)]);
    let agent =
        bots.builder("bot", costly()).hook(hook).hook(Inner(Then::InPlace)).build().unwrap();
    agent.call("Hello").await.unwrap();
    let now = bots.used("tokens").await;
    assert!(now.iter().map(|it| it.1).sum::<u64>() >= 1, "{now:?} of 90 reported");
}

#[tokio::test]
async fn an_answer_that_a_hook_refuses_costs_what_was_reported() {
    let bots = Bots::new();
    let hook = quotas([Quota::tokens("tokens", 1000).within(HOUR)]);
    let agent = bots.builder("bot", costly()).hook(hook).hook(Inner(Then::Fail)).build().unwrap();
    agent.call("Hello").await.unwrap_err();
    let now = bots.used("tokens").await;
    assert!(now.iter().map(|it| it.1).sum::<u64>() >= 1, "{now:?} of 90 reported");
}

#[tokio::test]
async fn tokens_count_though_money_cannot() {
    let bots = Bots::new();
    let prices = PriceTable::new().model("m", 3_000_000, 15_000_000);
    let hook = Quotas::builder()
        .quota(Quota::money("money", 1_000_000).within(HOUR))
        .quota(Quota::tokens("tokens", 100_000).within(HOUR))
        .prices(prices)
        .build()
        .unwrap();
    let agent =
        bots.builder("bot", costly()).hook(hook).hook(Inner(Then::OtherModel)).build().unwrap();
    let _ = agent.call("Hello").await;
    let now = bots.used("tokens").await;
    assert_eq!(now, [used("all", 9000)], "money {:?}", bots.used("money").await);
}

#[tokio::test]
async fn calls_with_one_run_id_are_two_calls() {
    let bots = Bots::new();
    let pay = tool("pay");
    let script = || calls([("pay", json!({}))]);
    let run = RunId::random();
    let hook = || {
        quotas([
            Quota::calls("calls", 9).within(HOUR),
            Quota::tool_calls("tools", 1).within(HOUR),
            Quota::tokens("tokens", 100_000).within(HOUR),
        ])
    };
    let mut tokens = Vec::new();
    for thread in ["a", "b"] {
        let agent = bots.builder("bot", script()).tool(pay.clone()).hook(hook()).build().unwrap();
        agent.call_with(CallOptions::new().thread(thread).run_id(run), "Pay").await.unwrap();
        tokens.push(bots.used("tokens").await);
    }
    assert_eq!(
        (pay.inputs().len(), bots.used("calls").await),
        (1, vec![used("all", 2)]),
        "of 1 tool call; tokens after each call: {tokens:?}"
    );
}

#[tokio::test]
async fn threads_of_two_agents_have_two_quotas() {
    let bots = Bots::new();
    let pay = tool("pay");
    for (name, thread) in [("a/b", "c"), ("a", "b/c")] {
        let agent = bots.builder(name, calls([("pay", json!({}))])).tool(pay.clone());
        let hook = quotas([Quota::tool_calls("q", 1).per(Per::Thread).within(HOUR)]);
        let agent = agent.hook(hook).build().unwrap();
        agent.call_with(CallOptions::new().thread(thread), "Pay").await.unwrap();
    }
    assert_eq!(pay.inputs().len(), 2, "{:?}", bots.used("q").await);
}

#[tokio::test]
async fn two_hooks_of_one_quota_leave_room_for_one() {
    let bots = Bots::new();
    let pay = tool("pay");
    let one = || Quota::tool_calls("q", 1).within(HOUR);
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone());
    let agent = agent
        .hook(quotas([one()]))
        .hook(quotas([one(), Quota::tool_calls("other", 9).within(HOUR)]))
        .build()
        .unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(pay.inputs().len(), 1, "{:?}", bots.used("q").await);
}

#[tokio::test]
async fn a_hook_that_is_replaced_goes_on_counting() {
    let bots = Bots::new();
    let script = ScriptedModel::new("m", |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => ScriptedAnswer::from("end").costing(Usage::new(10, 5)),
            None => ScriptedAnswer::from(ToolUse::new("1", "look", json!({})))
                .costing(Usage::new(700, 200)),
        }
    });
    let hook = || quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let agent =
        Arc::new(bots.builder("bot", script).tool(tool("look")).hook(hook()).build().unwrap());
    let swapped = Arc::new(AtomicBool::new(false));
    let (weak, done) = (Arc::downgrade(&agent), swapped.clone());
    agent.register_agent_hook(on(move |_: &mut PostActing<'_>| {
        let agent = weak.upgrade().unwrap();
        agent.remove_agent_hook("Quotas").unwrap();
        agent.register_agent_hook(quotas([Quota::tokens("tokens", 100_000).within(HOUR)]));
        done.store(true, Ordering::Relaxed);
    }));
    agent.call("Go").await.unwrap();
    assert!(swapped.load(Ordering::Relaxed));
    assert_eq!(bots.used("tokens").await, [used("all", 915)]);
}

#[tokio::test]
async fn a_tool_call_that_asks_first_is_counted_once() {
    let bots = Bots::new();
    let ask = on(|event: &mut PreActing<'_>| event.ask("ok?"));
    let pay = tool("pay");
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone());
    let agent =
        agent.hook(quotas([Quota::tool_calls("q", 1).within(HOUR)])).hook(ask).build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    assert_eq!(bots.used("q").await, []);
    agent.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
    assert_eq!((pay.inputs().len(), bots.used("q").await), (1, vec![used("all", 1)]));
}

#[tokio::test]
async fn ids_that_a_model_uses_twice_are_two_calls() {
    let bots = Bots::new();
    let pay = tool("pay");
    let script = Script::new()
        .calls([ToolUse::new("1", "pay", json!({})), ToolUse::new("1", "pay", json!({}))])
        .calls([ToolUse::new("1", "pay", json!({}))])
        .says("end");
    let agent = bots.builder("bot", script).tool(pay.clone()).parallel_tools(true);
    let agent = agent.hook(quotas([Quota::tool_calls("q", 2).within(HOUR)])).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!((pay.inputs().len(), bots.used("q").await), (2, vec![used("all", 2)]));
}

#[tokio::test]
async fn a_check_that_panics_does_not_run_the_tool_and_reserves_nothing() {
    struct Panics;
    #[agent_hook(priority = 250)]
    impl Panics {
        async fn p(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
            next.run_checked(call.into_tool_use(), |_| panic!("no")).await
        }
    }
    let bots = Bots::new();
    let pay = tool("pay");
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone());
    let agent =
        agent.hook(quotas([Quota::tool_calls("q", 2).within(HOUR)])).hook(Panics).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!((pay.inputs().len(), bots.used("q").await), (0, vec![]));
}

#[tokio::test]
async fn a_connection_that_broke_keeps_what_was_reserved() {
    let bots = Bots::new();
    let broke = || {
        ModelError::unreachable("m", "https://x", "the connection was closed before the response")
    };
    let model = ScriptedModel::new("m", move |_| broke());
    let hook = quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let agent = bots.builder("bot", model).hook(hook).build().unwrap();
    agent.call("x".repeat(400)).await.unwrap_err();
    let now = bots.used("tokens").await;
    assert!(now.iter().map(|it| it.1).sum::<u64>() >= 100, "{now:?}");
}

#[tokio::test]
async fn a_request_that_was_not_sent_uses_nothing() {
    let bots = Bots::new();
    let unsent = || ModelError::unreachable("m", "https://x", "no such host").unsent();
    let model = ScriptedModel::new("m", move |_| unsent());
    let hook = quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let agent = bots.builder("bot", model).hook(hook).build().unwrap();
    agent.call("x".repeat(400)).await.unwrap_err();
    assert_eq!(bots.used("tokens").await, []);
}

#[tokio::test]
async fn an_empty_answer_costs_what_was_reported() {
    let bots = Bots::new();
    let model = ScriptedModel::new("m", |_| {
        ScriptedAnswer::Stream(vec![Ok(ChatChunk::end(Usage::new(700, 200)))])
    });
    let hook = Quotas::builder()
        .quota(Quota::tokens("tokens", 100_000).within(HOUR))
        .quota(Quota::money("money", 1_000_000).within(HOUR))
        .prices(PriceTable::new().model("m", 3_000_000, 15_000_000));
    let agent = bots.builder("bot", model).hook(hook.build().unwrap()).build().unwrap();
    let error = agent.call("Hello").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Empty { .. })), "{error:?}");
    assert_eq!(bots.used("tokens").await, [used("all", 900)]);
    assert_eq!(bots.used("money").await, [used("all", 5_100)]);
}

#[tokio::test]
async fn an_empty_answer_of_a_model_that_a_hook_asks_costs_what_was_reported() {
    struct Other;
    #[agent_hook(priority = 300)]
    impl Other {
        async fn ask(
            &self,
            call: ModelCall<'_>,
            _: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let other = ScriptedModel::new("other", |_| {
                ScriptedAnswer::Stream(vec![Ok(ChatChunk::end(Usage::new(700, 200)))])
            });
            Ok(ModelAnswer::ask(&other, call.into_request()).await?)
        }
    }
    let bots = Bots::new();
    let hook = quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let agent = bots.builder("bot", costly()).hook(hook).hook(Other).build().unwrap();
    agent.call("Hello").await.unwrap_err();
    assert_eq!(bots.used("tokens").await, [used("all", 900)]);
}

#[tokio::test]
async fn an_answer_that_is_cut_counts_what_was_read() {
    let mut sums = Vec::new();
    for ends_with_error in [true, false] {
        let bots = Bots::new();
        let model = ScriptedModel::new("m", move |_| {
            let mut chunks = vec![Ok(ChatChunk::Text("x".repeat(40_000)))];
            if ends_with_error {
                chunks.push(Err(ModelError::status("m", 500)));
            }
            ScriptedAnswer::Stream(chunks)
        });
        let hook = quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
        let agent = bots.builder("bot", model).hook(hook).build().unwrap();
        agent.call("Hello").await.unwrap_err();
        sums.push(bots.used("tokens").await.iter().map(|it| it.1).sum::<u64>());
    }
    assert!(sums.iter().all(|it| *it >= 10_000), "an error, the end of the stream: {sums:?}");
}

#[tokio::test]
async fn a_sub_agent_with_quotas_in_a_durable_engine_fails() {
    let pay = tool("pay");
    let sub = ReActAgent::builder("sub").model(calls([("pay", json!({}))])).tool(pay.clone());
    let sub = sub.hook(quotas([Quota::tool_calls("q", 9).within(HOUR)])).build().unwrap();
    let main = calls([("sub", json!({ "task": "Pay" }))]);
    let agent = ReActAgent::builder("main").model(main).tool(sub.to_tool("Pays.")).build().unwrap();
    let journal = hooks_agent_core::journal::MemoryJournal::new();
    let ended = agent.call_with(CallOptions::new().journal(journal), "Pay").await;
    assert_eq!(pay.inputs().len(), 0, "{ended:?}");
}

#[tokio::test]
async fn a_tool_call_that_a_hook_answers_further_in_uses_nothing() {
    struct Answers;
    #[agent_hook(priority = 300)]
    impl Answers {
        async fn a(&self, call: ToolCall<'_>, _: NextTool<'_>) -> Result<ToolResult, ToolError> {
            Ok(ToolResult::error(call.tool_use(), "no"))
        }
    }
    let bots = Bots::new();
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(tool("pay"));
    let agent =
        agent.hook(quotas([Quota::tool_calls("q", 2).within(HOUR)])).hook(Answers).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(bots.used("q").await, []);
}

#[tokio::test]
async fn a_hook_in_shadow_uses_nothing() {
    let bots = Bots::new();
    let pay = tool("pay");
    let sub = ReActAgent::builder("sub")
        .model(calls([("pay", json!({}))]))
        .tool(pay.clone())
        .build()
        .unwrap();
    let main = calls([("sub", json!({ "task": "Pay" })), ("pay", json!({}))]);
    let agent = bots.builder("main", main).tool(sub.to_tool("Pays.")).tool(pay.clone());
    let hook = quotas([Quota::tool_calls("q", 0).within(HOUR), Quota::tokens("t", 0).within(HOUR)]);
    let agent = agent.hook(hook.in_shadow()).build().unwrap();
    agent.call("Pay").await.unwrap();
    assert_eq!(
        (pay.inputs().len(), bots.used("q").await, bots.used("t").await),
        (2, vec![], vec![])
    );
}

#[tokio::test]
async fn amounts_at_the_edges() {
    for (args, runs) in [
        (json!({ "e": -0.0 }), true),
        (json!({ "e": 5e-324 }), true),
        (json!({ "e": "5k" }), false),
        (json!({ "e": "5-" }), false),
        (json!({ "e": "(5)" }), false),
        (json!({ "e": "5e3" }), false),
        (json!({ "e": "０5" }), false),
        (json!({ "e": true }), false),
        (json!({ "e": null }), false),
        (json!({ "e": u64::MAX }), false),
        (json!(null), false),
        (json!([5]), false),
    ] {
        let bots = Bots::new();
        let pay = tool("pay");
        let agent = bots.builder("bot", calls([("pay", args.clone())])).tool(pay.clone());
        let agent =
            agent.hook(quotas([Quota::amount("q", "e", 10.0).within(HOUR)])).build().unwrap();
        agent.call("Pay").await.unwrap();
        assert_eq!(pay.inputs().len() == 1, runs, "{args}");
    }
}

#[tokio::test]
async fn two_tool_calls_of_a_program_are_two() {
    let bots = Bots::new();
    let pay = tool("pay");
    let agent = bots.builder("bot", calls([("pay", json!({}))])).tool(pay.clone());
    let agent = agent.hook(quotas([Quota::tool_calls("q", 1).within(HOUR)])).build().unwrap();
    let cx = agent.context(CallOptions::new());
    for id in ["1", "2", "1"] {
        let _ = agent.tool_call(cx.clone(), Arc::new(ToolUse::new(id, "pay", json!({})))).await;
    }
    assert_eq!(pay.inputs().len(), 1, "of 1; counted {:?}", bots.used("q").await);
}

#[tokio::test]
async fn a_tool_that_waits_for_people_below_it_goes_on_under_its_own_reservation() {
    let bots = Bots::new();
    let pay = tool("pay");
    let ask = on(
        |event: &mut PreActing<'_>| {
            if event.tool_use().name == "pay" { event.ask("ok?") } else { Flow::Continue }
        },
    );
    let calls = |tool: &'static str| {
        ScriptedModel::new("m", move |request| -> ScriptedAnswer {
            match request.messages.last().unwrap().tool_results().next() {
                Some(result) => result.output.as_str().into(),
                None => ToolUse::new("1", tool, json!({ "task": "Pay" })).into(),
            }
        })
    };
    let model = || calls("sub");
    let sub = ReActAgent::builder("sub").model(calls("pay")).tool(pay.clone());
    let sub = sub.hook(ask.named("ask")).build().unwrap();
    // In the store of a process, and without a store.
    let hook = || quotas([Quota::tool_calls("q", 1).tools(["sub"]).within(HOUR)]);
    let agents = [
        bots.builder("bot", model()).tool(sub.to_tool("Pays.")).hook(hook()).build().unwrap(),
        ReActAgent::builder("other")
            .model(model())
            .tool(sub.to_tool("Pays."))
            .hook(hook())
            .build()
            .unwrap(),
    ];
    for (agent, paid) in agents.iter().zip([1, 2]) {
        let reply = agent.call("Pay").await.unwrap();
        let pending = &reply.pending()[0];
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        agent.resume(CallOptions::new().confirm(&pending.id)).await.unwrap();
        assert_eq!(pay.inputs().len(), paid, "what people let run runs");
        // The next one, though the model uses the same id, finds no room.
        let reply = agent.call("Pay").await.unwrap();
        assert!(reply.pending().is_empty());
        assert_eq!(pay.inputs().len(), paid);
    }
    assert_eq!(bots.used("q").await, [used("all", 1)]);
}

#[tokio::test]
async fn a_model_call_that_two_hooks_count_in_one_quota_is_counted_once() {
    let bots = Bots::new();
    let tokens = || quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    let sub = bots.builder("sub", costly()).hook(tokens()).build().unwrap();
    let model = calls([("sub", json!({ "task": "Go" }))]);
    let agent = bots.builder("bot", model).tool(sub.to_tool("Helps.")).hook(tokens());
    let agent = agent.build().unwrap();
    let alone = agent.call("Go").await.unwrap().usage.unwrap();
    let all: u64 = bots.used("tokens").await.iter().map(|(_, amount)| amount).sum();
    // The sub-agent's call of 90 tokens is there once, beside what the agent's own calls are estimated at.
    let own = Bots::new();
    let model = calls([("help", json!({ "task": "Go" }))]);
    let helps = tool("help");
    let other = own.builder("bot", model).tool(helps).hook(tokens()).build().unwrap();
    other.call("Go").await.unwrap();
    let without: u64 = own.used("tokens").await.iter().map(|(_, amount)| amount).sum();
    assert!((90..180).contains(&(all - without)), "{all} of {without}, {alone:?}");
}

/// Sends each request twice, and gives on the second answer.
struct AskTwice;

#[agent_hook(priority = 200)]
impl AskTwice {
    async fn twice(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let request = call.into_request();
        let first = next.run(request.clone()).await?;
        assert!(first.collect::<Vec<_>>().await.iter().all(Result::is_ok));
        next.run(request).await
    }
}

#[tokio::test]
async fn each_of_two_requests_is_counted_where_hooks_on_both_sides_count() {
    let bots = Bots::new();
    let tokens = || quotas([Quota::tokens("tokens", 100_000).within(HOUR)]);
    // That of the caller, the hook that asks twice, and its own.
    let sub = bots.builder("sub", costly()).hook(AskTwice).hook(tokens()).build().unwrap();
    let uses = async |hook: Quotas| {
        let bot = bots.builder("bot", calls([("sub", json!({ "task": "Go" }))])).hook(hook);
        bot.tool(sub.to_tool("Helps.")).build().unwrap().call("Go").await.unwrap();
        bots.used("tokens").await.iter().map(|(_, amount)| amount).sum::<u64>()
    };
    // The calls of `bot` are counted by the other quota alone.
    let others = quotas([Quota::tokens("tokens", 100_000).acting(["sub"]).within(HOUR)]);
    let all = uses(others).await;
    assert_eq!(all, 180);
}
