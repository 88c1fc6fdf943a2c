//! The cost of a remembered approval: a turn whose question it answers beside the same turn of an agent that asks
//! nobody.
//!
//! `cargo bench -p hooks-agent-sql-tests --bench approvals` prints one line per case and store; PostgreSQL is the server
//! on loopback, where there is one. The promise: nobody waits, and what the question adds is its step, the list of the
//! approvals that may answer it, and the transaction that counts the use; those of others cost nothing. The allocations and the commits of a file do not
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
const OTHERS: usize = 10_000;

/// How many of them are made by calls: the others are copies of the last one. A store in a process has no others.
const MADE: usize = 200;

/// Makes as many copies of the approval of a user, for users of other names.
async fn copy(place: &Place, of: &str, count: usize) {
    let insert = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO approval (id, namespace, agent, thread, \"user\", tool, body, given_by, given_at,
            expires, most_uses, scope)
        SELECT a.id || n.i, a.namespace, a.agent, a.thread, 'copy ' || n.i, a.tool,
            replace(a.body, '\"user\":\"{of}\"', '\"user\":\"copy ' || n.i || '\"'), a.given_by,
            a.given_at, a.expires, a.most_uses, 'user copy ' || n.i
        FROM approval a, n WHERE a.\"user\" = '{of}'"
    );
    place.sql(&[insert, "ANALYZE".to_owned()]).await;
}

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
        format!("  answered, {} others", if place.name == "Memory" { MADE } else { OTHERS }),
        if place.name == "Memory" { 1000 } else { 50 },
    );
    runtime.block_on(remember(place, &asks, USER));
    let cases = [("no question", &plain), ("  answered by an approval", &asks)];
    place.print_turns(runtime, count, &cases);
    for other in 0..MADE {
        runtime.block_on(remember(place, &asks, &format!("other {other}")));
    }
    let last = format!("other {}", MADE - 1);
    runtime.block_on(copy(place, &last, OTHERS - MADE));
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
