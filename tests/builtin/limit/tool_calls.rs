//! Tests of `ToolCallLimit`.
//!
//! Vectors that end otherwise:
//!
//! | vector | there | here |
//! |---|---|---|
//! | B, a batch that overshoots | runs, the stop is at the next model call | does not run; `LimitStyle::NextModelCall` has the timing of B |
//! | D 3.3, two instances | `ToolCallLimitMiddleware`, `ToolCallLimitMiddleware[search]` | `ToolCallLimit`, `ToolCallLimit[search]` |
//! | D 3.3, `run_limit > thread_limit`; no limit | an error of the constructor | an error of `build` |

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_builtin::limit::{
    CallLimitError, Exit, LimitStyle, ToolCallLimit, ToolCallLimitBuilder, ToolCallLimitExceeded,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Records;
use serde_json::json;

use crate::task::{
    agent, assert_limited, assert_valid, builder, call, cause, counts, set_counts, tool,
};

const ALL: &str = "ToolCallLimit";
const SEARCH: &str = "ToolCallLimit[search]";
const NO_MORE: &str = "Tool call limit exceeded. Do not make additional tool calls.";
const NO_SEARCH: &str = "Tool call limit exceeded. Do not call 'search' again.";
const STOPPED: &str = "Execution stopped before this tool call could run because another tool call in \
                       the same batch exceeded the limit.";

fn ran() -> Arc<Records<&'static str>> {
    Arc::default()
}

fn built(limit: ToolCallLimitBuilder) -> ToolCallLimit {
    limit.build().unwrap()
}

fn all(thread: u64, run: u64, exit: Exit) -> ToolCallLimit {
    built(ToolCallLimit::all().thread(thread).run(run).exit(exit))
}

/// A script of one batch of tool calls, by id and tool.
fn batch(calls: &[(&str, &str)]) -> Script {
    Script::new().calls(calls.iter().map(|(id, tool)| call(id, tool)))
}

/// The outputs of the tool calls in memory, by id; errors with a mark.
fn results(agent: &ReActAgent) -> Vec<(String, String)> {
    hooks_fixtures::scripted_agents::results(agent)
}

fn result(id: &str, output: &str) -> (String, String) {
    (id.to_owned(), output.to_owned())
}

fn error(id: &str, output: &str) -> (String, String) {
    (id.to_owned(), format!("! {output}"))
}

/// D 3.3, counts {}, 1 call; and exactly at the limit.
#[test]
fn calls_up_to_the_limit_run() {
    let (script, ran) = (batch(&[("1", "search")]).says("done"), ran());
    let agent = agent(&script, &ran, all(3, 2, Exit::End));
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(counts(&agent, ALL), (1, 1));
    let (script, ran) = (batch(&[("1", "search"), ("2", "calc")]).says("done"), self::ran());
    let agent = self::agent(&script, &ran, all(2, 2, Exit::End));
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!((counts(&agent, ALL), ran.take().len()), ((2, 2), 2));
}

/// D 3.3, thread 3, run 0, 1 call.
#[test]
fn a_thread_at_its_limit_ends_the_call_before_the_tool_runs() {
    let (script, ran) = (batch(&[("1", "search")]).says("never"), ran());
    let agent = agent(&script, &ran, all(3, 2, Exit::End));
    set_counts(&agent, ALL, 3);
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Tool call limit reached: thread limit exceeded (4/3 calls).");
    assert_eq!(results(&agent), [error("1", NO_MORE)]);
    assert_eq!((counts(&agent, ALL), ran.take().len()), ((3, 1), 0));
    assert_eq!(script.requests().len(), 1);
    assert_eq!(agent.memory().messages().last().unwrap().text(), reply.text());
}

/// D 3.3, thread 2, run 2, 1 call.
#[test]
fn a_run_at_its_limit_ends_the_call_before_the_tool_runs() {
    let script = batch(&[("1", "search"), ("2", "search")]).calls([call("3", "search")]);
    let agent = agent(&script, &ran(), all(3, 2, Exit::End));
    let reply = block_on(agent.call("go")).unwrap();
    assert_limited(&agent, &reply, "Tool call limit reached: run limit exceeded (3/2 calls).");
    assert_eq!(counts(&agent, ALL), (2, 3));
}

