//! Tests of `Logging`.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::observe::Logging;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Probe, Script};
use hooks_core::HookRole;
use hooks_fixtures::Reports;
use serde_json::json;
use tracing::Level;

/// Keeps what is written.
#[derive(Clone, Debug, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn read(secret: &str) -> ToolUse {
    ToolUse::new("1", "read", json!({ "path": secret }))
}

/// An agent that calls the tool `read` once.
fn agent(log: Logging) -> ReActAgent {
    let script = Script::new().calls([read("SECRET-in")]).says("SECRET-end");
    let tool = Calls::new("read").answers("SECRET-out");
    ReActAgent::builder("bot").model(script).tool(tool).hook(log).build().unwrap()
}

fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

#[test]
fn each_event_is_one_line_of_fields_without_content() {
    let screen = Screen::default();
    let log = Logging::to_writer(screen.clone()).max_level(Level::TRACE);
    block_on(agent(log).call("SECRET-prompt")).unwrap();
    let lines = screen.lines();
    let events: Vec<_> = lines.iter().map(|line| field(line, "event").unwrap()).collect();
    let expected = "PRE_CALL PRE_REASONING REASONING_CHUNK POST_REASONING PRE_ACTING POST_ACTING \
                    PRE_REASONING REASONING_CHUNK POST_REASONING POST_CALL SETTLED";
    assert_eq!(events.join(" "), expected);
    assert!(!screen.text().contains("SECRET"), "{}", screen.text());
    assert!(lines.iter().all(|line| field(line, "agent") == Some("bot")));
    assert_eq!((field(&lines[0], "level"), field(&lines[0], "bytes")), (Some("INFO"), Some("13")));
    assert_eq!(field(&lines[1], "tools"), Some("1"));
    assert_eq!(
        (field(&lines[5], "tool"), field(&lines[5], "is_error")),
        (Some("read"), Some("false"))
    );
    assert_eq!(field(&lines[10], "outcome"), Some("finished"));
}

/// What stands in `content`, as it was.
fn content(line: &str) -> Option<String> {
    let (_, value) = line.split_once(" content=")?;
    let Some(quoted) = value.strip_prefix('"') else { return Some(value.to_owned()) };
    let quoted = quoted.strip_suffix('"').expect("it ends the line");
    Some(quoted.replace("\\n", "\n").replace("\\\"", "\""))
}

#[test]
fn the_bytes_of_a_log_without_content_are_those_of_the_content() {
    let log = |has_content: bool| {
        let screen = Screen::default();
        let log = Logging::to_writer(screen.clone()).max_level(Level::TRACE).content(has_content);
        let texts = [ContentBlock::text(""), ContentBlock::text("one"), ContentBlock::text("two")];
        let input = Msg::from_blocks(Role::User, "ada", texts.to_vec());
        block_on(agent(log).call(vec![input, Msg::user("\u{e9}t\u{e9}")])).unwrap();
        screen.lines()
    };
    let (without, with) = (log(false), log(true));
    assert_eq!(without.len(), with.len());
    let mut compared = 0;
    for (without, with) in without.iter().zip(&with) {
        assert_eq!(field(without, "bytes"), field(with, "bytes"));
        assert_eq!(content(without), None);
        // A request has the content of its last message, and the bytes of all.
        let is_request = field(with, "event") == Some("PRE_REASONING");
        if let Some(content) = content(with).filter(|_| !is_request) {
            assert_eq!(field(with, "bytes"), Some(&*content.len().to_string()), "{with}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7, "{with:?}");
}

#[test]
fn content_is_logged_by_choice_as_earlier_hooks_left_it() {
    let screen = Screen::default();
    let redact_input = on(|event: &mut PreCall<'_>| {
        event.set_messages(Msg::user("masked prompt"));
    });
    let redact_result = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output.map_text(|text| text.replace("SECRET", "masked"));
    });
    // A later hook that adds a secret to what runs.
    let key =
        on(|event: &mut PreActing<'_>| event.tool_use_mut().input["key"] = json!("SECRET-key"));
    let script = Script::new().calls([read("in")]).says("the end");
    let builder =
        ReActAgent::builder("bot").model(script).tool(Calls::new("read").answers("SECRET-out"));
    let log = Logging::to_writer(screen.clone()).content(true);
    let agent = builder
        .hook(redact_input.named("input"))
        .hook(redact_result.named("result"))
        .hook(key.named("key"))
        .hook(log)
        .build()
        .unwrap();
    block_on(agent.call("SECRET prompt")).unwrap();
    let text = screen.text();
    for content in ["masked prompt", "masked-out", r#"read {\"path\":\"in\"}"#, "the end"] {
        assert!(text.contains(content), "{content}: {text}");
    }
    assert!(!text.contains("SECRET"), "{text}");
}

#[test]
fn the_text_of_a_failed_tool_is_that_of_its_redacted_result() {
    let screen = Screen::default();
    let redact = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output.map_text(|text| text.replace("SECRET", "masked"));
    });
    let script = Script::new().calls([read("in")]).says("done");
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("read").fails("SECRET"));
    let log = Logging::to_writer(screen.clone()).content(true);
    block_on(builder.hook(redact).hook(log).build().unwrap().call("go")).unwrap();
    assert!(screen.text().contains("event=ERROR") && screen.text().contains("error=Failed"));
    assert!(screen.text().contains("masked") && !screen.text().contains("SECRET"));
}

