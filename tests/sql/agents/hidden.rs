//! Hidden arguments, and threads in another runtime.

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision;
use serde_json::{Value, json};

use crate::agents::attack::{echoing, in_time, on_ada, rows};
use crate::agents::stores::{Paid, pay, payer, sqlite, waiting};

#[test]
fn an_agent_goes_on_in_another_runtime() {
    let place = sqlite();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = runtime().block_on(async {
        let agent = echoing(place.open().await);
        agent.call_with(on_ada(), "one").await.unwrap();
        agent
    });
    runtime().block_on(async {
        let reply = in_time(agent.call_with(on_ada(), "two")).await.unwrap();
        assert_eq!(reply.text(), "one|two");
    });
}

#[tokio::test]
async fn a_hidden_argument_is_nowhere_in_the_file() {
    let (place, paid) = (sqlite(), Paid::default());
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("pin", "s3cr3t-pin"));
    let fails = FunctionTool::with_context("pay", "Pays.", async |_: Value, cx: ToolContext| {
        Err::<String, _>(std::io::Error::other(format!("{}", cx.input())))
    });
    let model = payer([pay("1", 1), pay("2", 2)]);
    let agent = ReActAgent::builder("clerk").model(model).tool(fails).hook(hide);
    let agent = agent.hook(HumanInTheLoop::new().ask("pay")).parallel_tools(true);
    let agent = agent.store(place.open().await).build().unwrap();
    agent.call_with(on_ada(), "Pay").await.unwrap();
    let mut options = on_ada();
    for asked in waiting(&place.open().await).await {
        options = options.decide(asked.id, Decision::Edit(json!({ "euros": 5, "pin": "typed" })));
    }
    let reply = agent.resume(options).await.unwrap();
    assert!(!format!("{reply:?}").contains("s3cr3t"));
    assert!(!rows(&place).await.contains("s3cr3t"));
    assert!(paid.take().is_empty());
}
