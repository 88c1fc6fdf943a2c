//! Tests of `ModelCallLimit`.
//!
//! Vectors that end otherwise:
//!
//! | vector | there | here |
//! |---|---|---|
//! | B, count of a failed model call | not counted, the count rises after the call | counted: each attempt is reserved before it is made |
//! | B, `threadLimit` in the next invocation | starts at 0 again | goes on, as in D 3.2 |
//! | D 3.2, a limit that is not given | an error of the constructor | an error of `build` |

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_builtin::limit::{CallLimitError, Exit, ModelCallLimit, ModelCallLimitExceeded};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

use crate::task::{agent, assert_limited, assert_valid, builder, call, cause, counts, set_counts};

const NAME: &str = "ModelCallLimit";

fn limit(thread: u64, run: u64, exit: Exit) -> ModelCallLimit {
    ModelCallLimit::builder().thread(thread).run(run).exit(exit).build().unwrap()
}

/// D 3.2, state (2, 0).
#[test]
fn a_thread_at_its_limit_ends_the_call_with_the_limit() {
    let (script, ran) = (Script::new(), Arc::default());
    let agent = agent(&script, &ran, limit(2, 1, Exit::End));
    set_counts(&agent, NAME, 2);
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: thread limit (2/2)");
    assert!(script.requests().is_empty());
}

/// D 3.2, state (1, 1).
#[test]
fn a_run_at_its_limit_ends_the_call_with_the_limit() {
    let (script, ran) = (Script::new().calls([call("1", "search")]), Arc::default());
    let agent = agent(&script, &ran, limit(2, 1, Exit::End));
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: run limit (1/1)");
    assert_eq!(counts(&agent, NAME), (1, 1));
}

/// D 3.2, both reached.
#[test]
fn one_text_has_both_limits() {
    let (script, ran) = (Script::new().calls([call("1", "search")]), Arc::default());
    let agent = agent(&script, &ran, limit(2, 1, Exit::End));
    set_counts(&agent, NAME, 1);
    let reply = block_on(agent.call("go")).unwrap();
    let text = "Model call limits exceeded: thread limit (2/2), run limit (1/1)";
    assert_limited(&agent, &reply, text);
}

/// D 3.2, the same states with error.
#[test]
fn a_limit_fails_the_call_with_its_counts_by_choice() {
    let (script, ran) = (Script::new().calls([call("1", "search")]), Arc::default());
    let agent = agent(&script, &ran, limit(2, 1, Exit::Error));
    set_counts(&agent, NAME, 1);
    let error = block_on(agent.call("go")).unwrap_err();
    let exceeded: &ModelCallLimitExceeded = cause(&error);
    let text = "Model call limits exceeded: thread limit (2/2), run limit (1/1)";
    assert_eq!(exceeded.to_string(), text);
    assert_eq!((exceeded.thread_count, exceeded.thread_limit), (2, Some(2)));
    assert_eq!((exceeded.run_count, exceeded.run_limit), (1, Some(1)));
    assert_valid(&agent);

    let error = block_on(agent.call("go")).unwrap_err();
    let text = "Model call limits exceeded: thread limit (2/2)";
    assert_eq!(cause::<ModelCallLimitExceeded>(&error).to_string(), text);
}

/// D 3.2, the same thread twice.
#[test]
fn the_second_call_of_a_thread_adds_the_limit_to_memory() {
    let (script, ran) = (Script::new().says("one"), Arc::default());
    let limit = ModelCallLimit::builder().thread(1).build().unwrap();
    let agent = agent(&script, &ran, limit);
    block_on(agent.call("go")).unwrap();
    let reply = block_on(agent.call("go on")).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: thread limit (1/1)");
    let messages = agent.memory().messages();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages.last().unwrap().text(), reply.text());
}

/// D 3.2, thread 3, run 1, error; and the run starts at 0 again.
#[test]
fn each_run_has_a_count_of_its_own_and_the_thread_one_for_all() {
    let script = Script::new().says("1").says("2").says("3").says("4");
    let agent = agent(&script, &Arc::default(), limit(3, 1, Exit::Error));
    for _ in 0..3 {
        block_on(agent.call("go")).unwrap();
    }
    let error = block_on(agent.call("go")).unwrap_err();
    assert!(cause::<ModelCallLimitExceeded>(&error).to_string().contains("thread limit (3/3)"));
    let other = CallOptions::new().thread("other");
    assert_eq!(block_on(agent.call_with(other, "go")).unwrap().text(), "4");
}

#[test]
fn a_reply_at_the_limit_says_what_the_text_of_the_limit_says() {
    let (script, ran) = (Script::new(), Arc::default());
    let limit = || ModelCallLimit::builder().thread(2).text("Enough for today.");
    let agent = agent(&script, &ran, limit().build().unwrap());
    set_counts(&agent, NAME, 2);
    assert_limited(&agent, &block_on(agent.call("go")).unwrap(), "Enough for today.");
    let error = limit().exit(Exit::Error).build().unwrap_err();
    assert_eq!(error, CallLimitError::UnusedText { exit: Exit::Error });
}

