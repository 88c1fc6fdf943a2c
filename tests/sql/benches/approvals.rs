//! The cost of a remembered approval: a turn whose question it answers beside the same turn of an agent that asks
//! nobody.
//!
//! `cargo bench -p hooks-agent-sql-tests --bench approvals` prints one line per case and store; PostgreSQL is the server
//! on loopback, where there is one. The promise: nobody waits, and what the question adds is its step, the list of the
//! approvals for the tool, and the transaction that counts the use. The allocations and the commits of a file do not
//! change with the load of the machine.

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::User;
use hooks_agent_core::message::Approvers;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{ApprovalRule, Decision, Filter, Reach, Verdict};
use serde_json::Value;
use tokio::runtime::Runtime;

use places::{Place, USER, payer, places, print_head, runtime};

mod places;

/// How many others have an approval for the same tool.
const OTHERS: usize = 200;

/// Lets the agent ask in a call of a user, and remembers the approval for the user.
async fn remember(place: &Place, agent: &ReActAgent, user: &str) {
    let options = || CallOptions::new().thread(user).user(user);
    agent.call_with(options(), "Pay the bakery").await.expect("it asks");
    let of_thread = Filter::agent("bench").thread(user);
    let asked = place.store.waiting(of_thread).await.expect("the store answers").remove(0);
    let rule = ApprovalRule::exact().uses(1_000_000);
    let eve = User::new("eve").with_role("lead");
    let yes = Verdict::new(asked.id, Decision::Approve).by(eve).remember(Reach::User, rule);
    place.store.decide(vec![yes]).await.expect("eve may decide that");
    let reply = agent.resume(options()).await.expect("it goes on");
    assert_eq!(reply.text(), "It is paid.");
}

fn turns(place: &Place, runtime: &Runtime) {
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let builder = payer(place.store.clone()).tool(pay);
    let gate = Gate::new().remembered_by(Approvers::roles(["lead"]));
    let people = HumanInTheLoop::new().ask_with("pay", gate);
    let plain = builder.clone().build().expect("it has a model");
    let asks = builder.hook(people).build().expect("it has a model");
    let (among, count) = (
        format!("  answered, {OTHERS} others have an approval"),
        if place.name == "Memory" { 1000 } else { 50 },
    );
    runtime.block_on(remember(place, &asks, USER));
    let cases = [("no question", &plain), ("  answered by an approval", &asks)];
    place.print_turns(runtime, count, &cases);
    for other in 0..OTHERS {
        runtime.block_on(remember(place, &asks, &format!("other {other}")));
    }
    place.print_turns(runtime, count, &[("no question", &plain), (&among, &asks)]);
}

fn main() {
    let runtime = runtime();
    let places = runtime.block_on(places());
    print_head("a turn: 2 model calls, 1 tool");
    for place in &places {
        turns(place, &runtime);
    }
    for place in places {
        runtime.block_on(place.remove());
    }
}
