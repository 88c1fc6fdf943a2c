//! `RuleOfTwo`: a thread has at most two of the three, unless the user approves.

mod doors;
mod other_hooks;

use futures::executor::block_on;
use hooks_agent_builtin::guard::{Labels, RuleOfTwo};
use hooks_agent_core::message::{GenerateReason, PendingReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

const TOOLS: [&str; 4] = ["browse", "recall", "send", "add"];

fn rule() -> RuleOfTwo {
    let rule = RuleOfTwo::new().untrusted_input(["browse"]).private_data(["recall"]);
    rule.changes_state(["send"]).harmless(["add", "helper"])
}

fn call(tool: &str) -> ToolUse {
    ToolUse::new(tool, tool, json!({}))
}

/// A script of one round for each batch of tool calls.
fn script(batches: &[&[&str]]) -> Script {
    batches
        .iter()
        .fold(Script::new(), |script, batch| script.calls(batch.iter().map(|it| call(it))))
}

/// An agent with a tool of each kind, of which each answers `answers` times.
fn agent(script: Script) -> (ReActAgentBuilder, [Calls; 4]) {
    agent_named("bot", script)
}

fn agent_named(name: &str, script: Script) -> (ReActAgentBuilder, [Calls; 4]) {
    let tools = TOOLS.map(|name| (0..64).fold(Calls::new(name), |tool, _| tool.answers(name)));
    let builder = ReActAgent::builder(name).model(script.says("done"));
    (tools.iter().cloned().fold(builder, ReActAgentBuilder::tool), tools)
}

fn ran(tools: &[Calls; 4]) -> [usize; 4] {
    [0, 1, 2, 3].map(|index| tools[index].inputs().len())
}

/// The ids of the tool calls that are asked about, with the reasons.
fn asked(reply: &Msg) -> Vec<(String, String)> {
    let asked = reply.pending().iter().filter_map(|pending| match &pending.why {
        PendingReason::Permission(why) => Some((pending.id.clone(), why.clone())),
        _ => None,
    });
    asked.collect()
}

fn results(agent: &ReActAgent) -> Vec<ToolResult> {
    let history = agent.threads().memory("default").unwrap().messages();
    history.iter().flat_map(Msg::tool_results).cloned().collect()
}

fn go(agent: &ReActAgent) -> Msg {
    block_on(agent.call("go")).unwrap()
}

fn confirm(agent: &ReActAgent, id: &str) -> Msg {
    block_on(agent.resume(CallOptions::new().confirm(id))).unwrap()
}

#[test]
fn the_call_that_would_complete_the_three_is_asked_about_in_every_order() {
    for [first, second, third] in [
        ["browse", "recall", "send"],
        ["browse", "send", "recall"],
        ["recall", "browse", "send"],
        ["recall", "send", "browse"],
        ["send", "browse", "recall"],
        ["send", "recall", "browse"],
    ] {
        let (builder, tools) = agent(script(&[&[first], &["add", second], &["add", third]]));
        let agent = builder.hook(rule()).build().unwrap();
        let reply = go(&agent);
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        let [(id, why)] = &asked(&reply)[..] else { panic!("{reply:?}") };
        assert_eq!(id, third);
        for link in [first, second] {
            let link = format!("by `{link}` (call `{link}` of agent `bot`)");
            assert!(why.contains(&link), "{why}");
        }
        assert_eq!(ran(&tools).iter().sum::<usize>(), 4);
        assert_eq!(confirm(&agent, id).text(), "done");
        assert_eq!(ran(&tools), [1, 1, 1, 2]);
    }
}

#[test]
fn a_batch_of_all_three_does_not_slip_through() {
    for at_once in [false, true] {
        let (builder, tools) = agent(script(&[&["browse", "recall", "send"]]));
        let agent = builder.hook(rule()).parallel_tools(at_once).build().unwrap();
        let reply = go(&agent);
        // In the order of the message.
        assert_eq!(asked(&reply)[0].0, "send");
        assert_eq!(ran(&tools), [1, 1, 0, 0]);
        assert_eq!(confirm(&agent, "send").text(), "done");
        assert_eq!(ran(&tools), [1, 1, 1, 0]);
    }
}

#[test]
fn of_64_parallel_calls_those_of_one_kind_are_asked_about() {
    let uses = (0..64).map(|n| ToolUse::new(n.to_string(), TOOLS[n % 3], json!({})));
    let (builder, tools) = agent(Script::new().calls(uses));
    let agent = builder.hook(rule()).parallel_tools(true).build().unwrap();
    let reply = go(&agent);
    assert_eq!((ran(&tools), asked(&reply).len()), ([22, 21, 0, 0], 21));
}

#[test]
fn refusing_answers_the_model_and_confirmations_do_not_help() {
    let (builder, tools) =
        agent(script(&[&["browse"], &["recall"], &["send"], &["browse", "recall"]]));
    let agent = builder.hook(rule().refuse()).build().unwrap();
    assert_eq!(go(&agent).text(), "done");
    // What was refused left no label, so the others go on.
    assert_eq!(ran(&tools), [2, 2, 0, 0]);
    let refused = &results(&agent)[2];
    assert!(
        refused.is_error && refused.output.as_str().starts_with("`send` brings changes of state")
    );
}

#[test]
fn a_tool_without_labels_is_asked_about_unless_it_is_said_what_it_does() {
    let lax = RuleOfTwo::new().unlabelled(Labels::NONE);
    for (rule, is_asked) in [(RuleOfTwo::new(), true), (lax, false)] {
        let (builder, tools) = agent(script(&[&["add"]]));
        let agent = builder.hook(rule).build().unwrap();
        assert_eq!(asked(&go(&agent)).len(), usize::from(is_asked));
        assert_eq!(ran(&tools)[3], usize::from(!is_asked));
    }
}

#[test]
fn labels_are_of_a_thread_and_outlive_calls() {
    let batches: [&[&str]; 2] = [&["browse"], &["recall"]];
    let script = script(&batches).says("one").calls([call("send")]).says("two");
    let (builder, tools) = agent(script.calls([call("send")]));
    let agent = builder.hook(rule()).build().unwrap();
    assert_eq!(go(&agent).text(), "one");
    let other = block_on(agent.call_with(CallOptions::new().thread("other"), "go")).unwrap();
    assert_eq!((other.text().as_str(), ran(&tools)[2]), ("two", 1));
    assert_eq!(asked(&go(&agent)).len(), 1);
    assert_eq!(ran(&tools)[2], 1);

    // They are values of the thread, for another process.
    let values = agent.threads().memory("default").unwrap().values();
    let later = self::agent(self::script(&[&["send"]])).0.hook(rule()).build().unwrap();
    later.threads().memory("default").unwrap().set_values(values);
    assert_eq!(asked(&go(&later)).len(), 1);
}

#[test]
fn once_a_thread_has_all_three_every_labelled_call_is_asked_about() {
    let (builder, tools) =
        agent(script(&[&["browse"], &["recall"], &["send"], &["add"], &["browse"]]));
    let agent = builder.hook(rule()).build().unwrap();
    assert_eq!(asked(&go(&agent))[0].0, "send");
    assert_eq!(asked(&confirm(&agent, "send"))[0].0, "browse");
    assert_eq!(ran(&tools), [1, 1, 1, 1]);
}

#[test]
fn a_call_that_does_not_run_leaves_no_label() {
    let deny = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "browse" => event.refuse("denied"),
        _ => Flow::Continue,
    });
    let invalid = ToolUse::invalid("x", "browse", "{oops");
    let script = Script::new().calls([invalid, call("browse")]);
    let (builder, tools) = agent(script.calls([call("recall")]).calls([call("send")]));
    let agent = builder.hook(rule()).hook(deny).build().unwrap();
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [0, 1, 1, 0]);
}

