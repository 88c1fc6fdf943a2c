//! Rules ask people, and their answers let run what they were about.

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::call::User;
use hooks_agent_core::message::Approvers;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, Verdict};
use hooks_agent_rules::{Then, ToolRule};
use serde_json::{Value, json};

use crate::{Bot, calls, rules};

fn large() -> ToolRule {
    ToolRule::new("large", Then::Ask).tools(["pay"]).when("args.euros > 1000")
}

fn pay(euros: u32) -> Value {
    json!({ "to": "Eve", "euros": euros })
}

#[tokio::test]
async fn people_are_asked_before_anything_of_the_answer_runs() {
    let model = hooks_agent_core::testing::Script::new()
        .calls([ToolUse::new("1", "look", json!({})), ToolUse::new("2", "pay", pay(2000))])
        .says("end");
    let bot = Bot::new(rules([large().reason("it is much")]), model, &["pay", "look"]);
    let reply = bot.agent.call("Pay").await.unwrap();
    assert_eq!((bot.ran(0).len(), bot.ran(1).len()), (0, 0));
    let asked = reply.pending().iter().find(|it| !it.askers.is_empty()).unwrap();
    assert_eq!(asked.askers[0].reason, "the rule \"large\" asks: it is much");
    let reply = bot.agent.resume(CallOptions::new().confirm("2")).await.unwrap();
    assert_eq!(reply.text(), "end");
    assert_eq!((bot.ran(0), bot.ran(1).len()), (vec![pay(2000)], 1));
}

#[tokio::test]
async fn an_answer_to_one_rule_is_none_to_another() {
    let night = ToolRule::new("night", Then::Ask).tools(["pay"]).when("args.euros > 1500");
    let bot = Bot::new(rules([large(), night]), calls([("pay", pay(2000))]), &["pay"]);
    let reply = bot.agent.call("Pay").await.unwrap();
    let reasons: Vec<_> = reply.pending()[0].askers.iter().map(|it| it.reason.clone()).collect();
    assert_eq!(reasons, ["the rule \"large\" asks", "the rule \"night\" asks"]);
    // An edit to which one of them does not apply any more is answered for the other.
    let waiting = bot.store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    let edit = Verdict::new(waiting.id, Decision::Edit(pay(1200)));
    bot.store.decide(vec![edit]).await.unwrap();
    assert_eq!(bot.agent.resume(CallOptions::new()).await.unwrap().text(), "end");
    assert_eq!(bot.ran(0), [pay(1200)]);
}

#[tokio::test]
async fn an_edit_is_judged_as_what_it_is() {
    let never = ToolRule::new("never", Then::Deny).tools(["pay"]).when("args.euros > 5000");
    let bot = Bot::new(rules([large(), never]), calls([("pay", pay(2000))]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    let waiting = bot.store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    let edit = Verdict::new(waiting.id, Decision::Edit(pay(9000)));
    bot.store.decide(vec![edit]).await.unwrap();
    assert_eq!(bot.agent.resume(CallOptions::new()).await.unwrap().text(), "end");
    assert!(bot.ran(0).is_empty());
    assert!(bot.read()[0].contains("the rule \"never\" denies it"), "{:?}", bot.read());
}

#[tokio::test]
async fn a_yes_to_another_hook_is_none_to_a_rule_and_a_warning_is_part_of_its_question() {
    let warns = ToolRule::new("odd", Then::Warn).tools(["pay"]).reason("it is odd");
    let bot = Bot::with(rules([warns]), calls([("pay", pay(1))]), &["pay"], |builder| {
        builder.hook(HumanInTheLoop::new().ask("pay"))
    });
    let reply = bot.agent.call("Pay").await.unwrap();
    let reasons: Vec<_> = reply.pending()[0].askers.iter().map(|it| it.reason.as_str()).collect();
    assert!(reasons.contains(&"the rule \"odd\" warns: it is odd"), "{reasons:?}");
    assert_eq!(reasons.len(), 2);
    bot.agent.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
    assert_eq!(bot.ran(0).len(), 1);
}

#[tokio::test]
async fn approvers_of_a_rule_alone_answer_it() {
    let rule = large().approvers(Approvers::roles(["manager"]).not_self());
    let bot = Bot::new(rules([rule]), calls([("pay", pay(2000))]), &["pay"]);
    let ada = || CallOptions::new().user(User::new("ada").with_role("manager"));
    bot.agent.call_with(ada(), "Pay").await.unwrap();
    let waiting = bot.store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    let approve = || Verdict::new(waiting.id.clone(), Decision::Approve);
    for by in [User::new("eve"), User::new("ada").with_role("manager")] {
        bot.store.decide(vec![approve().by(by)]).await.unwrap_err();
    }
    let bob = User::new("bob").with_role("manager");
    bot.store.decide(vec![approve().by(bob)]).await.unwrap();
    assert_eq!(bot.agent.resume(ada()).await.unwrap().text(), "end");
    assert_eq!(bot.ran(0).len(), 1);
}

/// A hook that makes another payment of what people approved.
struct More(&'static str);

#[agent_hook(crate = hooks_agent_core, priority = 400)]
impl More {
    async fn more(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        call.tool_use_mut().input["euros"] = serde_json::from_str(self.0).unwrap();
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn what_a_hook_makes_of_an_approved_call_does_not_run() {
    for (euros, more, read) in [
        (2000, "3000", "nobody was asked about this call: the rule \"large\" asks"),
        (1, "3000", "nobody was asked about this call: the rule \"large\" asks"),
        (1, "\"many\"", "the arguments do not fit the schema of the tool"),
    ] {
        let bot = Bot::with(rules([large()]), calls([("pay", pay(euros))]), &[], |builder| {
            let pay = typed_pay();
            builder.tool(pay).hook(More(more))
        });
        let reply = bot.agent.call("Pay").await.unwrap();
        if let [pending] = reply.pending() {
            bot.agent.resume(CallOptions::new().confirm(&pending.id)).await.unwrap();
        }
        assert!(bot.read()[0].contains(read), "{:?}", bot.read());
    }
}

/// A tool that takes a number.
pub(crate) fn typed_pay() -> FunctionTool {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Pay {
        #[serde(default)]
        #[expect(dead_code, reason = "it is read from the schema")]
        to: String,
        euros: u32,
    }
    FunctionTool::new("pay", "Pays.", async |pay: Pay| format!("paid {}", pay.euros))
}

/// A reload that says who may answer asks again those who may.
#[tokio::test]
async fn an_answer_of_somebody_who_may_not_is_none() {
    let script = || calls([("pay", pay(2000))]);
    let bot = Bot::new(rules([large()]), script(), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    let waiting = bot.store.waiting(Filter::agent("bot")).await.unwrap().remove(0);
    bot.store.decide(vec![Verdict::new(waiting.id, Decision::Approve)]).await.unwrap();
    let stricter = rules([large().approvers(Approvers::roles(["manager"]))]).build().unwrap();
    let paid = crate::tool("pay");
    let agent =
        ReActAgent::builder("bot").model(script()).tool(paid.clone()).store(bot.store.clone());
    let agent = agent.hook(stricter).build().unwrap();
    let reply = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!((reply.pending().len(), paid.inputs().len()), (1, 0));
}
