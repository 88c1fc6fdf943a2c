//! A hook that rewrites all that a call is given and all that it says.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_core::hook::{Rewrite, TextBlocked};
use hooks_agent_core::message::{Media, ToolOutput};
use hooks_agent_core::model::{Finding, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

const SECRET: &str = "hunter2";

fn find(text: &str, from: usize) -> Option<usize> {
    Some(from + text[from..].find(SECRET)?)
}

fn mask() -> Rewrite {
    let mask = Rewrite::new(SECRET.len(), |text, from| {
        let start = find(text, from)?;
        Some(Finding::Replace { range: start..start + SECRET.len(), text: "***".to_owned() })
    });
    everywhere(mask)
}

fn block() -> Rewrite {
    let block = Rewrite::new(SECRET.len(), |text, from| {
        let start = find(text, from)?;
        Some(Finding::Block { range: start..start + SECRET.len(), reason: "a secret".to_owned() })
    });
    everywhere(block)
}

fn everywhere(rewrite: Rewrite) -> Rewrite {
    rewrite.input(true).tool_results(true).tool_arguments(true)
}

/// Notes the `Debug` form of every event and error after the rewriter.
struct Everything(Arc<Mutex<String>>);

impl AgentHook for Everything {
    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let mut log = self.0.lock().unwrap();
        write!(log, "{event:?}").unwrap();
        if let HookEvent::Error(event) = event {
            log.push_str(&event.error().to_string());
        }
        Ok(Flow::Continue)
    }

    fn priority(&self) -> i32 {
        priority::LOGGING
    }

    fn inherit(&self) -> bool {
        true
    }
}

/// All that is known of a call: events, stream, memory, requests, and its reply.
fn known_of(
    builder: impl FnOnce() -> (hooks_agent_core::react::ReActAgentBuilder, Arc<Script>),
) -> String {
    let log = Arc::new(Mutex::new(String::new()));
    let (builder, script) = builder();
    let agent = builder.hook(mask()).hook(Everything(log.clone())).build().unwrap();
    block_on(async {
        let mut stream = agent.stream(format!("my word is {SECRET}"));
        while let Some(event) = stream.next().await {
            write!(log.lock().unwrap(), "{event:?}").unwrap();
        }
    });
    let (history, requests) =
        (agent.threads().memory("default").unwrap().messages(), script.requests());
    format!("{} {history:?} {requests:?}", log.lock().unwrap())
}

fn tool(
    answer: impl Fn(ToolContext) -> Result<ToolOutput, String> + Send + Sync + 'static,
) -> FunctionTool {
    FunctionTool::with_context("tool", "Works.", move |_: Value, cx: ToolContext| {
        cx.progress(format!("working on {SECRET}"));
        let answer = answer(cx);
        async move { answer }
    })
}

fn script() -> Arc<Script> {
    let call = ToolUse::new("1", "tool", json!({ "word": [SECRET, { SECRET: 1 }] }));
    let invalid = ToolUse::invalid("2", "tool", format!("{{{SECRET}"));
    let script = Script::new().calls([call, invalid]);
    Arc::new(script.thinks(format!("hm {SECRET}"), format!("your word is {SECRET}!")))
}

#[test]
fn what_is_rewritten_everywhere_is_known_nowhere() {
    let outputs: [fn(ToolContext) -> Result<ToolOutput, String>; 3] = [
        |cx| Ok(ToolOutput::text(format!("{SECRET} {:?}", cx.tool_use()))),
        |_| {
            let output = ToolOutput::json(json!({ "word": SECRET, SECRET: [SECRET] }));
            Ok(output.with_block(ContentBlock::text(SECRET)))
        },
        |_| Err(format!("no {SECRET}")),
    ];
    for output in outputs {
        let known = known_of(|| {
            let script = script();
            let builder = ReActAgent::builder("bot").model(script.clone()).tool(tool(output));
            (builder, script)
        });
        assert!(known.contains("***") && !known.contains(SECRET), "{known}");
    }
}