#[test]
fn a_call_that_ran_and_failed_leaves_its_label() {
    let model = script(&[&["browse"], &["recall"], &["send"]]);
    let agent = ReActAgent::builder("bot").model(model).hook(rule());
    let agent = agent.tool(Calls::new("browse").fails("foreign text"));
    let agent = agent.tool(Calls::new("recall").answers("x")).tool(Calls::new("send"));
    assert_eq!(asked(&go(&agent.build().unwrap())).len(), 1);
}

#[test]
fn labels_of_a_sub_agent_count_for_its_caller_and_the_other_way_round() {
    let helper = |tools: &[&str]| {
        let (builder, ran) = agent_named("helper", script(&[tools]));
        (builder.build().unwrap(), ran)
    };
    let task = || ToolUse::new("h", "helper", json!({ "task": "x" }));

    // The sub-agent browses and recalls, its caller sends.
    let (inner, _) = helper(&["browse", "recall"]);
    let (builder, tools) = agent(Script::new().calls([task()]).calls([call("send")]));
    let bot = builder.tool(inner.to_tool("Helps")).hook(rule()).build().unwrap();
    let reply = go(&bot);
    let [(id, why)] = &asked(&reply)[..] else { panic!("{reply:?}") };
    assert!(id == "send" && why.contains("`browse` (call `browse` of agent `helper`)"), "{why}");
    assert_eq!(ran(&tools), [0; 4]);

    // The caller browses and recalls, the sub-agent sends.
    let (inner, sent) = helper(&["send"]);
    let script = Script::new().calls([call("browse"), call("recall")]).calls([task()]);
    let bot = agent(script).0.tool(inner.to_tool("Helps")).hook(rule()).build().unwrap();
    let reply = go(&bot);
    let [(id, why)] = &asked(&reply)[..] else { panic!("{reply:?}") };
    assert!(id == "h/send" && why.contains("of agent `bot`"), "{id} {why}");
    assert_eq!(ran(&sent)[2], 0);
    assert_eq!(confirm(&bot, "h/send").text(), "done");
    assert_eq!(ran(&sent)[2], 1);
}

#[test]
fn a_thread_value_that_is_not_known_refuses() {
    let (builder, tools) = agent(script(&[&["add", "browse"]]));
    let agent = builder.hook(rule()).build().unwrap();
    let values = json!({ "rule_of_two": 5 });
    agent.threads().memory("default").unwrap().set_values(values.as_object().unwrap().clone());
    assert_eq!(go(&agent).text(), "done");
    assert_eq!(ran(&tools), [0, 0, 0, 1]);
    assert!(
        results(&agent)[1].output.as_str().starts_with("the labels of the thread are not known")
    );
}

#[test]
fn the_plan_names_tools_without_a_label_unless_they_have_one_by_choice() {
    let warnings = |rule: RuleOfTwo| {
        let agent = agent(Script::new()).0.hook(rule).build().unwrap();
        agent.hook_plan().warnings().iter().map(ToString::to_string).collect::<String>()
    };
    let some = || RuleOfTwo::new().untrusted_input(["browse"]).private_data(["recall"]);
    let text = warnings(some());
    assert!(text.contains("the tools `send`, `add` have no labels"), "{text}");
    assert_eq!(warnings(some().unlabelled(Labels::NONE)), "");
    assert_eq!(warnings(some().changes_state(["send"]).harmless(["add"])), "");
}