#[test]
fn no_text_breaks_a_line_or_hides_in_it() {
    let screen = Screen::default();
    let log = Logging::to_writer(screen.clone()).content(true);
    let text = "a\nevent=FORGED \r\u{1b}[2J\u{2028}\u{202e}\u{85}\"q\\ 漢字";
    let options = CallOptions::new().thread("t\nlevel=ERROR");
    let agent =
        ReActAgent::builder("bot").model(Script::new().says("ok")).hook(log).build().unwrap();
    block_on(agent.call_with(options, text)).unwrap();
    let lines = screen.lines();
    assert_eq!(lines.len(), 5);
    let expected = r#"content="a\nevent=FORGED \u{d}\u{1b}[2J\u{2028}\u{202e}\u{85}\"q\\ 漢字""#;
    assert!(lines[0].ends_with(expected), "{}", lines[0]);
    assert!(lines.iter().all(|line| line.contains(r#"thread="t\nlevel=ERROR""#)));
    let hidden = |char: char| char.is_control() && char != '\n';
    assert!(!screen.text().contains(hidden));
}

/// A writer that fails, once with a part of the line.
#[derive(Debug)]
struct Broken(Screen, bool);

impl Write for Broken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.1) {
            self.0.write_all(&bytes[..4])?;
            return Err(io::Error::other("the disk is full"));
        }
        assert!(!bytes.windows(9).any(|part| part == b"POST_CALL"), "a bug");
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_or_panics_is_reported_once_and_then_counted() {
    let (reports, records) = Reports::up_to(Level::WARN);
    let screen = Screen::default();
    let log = Logging::to_writer(Broken(screen.clone(), true));
    let agent = agent(log.clone());
    tracing::subscriber::with_default(reports, || block_on(agent.call("go"))).unwrap();
    assert_eq!(log.failures(), 2);
    let reported = records.take();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("the disk is full"));
    let lines = screen.lines();
    assert_eq!(lines[0], "time");
    assert!(
        lines[1..].iter().all(|line| line.is_empty() || line.starts_with("time=")),
        "{lines:?}"
    );
}

#[test]
fn events_of_tracing_have_their_levels_and_fields() {
    let (reports, records) = Reports::up_to(Level::DEBUG);
    let log = Logging::new().level(EventKind::PreActing, Level::WARN);
    tracing::subscriber::with_default(reports, || block_on(agent(log).call("SECRET"))).unwrap();
    let logged = records.take();
    let logged: Vec<_> = logged.iter().filter(|line| line.contains(" event=")).collect();
    let starts: Vec<_> = logged.iter().map(|line| line.split(" agent").next().unwrap()).collect();
    assert_eq!(starts[0], r#"INFO event="PRE_CALL""#);
    assert_eq!(starts[1], r#"DEBUG event="PRE_REASONING""#);
    assert_eq!(starts[3], r#"WARN event="PRE_ACTING""#);
    assert!(logged.iter().all(|line| !line.contains("SECRET") && !line.contains("message=")));
    assert!(logged[4].contains(r#"tool="read""#) && logged[4].contains("is_error=false"));
}

#[test]
fn a_call_that_fails_is_logged_as_an_error_at_its_end() {
    let screen = Screen::default();
    let log = Logging::to_writer(screen.clone());
    let script = Script::new().fails(ModelError::status("SECRET", 503));
    let agent = ReActAgent::builder("bot").model(script).hook(log).build().unwrap();
    block_on(agent.call("go")).unwrap_err();
    let lines = screen.lines();
    let [.., error, end] = &*lines else { panic!("{lines:?}") };
    assert_eq!((field(error, "level"), field(error, "error")), (Some("WARN"), Some("Model")));
    assert_eq!((field(end, "level"), field(end, "outcome")), (Some("ERROR"), Some("failed")));
    assert!(!screen.text().contains("SECRET"));
}

#[test]
fn who_refused_a_tool_call_is_logged() {
    let screen = Screen::default();
    let guard = on(|event: &mut PreActing<'_>| event.refuse("never")).named("guard");
    let script = Script::new().calls([read("x")]).says("done");
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("read"));
    let agent = builder.hook(guard).hook(Logging::to_writer(screen.clone())).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let lines = screen.lines();
    let line = lines.iter().find(|line| line.contains("POST_ACTING")).unwrap();
    assert_eq!(
        (field(line, "answered_by"), field(line, "is_error")),
        (Some("guard"), Some("true"))
    );
}

#[test]
fn events_above_the_level_of_a_writer_are_not_received() {
    let log = Logging::to_writer(io::sink()).max_level(Level::INFO);
    let received = log.events();
    assert!(received.contains(EventKind::PreCall) && received.contains(EventKind::Settled));
    assert!(
        !received.contains(EventKind::PreActing) && !received.contains(EventKind::ReasoningChunk)
    );
    assert!(block_on(Probe::new(log).pre_acting(read("x"))).is_err());
}

#[test]
fn only_a_log_with_content_observes_it() {
    assert_eq!(Logging::new().role(), None);
    assert_eq!(Logging::new().content(true).role(), Some(HookRole::Observes));
    assert_eq!(Logging::new().priority(), priority::LOGGING);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_calls_at_once_are_whole() {
    let screen = Screen::default();
    let log = Logging::to_writer(screen.clone()).content(true);
    let model = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).hook(log).build().unwrap());
    let call = |number: usize| {
        let options = CallOptions::new().thread(number.to_string());
        tokio::spawn(agent.clone().call_owned(options, "x".repeat(number)))
    };
    for ended in futures::future::join_all((1..=64).map(call)).await {
        ended.unwrap().unwrap();
    }
    let lines = screen.lines();
    assert_eq!(lines.len(), 64 * 5);
    assert!(lines.iter().all(|line| line.starts_with("time=")));
}

/// A hook that redacts results.
struct Redactor;

impl AgentHook for Redactor {
    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Redacts)
    }

    fn events(&self) -> EventMask {
        EventKind::PostActing.into()
    }
}

#[test]
fn a_plan_warns_of_a_log_of_content_before_a_redactor() {
    let warnings = |log: Logging, priority: i32| {
        let builder = ReActAgent::builder("bot").model(Script::new());
        let builder = builder.hook(log).hook(Redactor.with_priority(priority));
        builder.build().unwrap().hook_plan().warnings().len()
    };
    assert!(warnings(Logging::new().content(true), 900) > 0);
    assert_eq!(warnings(Logging::new().content(true), priority::SECURITY), 0);
    assert_eq!(warnings(Logging::new(), 900), 0);
}