/// D 3.3, tool "search", end, search and calculator in one batch.
#[test]
fn the_others_of_a_batch_that_ends_the_call_do_not_run() {
    for at_once in [false, true] {
        let (script, ran) = (batch(&[("1", "calc"), ("2", "search"), ("3", "calc")]), ran());
        let limit = built(ToolCallLimit::of("search").thread(1).exit(Exit::End));
        let builder = builder(&script, &ran).hook(limit).parallel_tools(at_once);
        let agent = builder.build().unwrap();
        set_counts(&agent, SEARCH, 1);
        let reply = block_on(agent.call("go")).unwrap();
        let text = "'search' tool call limit reached: thread limit exceeded (2/1 calls).";
        assert_limited(&agent, &reply, text);
        let expected = [error("1", STOPPED), error("2", NO_SEARCH), error("3", STOPPED)];
        assert_eq!(results(&agent), expected);
        assert_eq!(ran.take().len(), 0);
    }
}

#[test]
fn a_batch_that_ends_the_call_takes_nothing_of_the_limit_of_the_thread() {
    for exit in [Exit::End, Exit::Error] {
        let (script, ran) = (batch(&[("1", "calc"), ("2", "search")]), ran());
        let agent = agent(
            &script.calls([call("3", "calc")]).says("done"),
            &ran,
            built(ToolCallLimit::all().thread(3).exit(exit)),
        );
        set_counts(&agent, ALL, 2);
        let ended = block_on(agent.call("go"));
        assert_eq!(ended.is_ok(), exit == Exit::End);
        assert_eq!((counts(&agent, ALL), ran.take().len()), ((2, 2), 0), "{exit}");
        // The call that was left may still run.
        assert_eq!(block_on(agent.call("go on")).unwrap().text(), "done");
        assert_eq!((counts(&agent, ALL).0, ran.take().as_slice()), (3, &["calc"][..]), "{exit}");
    }
}

/// D 3.3, `thread_limit` 2, error, thread 2, run 2, 1 call.
#[test]
fn a_limit_fails_the_call_with_its_counts_by_choice() {
    let (script, ran) =
        (batch(&[("1", "search"), ("2", "calc")]).calls([call("3", "calc")]), ran());
    let agent = agent(&script, &ran, built(ToolCallLimit::all().thread(2).exit(Exit::Error)));
    let error = block_on(agent.call("go")).unwrap_err();
    let exceeded: &ToolCallLimitExceeded = cause(&error);
    assert_eq!((exceeded.thread_count, exceeded.thread_limit), (3, Some(2)));
    assert_eq!((exceeded.run_count, exceeded.run_limit), (3, None));
    assert_eq!(exceeded.tool, None);
    let text = "Tool call limit reached: thread limit exceeded (3/2 calls).";
    assert_eq!(exceeded.to_string(), text);
    assert_eq!(ran.take().len(), 2);
    assert_valid(&agent);
}

/// D 3.3, thread 10, run 1, continue, 3 parallel; and limit 1, 3 parallel of one tool.
#[test]
fn calls_of_a_batch_beyond_the_limit_get_an_error_and_the_run_goes_on() {
    for at_once in [false, true] {
        let calls = [("1", "search"), ("2", "search"), ("3", "search")];
        let (script, ran) = (batch(&calls).says("done"), ran());
        let builder = builder(&script, &ran).hook(all(10, 1, Exit::Continue));
        let agent = builder.parallel_tools(at_once).build().unwrap();
        assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
        let expected = [result("1", "ok"), error("2", NO_MORE), error("3", NO_MORE)];
        assert_eq!(results(&agent), expected);
        assert_eq!((counts(&agent, ALL), ran.take().len()), ((1, 3), 1));
    }
}

/// D 3.3, thread 10, run 1, continue, thread 1, run 1, 1 call.
#[test]
fn a_call_beyond_the_limit_gets_an_error_and_the_run_goes_on() {
    let script = batch(&[("1", "search")]).calls([call("2", "search")]).says("done");
    let agent = agent(&script, &ran(), all(10, 1, Exit::Continue));
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(results(&agent), [result("1", "ok"), error("2", NO_MORE)]);
}