#[test]
fn what_hooks_answer_is_rewritten_too() {
    let answers: [(&str, Box<dyn hooks_agent_core::hook::DynAgentHook>); 3] = [
        (
            "call",
            Box::new(on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", SECRET)))),
        ),
        (
            "round",
            Box::new(on(|event: &mut PreReasoning<'_>| {
                event.answer(Msg::assistant("bot", SECRET))
            })),
        ),
        ("tool", Box::new(on(|event: &mut PreActing<'_>| event.refuse(format!("no {SECRET}"))))),
    ];
    for (name, hook) in answers {
        let known = known_of(|| {
            let script = script();
            let builder =
                ReActAgent::builder("bot").model(script.clone()).tool(tool(|_| Ok("".into())));
            (builder.hook(hook), script)
        });
        assert!(known.contains("***") && !known.contains(SECRET), "{name}: {known}");
    }
}

#[test]
fn sub_agents_are_rewritten_too() {
    let known = known_of(|| {
        let echo =
            ScriptedModel::new("echo", |request| format!("{SECRET} {}", request.last_text()));
        let helper = ReActAgent::builder("helper").model(echo).build().unwrap();
        let call = ToolUse::new("1", "helper", json!({ "task": SECRET }));
        let script = Arc::new(Script::new().calls([call]).says("done"));
        let builder = ReActAgent::builder("bot").model(script.clone());
        (builder.tool(helper.to_tool("Helps.")), script)
    });
    assert!(known.contains("***") && !known.contains(SECRET), "{known}");
}

#[test]
fn an_observed_message_is_rewritten_before_the_model_receives_it() {
    let script = Arc::new(Script::new().says("done"));
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(mask()).build().unwrap();
    let cx = agent.context(CallOptions::new());
    block_on(agent.observe(cx, Msg::user(SECRET))).unwrap();
    block_on(agent.call("go")).unwrap();
    assert!(!format!("{:?}", script.requests()).contains(SECRET));
}

#[test]
fn other_blocks_and_unchanged_messages_stay_as_they_are() {
    let image = ContentBlock::Image(Media::url("image/png", "https://a.b/c.png"));
    let msg = Msg::user(format!("see {SECRET}")).with(image.clone()).with_metadata("id", 7);
    let script = Arc::new(Script::new().says("done"));
    let agent = ReActAgent::builder("bot").model(script).hook(mask()).build().unwrap();
    block_on(agent.call(vec![Msg::user("first"), msg.clone()])).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    assert_eq!(history.get(0), Some(&Msg::user("first")));
    let mut expected = msg;
    expected.content = vec![ContentBlock::text("see ***"), image];
    assert_eq!(history.get(1), Some(&expected));
}

#[test]
fn a_blocked_input_fails_the_call_and_memory_keeps_nothing() {
    let script = Arc::new(Script::new().says("done"));
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(block()).build().unwrap();
    let error = block_on(agent.call(SECRET)).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    let blocked = source.downcast_ref::<TextBlocked>().or_else(|| source.source()?.downcast_ref());
    assert_eq!(blocked.unwrap().reason, "a secret");
    assert!(
        agent.threads().memory("default").unwrap().messages().is_empty()
            && script.requests().is_empty()
    );
}

#[test]
fn a_blocked_answer_fails_the_call_also_in_arguments() {
    let call = ToolUse::new("1", "tool", json!({ "word": SECRET }));
    for script in [Script::new().says(format!("it is {SECRET}")), Script::new().calls([call])] {
        let tool = hooks_agent_core::testing::Calls::new("tool");
        let agent = ReActAgent::builder("bot").model(script).tool(tool.clone()).hook(block());
        let agent = agent.build().unwrap();
        let error = block_on(agent.call("go")).unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })), "{error}");
        assert!(tool.inputs().is_empty());
        assert_eq!(agent.threads().memory("default").unwrap().messages().len(), 1);
    }
}

