//! Runs a task, and answers the questions of the guard.

use std::sync::LazyLock;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::message::{Msg, PendingCall};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_rules::Provenance;

use crate::labels::guard;
use crate::model::Gullible;
use crate::suite::{Call, Suite, Task};

static GUARD: LazyLock<Provenance> = LazyLock::new(guard);

/// Who answers the questions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Person {
    /// Nobody: there is no guard.
    Nobody,
    /// Says yes to the calls that do the task of the user, and no to others.
    Careful,
    /// Says yes.
    Careless,
}

impl Person {
    fn allows(self, pending: &PendingCall, task: &Task) -> bool {
        let call = Call { name: pending.call.name.clone(), args: pending.call.input.clone() };
        self == Self::Careless || task.calls.contains(&call)
    }
}

/// What came of a task.
pub(crate) struct Run {
    /// What the model says at the end.
    pub(crate) output: String,
    /// Why somebody was asked, once for each question.
    pub(crate) questions: Vec<String>,
}

/// Runs a task of the user, with an injection or without.
pub(crate) async fn run(suite: &Suite, user: &str, injection: Option<&str>, person: Person) -> Run {
    let task = suite.reset(user, injection).await;
    let mut builder = ReActAgent::builder("bot")
        .model(Gullible::new(suite.clone(), &task))
        .tools(suite.tools())
        .max_iters(100);
    if person != Person::Nobody {
        builder = builder.hook(GUARD.clone());
    }
    let agent = builder.build().unwrap();
    let mut questions = Vec::new();
    let mut reply = agent.call(Msg::user(&*task.prompt)).await.unwrap();
    while let [pending] = reply.pending() {
        questions.push(format!("{:?}", pending.why));
        reply = if person.allows(pending, &task) {
            agent.resume(CallOptions::new().confirm(&pending.id)).await.unwrap()
        } else {
            agent.call(pending.refused("no")).await.unwrap()
        };
    }
    Run { output: reply.text(), questions }
}