/// D 3.3, "search" thread 2, continue, 3 turns of search and calc.
#[test]
fn other_tools_are_not_limited() {
    let script = (1..=3).fold(Script::new(), |script, turn| {
        let ids = [format!("s{turn}"), format!("c{turn}")];
        script.calls([call(&ids[0], "search"), call(&ids[1], "calc")])
    });
    let ran = ran();
    let limit = built(ToolCallLimit::of("search").thread(2));
    let agent = agent(&script.clone().says("done"), &ran, limit);
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(results(&agent)[4], error("s3", NO_SEARCH));
    assert_eq!(ran.take(), ["search", "calc", "search", "calc", "calc"]);
}

/// D 3.3, `thread_limit` 2, end, 3 turns.
#[test]
fn a_thread_ends_once_it_is_beyond_its_limit() {
    let one = |script: Script, id: &str| script.calls([call(id, "search")]).says("done");
    let script = ["1", "2"].into_iter().fold(Script::new(), one).calls([call("3", "search")]);
    let limit = built(ToolCallLimit::all().thread(2).exit(Exit::End));
    let agent = agent(&script, &ran(), limit);
    for _ in 0..2 {
        assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    }
    let reply = block_on(agent.call("go")).unwrap();
    let text = "Tool call limit reached: thread limit exceeded (3/2 calls).";
    assert_limited(&agent, &reply, text);
    assert_eq!(results(&agent), [result("1", "ok"), result("2", "ok"), error("3", NO_MORE)]);
    let texts = agent.memory().messages().iter().filter(|msg| msg.text() == text).count();
    assert_eq!(texts, 1);
}

#[test]
fn a_reply_beyond_the_limit_says_what_the_text_of_the_limit_says() {
    for style in [LimitStyle::BeforeExecution, LimitStyle::NextModelCall] {
        let limit = || ToolCallLimit::of("search").run(1).style(style).text("Enough for today.");
        let script = batch(&[("1", "search"), ("2", "search")]);
        let agent = agent(&script, &ran(), built(limit().exit(Exit::End)));
        assert_limited(&agent, &block_on(agent.call("go")).unwrap(), "Enough for today.");
        let error = limit().exit(Exit::Error).build().unwrap_err();
        assert_eq!(error, CallLimitError::UnusedText { exit: Exit::Error });
    }
    // Without an end, no reply would show it.
    let error = ToolCallLimit::all().run(1).text("Enough for today.").build().unwrap_err();
    assert_eq!(error, CallLimitError::UnusedText { exit: Exit::Continue });
}

/// D 3.3, `run_limit > thread_limit`; no limit.
#[test]
fn a_limit_that_cannot_be_meant_is_not_built() {
    let error = ToolCallLimit::all().build().unwrap_err();
    let text = "At least one limit must be specified (thread_limit or run_limit)";
    assert_eq!(error.to_string(), text);
    let error = ToolCallLimit::of("search").thread(3).run(5).build().unwrap_err();
    assert_eq!(error, CallLimitError::RunAboveThread { run: 5, thread: 3 });
    let style = ToolCallLimit::all().run(1).style(LimitStyle::NextModelCall);
    assert!(style.clone().build().is_ok());
    let error = style.exit(Exit::Continue).build().unwrap_err();
    assert_eq!(error, CallLimitError::InvalidExit { exit: Exit::Continue });
}

/// D 3.3, two instances.
#[test]
fn a_limit_of_all_tools_and_one_of_a_tool_count_on_their_own() {
    let script = batch(&[("1", "search"), ("2", "search"), ("3", "calc")]).says("done");
    let (each, one) = (all(9, 9, Exit::Continue), built(ToolCallLimit::of("search").run(1)));
    assert_eq!((each.name(), one.name()), (ALL.to_owned(), SEARCH.to_owned()));
    let agent = builder(&script, &ran()).hook(each).hook(one).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!((counts(&agent, ALL), counts(&agent, SEARCH)), ((3, 3), (1, 2)));
    assert_eq!(results(&agent)[1], error("2", NO_SEARCH));
}