#[test]
fn a_blocked_result_is_an_error_that_the_model_reads() {
    for fails in [false, true] {
        let output = move |_| if fails { Err(format!("no {SECRET}")) } else { Ok(SECRET.into()) };
        let call = ToolUse::new("1", "tool", json!({}));
        let script = Arc::new(Script::new().calls([call]).says("done"));
        let log = Arc::new(Mutex::new(String::new()));
        let agent =
            ReActAgent::builder("bot").model(script.clone()).tool(tool(output)).hook(block());
        let agent = agent.hook(Everything(log.clone())).build().unwrap();
        block_on(agent.call("go")).unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!((result.is_error, result.output.as_str()), (true, "a secret"));
        let known = format!("{} {:?} {history:?}", log.lock().unwrap(), script.requests());
        assert!(!known.contains(SECRET), "{known}");
    }
}

#[test]
fn the_rewriter_may_depend_on_the_call() {
    struct Word(&'static str);

    let hook = Rewrite::per_call(|cx| {
        let word = cx.get::<Word>().map_or("", |word| word.0);
        hooks_agent_core::model::Rewriter::within(16, move |text, from| {
            let start = from + text[from..].find(word).filter(|_| !word.is_empty())?;
            Some(Finding::Replace { range: start..start + word.len(), text: "-".to_owned() })
        })
    });
    let echo = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(echo).hook(hook.input(true)).build().unwrap();
    let call =
        |word| block_on(agent.call_with(CallOptions::new().value(Word(word)), "ada and bob"));
    assert_eq!(call("ada").unwrap().text(), "- and bob");
    assert_eq!(call("bob").unwrap().text(), "ada and -");
}

#[test]
fn places_that_are_not_chosen_stay_as_they_are() {
    let rewrites = |rewrite: Rewrite| {
        let script = script();
        let answer = |_| Ok(ToolOutput::text(SECRET));
        let agent =
            ReActAgent::builder("bot").model(script.clone()).tool(tool(answer)).hook(rewrite);
        let agent = agent.build().unwrap();
        block_on(agent.call(format!("my word is {SECRET}"))).unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let is_clean = |msg: &Msg| !serde_json::to_string(&msg.content).unwrap().contains(SECRET);
        history.iter().map(is_clean).collect::<Vec<_>>()
    };
    let none = || {
        let find = |text: &str, from: usize| {
            let start = find(text, from)?;
            Some(Finding::Replace { range: start..start + SECRET.len(), text: "***".to_owned() })
        };
        Rewrite::new(SECRET.len(), find).output(false)
    };
    // The input, the tool calls, their results, and the answer with thoughts.
    assert_eq!(rewrites(none()), [false; 5]);
    assert_eq!(rewrites(none().input(true)), [true, false, false, false, false]);
    // The result of the second call quotes its arguments.
    assert_eq!(rewrites(none().tool_arguments(true)), [false, true, false, true, false]);
    assert_eq!(rewrites(none().tool_results(true)), [false, false, true, true, false]);
    assert_eq!(rewrites(none().output(true)), [false, false, false, false, true]);
}

/// The caller brings a result with the tool call that ran there.
#[test]
fn the_tool_call_that_ran_is_rewritten_with_arguments_alone() {
    for (arguments, is_rewritten) in [(true, true), (false, false)] {
        let rewrite = mask().tool_arguments(arguments);
        let stop = on(|event: &mut PreActing<'_>| event.stop());
        let script = Script::new().calls([ToolUse::new("1", "tool", json!({}))]).says("done");
        let agent = ReActAgent::builder("bot").model(script.clone()).hook(rewrite).hook(stop);
        let agent = agent.tool(tool(|_| Ok("ran".into()))).build().unwrap();
        let call = block_on(agent.call("go")).unwrap().pending()[0].call.clone();
        let mut result = ToolResult::success(&call, "nothing to find");
        result.ran = Some(Arc::new(ToolUse::new("1", "tool", json!({ "word": SECRET }))));
        block_on(agent.call(Msg::tool_result(result))).unwrap();
        let request = script.requests().pop().unwrap();
        let read = request.messages.iter().flat_map(Msg::tool_results).next().unwrap();
        let word = if is_rewritten { "***" } else { SECRET };
        assert_eq!(read.ran.as_ref().unwrap().input, json!({ "word": word }));
        let history = block_on(agent.threads().history("default")).unwrap();
        let kept = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(kept.ran, read.ran);
    }
}