/// D 3.2, none given and an invalid exit.
#[test]
fn a_limit_without_a_limit_is_not_built() {
    let error = ModelCallLimit::builder().build().unwrap_err();
    assert_eq!(error, CallLimitError::NoLimit);
    let text = "At least one limit must be specified (thread_limit or run_limit)";
    assert_eq!(error.to_string(), text);
    let error = ModelCallLimit::builder().run(1).exit(Exit::Continue).build().unwrap_err();
    assert_eq!(error.to_string(), "Invalid exit_behavior: continue. Must be 'end' or 'error'");
}

#[test]
fn an_attempt_that_fails_counts() {
    let script = Script::new().fails(ModelError::status("m", 503)).says("never");
    let agent = agent(&script, &Arc::default(), limit(1, 1, Exit::End));
    block_on(agent.call("go")).unwrap_err();
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: thread limit (1/1)");
}

struct Again;

#[agent_hook(priority = 150)]
impl Again {
    async fn again(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match next.run(call.request().clone()).await {
            Err(AgentError::Model(_)) => next.run(call.into_request()).await,
            ended => ended,
        }
    }
}

#[test]
fn each_attempt_of_a_retry_outside_counts() {
    let script = Script::new().fails(ModelError::status("m", 503)).says("done");
    let builder = builder(&script, &Arc::default()).hook(limit(9, 9, Exit::End)).hook(Again);
    let agent = builder.build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(counts(&agent, NAME), (2, 2));
}

#[test]
fn a_call_that_resumes_a_run_goes_on_with_its_count() {
    let script = Script::new().calls([call("1", "search")]).says("never");
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let builder = builder(&script, &Arc::default()).hook(limit(9, 1, Exit::End)).hook(ask);
    let agent = builder.build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!(reply.pending().len(), 1);
    let reply = block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: run limit (1/1)");
}

#[test]
fn a_call_that_gives_up_what_waits_is_a_new_run() {
    let script = Script::new().calls([call("1", "search")]).says("done");
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let builder = builder(&script, &Arc::default()).hook(limit(9, 1, Exit::End)).hook(ask);
    let agent = builder.recover_pending(true).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(block_on(agent.call("something else")).unwrap().text(), "done");
}

#[test]
fn counts_that_cannot_be_read_refuse_the_call() {
    let script = Script::new().says("never");
    let agent = agent(&script, &Arc::default(), limit(9, 9, Exit::End));
    let values = json!({ NAME: "many" });
    agent.memory().set_values(values.as_object().unwrap().clone());
    block_on(agent.call("go")).unwrap_err();
    assert!(script.requests().is_empty());
}

#[test]
fn a_summary_counts_too() {
    let script = Script::new().calls([call("1", "search")]).says("never");
    let builder = builder(&script, &Arc::default()).hook(limit(1, 1, Exit::End));
    let agent = builder.max_iters(1).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!(reply.reason, Some(hooks_agent_core::message::GenerateReason::LimitReached));
    assert_valid(&agent);
}

fn with_sub_agent(script: &Script, limit: ModelCallLimit) -> ReActAgent {
    let poet = Script::new().says("a").says("b").says("c").says("d");
    let poet = ReActAgent::builder("poet").model(poet).build().unwrap();
    let tool = poet.to_tool("Writes.");
    builder(script, &Arc::default()).tool(tool).parallel_tools(true).hook(limit).build().unwrap()
}

fn ask_poet(id: &str) -> ToolUse {
    ToolUse::new(id, "poet", json!({ "task": "a poem" }))
}

#[test]
fn sub_agents_count_on_their_own_or_with_the_outermost_by_choice() {
    for (counting, expected) in [(false, (2, 2)), (true, (4, 4))] {
        let script = Script::new().calls([ask_poet("1"), ask_poet("2")]).says("done");
        let limit = ModelCallLimit::builder().thread(9).run(9);
        let agent = with_sub_agent(&script, limit.counting_sub_agents(counting).build().unwrap());
        assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
        assert_eq!(counts(&agent, NAME), expected);
    }
}

#[test]
fn a_sub_agent_ends_at_the_limit_of_the_task() {
    let script = Script::new().calls([ask_poet("1"), ask_poet("2")]).says("never");
    let limit = ModelCallLimit::builder().run(2).counting_sub_agents(true).build().unwrap();
    let agent = with_sub_agent(&script, limit);
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Model call limits exceeded: run limit (2/2)");
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_tasks_at_once_exactly_as_many_pass_as_the_limit_allows() {
    let model = ScriptedModel::new("fixed", |_| "Done.");
    let limit = ModelCallLimit::builder().thread(40).exit(Exit::Error).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).hook(limit).build().unwrap();
    let (agent, cx) = (Arc::new(agent), CallContext::default());
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let (agent, cx) = (agent.clone(), cx.clone());
            tokio::spawn(async move {
                agent.model_call(cx, ChatRequest::new(Msg::user("go"))).await.is_ok()
            })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += usize::from(task.await.unwrap());
    }
    assert_eq!(passed, 40);
}