/// B, `ToolCallLimitHook`.
#[test]
fn a_limit_at_the_next_model_call_lets_a_batch_run() {
    for exit in [Exit::End, Exit::Error] {
        let (script, ran) = (batch(&[("1", "search"), ("2", "search"), ("3", "calc")]), ran());
        let limit = ToolCallLimit::of("search").run(2).thread(5).exit(exit);
        let agent = agent(&script, &ran, built(limit.style(LimitStyle::NextModelCall)));
        set_counts(&agent, SEARCH, 3);
        let text = "'search' tool call limits exceeded: thread limit (5/5), run limit (2/2)";
        match block_on(agent.call("go")) {
            Ok(reply) => assert_limited(&agent, &reply, text),
            Err(error) => {
                assert_eq!(cause::<ToolCallLimitExceeded>(&error).to_string(), text);
            }
        }
        assert_eq!((ran.take().len(), script.requests().len()), (3, 1));
        assert_valid(&agent);
    }
}

#[test]
fn a_call_that_waited_for_approval_counts_once() {
    let script = batch(&[("1", "search"), ("2", "search")]).calls([call("3", "search")]);
    let (script, ran) = (script.says("done"), ran());
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let limit = built(ToolCallLimit::all().run(2));
    let agent = builder(&script, &ran).hook(ask).hook(limit).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!(reply.pending().len(), 2);
    // The second one asks in its turn.
    let reply = block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    assert_eq!(reply.pending().len(), 1);
    // The third is beyond the limit of the run that goes on, and nobody is asked about it.
    let reply = block_on(agent.resume(CallOptions::new().confirm("2"))).unwrap();
    assert_eq!(reply.text(), "done");
    assert_eq!((counts(&agent, ALL), ran.take().len()), ((2, 3), 2));
    assert_eq!(results(&agent)[2], error("3", NO_MORE));
}

#[test]
fn the_user_is_not_asked_about_a_call_beyond_the_limit() {
    let (script, ran) = (batch(&[("1", "search"), ("2", "search")]), ran());
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let limit = built(ToolCallLimit::all().run(1).exit(Exit::End));
    let agent = builder(&script, &ran).hook(ask).hook(limit).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert!(reply.pending().is_empty());
    assert_limited(&agent, &reply, "Tool call limit reached: run limit exceeded (2/1 calls).");
    assert_eq!(ran.take().len(), 0);
}

#[test]
fn calls_that_hooks_add_or_change_are_limited() {
    let (script, ran) = (batch(&[("1", "calc")]).calls([call("3", "calc")]).says("done"), ran());
    let add = on(|event: &mut PostReasoning<'_>| {
        if event.message().tool_uses().any(|call| call.id == "1") {
            event.message_mut().content.push(ContentBlock::ToolUse(call("2", "search")));
        }
    });
    let change = on(|event: &mut PreActing<'_>| event.tool_use_mut().name = "search".to_owned());
    let limit = built(ToolCallLimit::of("search").run(1));
    let builder = builder(&script, &ran).hook(limit).hook(add.with_priority(900)).hook(change);
    let agent = builder.build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!((ran.take(), counts(&agent, SEARCH)), (vec!["search"], (1, 3)));
}

struct ToSearch;

#[agent_hook(priority = 100)]
impl ToSearch {
    async fn change(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        "search".clone_into(&mut call.tool_use_mut().name);
        next.run(call.into_tool_use()).await
    }
}

#[test]
fn a_call_that_a_hook_around_it_changes_is_limited() {
    let (script, ran) = (batch(&[("1", "calc"), ("2", "calc")]), ran());
    let limit = built(ToolCallLimit::of("search").run(1).exit(Exit::End));
    let agent = builder(&script, &ran).hook(limit).hook(ToSearch).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    let text = "'search' tool call limit reached: run limit exceeded (2/1 calls).";
    assert_limited(&agent, &reply, text);
    assert_eq!(ran.take(), ["search"]);
}

/// The added tool call is decided when its turn comes, while another one asks the user.
#[test]
fn a_batch_that_ends_while_it_waits_stays_ended() {
    let (script, ran) = (batch(&[("1", "calc")]), ran());
    let add = on(|event: &mut PostReasoning<'_>| {
        if event.message().tool_uses().next().is_some() {
            event.message_mut().content.push(ContentBlock::ToolUse(call("2", "search")));
        }
    });
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "calc" => event.ask("may I?"),
        _ => Flow::Continue,
    });
    let limit = built(ToolCallLimit::of("search").run(0).exit(Exit::End));
    let builder = builder(&script, &ran).hook(limit).hook(add.with_priority(900)).hook(ask);
    let agent = builder.parallel_tools(true).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!(reply.pending().len(), 1);
    let reply = block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    let text = "'search' tool call limit reached: run limit exceeded (1/0 calls).";
    assert_limited(&agent, &reply, text);
    assert_eq!(results(&agent), [error("1", STOPPED), error("2", NO_SEARCH)]);
    assert_eq!(ran.take().len(), 0);
}

#[test]
fn a_call_that_resumes_after_the_limit_of_a_thread_still_runs_what_was_allowed() {
    let (script, ran) = (batch(&[("1", "search")]).says("done"), ran());
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let limit = built(ToolCallLimit::all().thread(1));
    let agent = builder(&script, &ran).hook(ask).hook(limit).build().unwrap();
    block_on(agent.call("go")).unwrap();
    // Another process restores the thread with its values.
    let (messages, values) = (agent.memory().messages(), agent.memory().values());
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let limit = built(ToolCallLimit::all().thread(1));
    let later = builder(&script, &ran).hook(ask).hook(limit).build().unwrap();
    later.threads().restore(CallContext::DEFAULT_THREAD, messages).unwrap();
    later.memory().set_values(values);
    // It does not know who asked: they ask again.
    let confirm = || later.resume(CallOptions::new().confirm("1"));
    assert_eq!(block_on(confirm()).unwrap().pending().len(), 1);
    let reply = block_on(confirm()).unwrap();
    assert_eq!((reply.text(), counts(&later, ALL)), ("done".to_owned(), (1, 1)));
    assert_eq!(ran.take(), ["search"]);
}

#[test]
fn ids_that_the_model_uses_again_are_counted_again() {
    let script = batch(&[("1", "search")]).calls([call("1", "search")]).says("done");
    let (ran, limit) = (ran(), built(ToolCallLimit::all().run(1)));
    let agent = agent(&script, &ran, limit);
    block_on(agent.call("go")).unwrap();
    assert_eq!((ran.take().len(), counts(&agent, ALL)), (1, (1, 2)));
}

#[test]
fn counts_that_cannot_be_read_refuse_the_call() {
    let (script, ran) = (batch(&[("1", "search")]), ran());
    let agent = agent(&script, &ran, all(9, 9, Exit::Continue));
    agent.memory().set_values(json!({ ALL: [] }).as_object().unwrap().clone());
    block_on(agent.call("go")).unwrap_err();
    assert_eq!(ran.take().len(), 0);
}

#[test]
fn sub_agents_count_on_their_own_or_with_the_outermost_by_choice() {
    for (counting, last) in [(false, result("3", "ok")), (true, error("3", NO_MORE))] {
        // The helper uses an id that its caller uses, too.
        let helper = Script::new().calls([call("1", "search")]).says("found");
        let helper = ReActAgent::builder("helper").model(helper).tool(tool("search", &ran()));
        let helper = helper.build().unwrap().to_tool("Helps.");
        let help = ToolUse::new("1", "helper", json!({ "task": "search" }));
        let script = Script::new().calls([help, call("2", "calc")]).calls([call("3", "calc")]);
        let limit = ToolCallLimit::all().thread(3).counting_sub_agents(counting);
        let builder = builder(&script.says("done"), &ran()).tool(helper).hook(built(limit));
        let agent = builder.build().unwrap();
        assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
        assert_eq!(results(&agent)[..2], [result("1", "found"), result("2", "ok")]);
        assert_eq!((results(&agent)[2].clone(), counts(&agent, ALL).0), (last, 3));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_tasks_at_once_exactly_as_many_run_as_the_limit_allows() {
    let (script, ran) = (Script::new(), ran());
    let agent = Arc::new(agent(&script, &ran, built(ToolCallLimit::of("search").thread(40))));
    let cx = CallContext::default();
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let (agent, cx) = (agent.clone(), cx.clone());
            let input =
                hooks_agent_core::round::ActingInput::new(call(&number.to_string(), "search"));
            tokio::spawn(async move { agent.acting(cx, input).await.unwrap() })
        })
        .collect();
    let mut refused = 0;
    for task in tasks {
        refused += usize::from(task.await.unwrap().result.unwrap().is_error);
    }
    assert_eq!((refused, ran.take().len()), (24, 40));
}
