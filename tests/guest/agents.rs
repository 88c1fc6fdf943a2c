//! Each agent's events, as it writes them, and the answers that hold in it.

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::event::{Flow, PostActing, PostReasoning, PreActing, PreCall};
use hooks_agent_core::hook::on;
use hooks_agent_core::message::Msg;
use hooks_agent_core::react::HookSet;
use hooks_agent_guest::{Answer, Dialect, Guard, GuestThread, Received};
use hooks_core::HookResult;
use serde_json::{Value, json};

use crate::sources::Fixed;

/// Hooks that do what the text of an event says.
fn obedient() -> Guard {
    let tools = on(|event: &mut PreActing<'_>| {
        let input = event.tool_use().input.to_string();
        if input.contains("DENY") {
            return event.refuse("not allowed");
        }
        if input.contains("ASK") {
            return event.ask("may it?");
        }
        if input.contains("END") {
            return event.jump_to_end();
        }
        if input.contains("REWRITE") {
            let changed = input.replace("REWRITE", "harmless");
            event.tool_use_mut().input = serde_json::from_str(&changed).unwrap();
        }
        Flow::Continue
    });
    let fails = on(|event: &mut PostActing<'_>| -> HookResult {
        if event.tool_result().output.to_string().contains("UNKNOWN") {
            return Err("on purpose".into());
        }
        Ok(())
    });
    let prompts = on(|event: &mut PreCall<'_>| {
        let is_bad = event.messages().iter().any(|msg| msg.text().contains("DENY"));
        if is_bad { event.answer(Msg::assistant("bot", "not this")) } else { Flow::Continue }
    });
    let goes_on = on(|event: &mut PostReasoning<'_>| {
        if event.message().text().contains("TOO EARLY") {
            return event.jump_to_model(vec![Msg::user("run the tests")]).unwrap();
        }
        Flow::Continue
    });
    let masks = SensitiveWords::new(WordList::new(["hunter2"]).unwrap()).tool_results(true);
    let sets = [
        HookSet::of(tools),
        HookSet::of(fails),
        HookSet::of(prompts),
        HookSet::of(goes_on),
        HookSet::of(masks),
    ];
    Guard::new(Fixed::of(HookSet::join(&sets)))
}

/// What the agent whose event it is gets.
async fn answer(event: &Value) -> Answer {
    answer_of(event, None, None).await
}

async fn answer_of(event: &Value, agent: Option<&str>, name: Option<&str>) -> Answer {
    let agent = agent.map(|agent| agent.parse::<Dialect>().unwrap());
    match Received::read(event.to_string().as_bytes(), agent, name) {
        Ok(received) => received.answer(&obedient(), &mut GuestThread::default()).await,
        Err(unread) => unread.answer(),
    }
}

async fn json_of(event: &Value) -> Value {
    let answer = answer(event).await;
    assert_eq!((answer.code, &answer.error), (0, &None), "{answer:?}");
    answer.json.unwrap()
}

/// The event with more fields.
fn with(event: &Value, more: Value) -> Value {
    let mut event = event.clone();
    let Value::Object(more) = more else { panic!("no fields: {more}") };
    event.as_object_mut().unwrap().extend(more);
    event
}

fn is_withheld(text: &Value) -> bool {
    let text = text.as_str().unwrap();
    text.starts_with("[withheld: ") && !text.contains("UNKNOWN")
}

#[tokio::test]
async fn claude_code() {
    let base = json!({
        "session_id": "s", "transcript_path": "/home/ada/.claude/projects/p/s.jsonl",
        "cwd": "/p", "prompt_id": "1", "permission_mode": "default", "effort": { "level": "high" },
    });
    let tool = |command: &str| {
        let input = json!({ "command": command, "description": "does" });
        let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input, "tool_use_id": "t" });
        with(&base, event)
    };
    let says = |specific: Value| {
        let mut specific = specific;
        specific["hookEventName"] = json!("PreToolUse");
        json!({ "hookSpecificOutput": specific })
    };
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    let denied = json!({ "permissionDecision": "deny", "permissionDecisionReason": "not allowed" });
    assert_eq!(json_of(&tool("DENY")).await, says(denied));
    let asked = json_of(&tool("ASK")).await;
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    let rewritten = json!({ "updatedInput": { "command": "harmless", "description": "does" } });
    assert_eq!(json_of(&tool("REWRITE")).await, says(rewritten));
    // `continue` alone runs the tool first.
    let ended = json_of(&tool("END")).await;
    assert_eq!(ended["continue"], false);
    assert_eq!(ended["hookSpecificOutput"]["permissionDecision"], "deny");

    let result = |tool: &str, response: Value| {
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {},
            "tool_response": response, "tool_use_id": "t", "duration_ms": 3,
        });
        with(&base, event)
    };
    let shell = |stdout: &str| json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
    assert_eq!(json_of(&result("Bash", shell("fine"))).await, json!({}));
    let masked = json_of(&result("Bash", shell("it is hunter2"))).await;
    assert_eq!(masked["hookSpecificOutput"]["updatedToolOutput"], shell("it is *******"));
    let parts = json!([{ "type": "text", "text": "it is hunter2" }]);
    let masked = json_of(&result("mcp__bank__pay", parts)).await;
    assert_eq!(masked["hookSpecificOutput"]["updatedToolOutput"], "it is *******");
    let withheld = json_of(&result("Bash", shell("UNKNOWN"))).await;
    let left = &withheld["hookSpecificOutput"]["updatedToolOutput"];
    assert!(is_withheld(&left["stdout"]) && left["interrupted"] == false, "{withheld}");
    // A result of another shape would be ignored, so the run ends before the model reads it.
    let read = json!({ "type": "text", "file": { "filePath": "/p/a", "content": "UNKNOWN" } });
    let ended = json_of(&result("Read", read)).await;
    assert_eq!(ended["continue"], false);

    let prompt =
        |text: &str| with(&base, json!({ "hook_event_name": "UserPromptSubmit", "prompt": text }));
    assert_eq!(json_of(&prompt("hello")).await, json!({}));
    let blocked = json!({ "decision": "block", "reason": "not this" });
    assert_eq!(json_of(&prompt("DENY")).await, blocked);
    let expansion = with(&prompt("/DENY"), json!({ "hook_event_name": "UserPromptExpansion" }));
    assert_eq!(answer(&expansion).await.code, 2);

    let stop = |text: &str| {
        let event = json!({ "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": text });
        with(&base, event)
    };
    assert_eq!(json_of(&stop("done")).await, json!({}));
    let goes_on = json!({ "decision": "block", "reason": "run the tests" });
    assert_eq!(json_of(&stop("TOO EARLY")).await, goes_on);

    let settings = json!({ "hook_event_name": "ConfigChange", "source": "project_settings" });
    assert_eq!(answer(&with(&base, settings)).await.code, 2);
}

#[tokio::test]
async fn a_result_that_claude_code_takes_no_other_of_ends_the_run_at_its_batch() {
    let base = json!({
        "session_id": "s", "transcript_path": "/home/ada/.claude/projects/p/s.jsonl", "prompt_id": "1",
    });
    let call = |id: &str, said: &str| json!({ "tool_name": "Bash", "tool_input": {}, "tool_use_id": id, "tool_response": said });
    let batch = |calls: Value| {
        with(&base, json!({ "hook_event_name": "PostToolBatch", "tool_calls": calls }))
    };
    let read = |event: &Value| Received::read(event.to_string().as_bytes(), None, None).unwrap();
    let (guard, mut thread) = (obedient(), GuestThread::default());
    let mut answer =
        async |event: Value| read(&event).answer(&guard, &mut thread).await.json.unwrap();

    let done = with(
        &base,
        json!({
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "one",
            "tool_response": { "stdout": "hunter2", "stderr": "" },
        }),
    );
    answer(done).await;
    // The first was replaced at its own event.
    let both = json!([call("one", "hunter2"), call("two", "fine")]);
    assert_eq!(answer(batch(both)).await, json!({}));
    let failed = json!([call("three", "Exit code 7: hunter2")]);
    assert_eq!(answer(batch(failed)).await["decision"], "block");
}

#[tokio::test]
async fn codex() {
    let base = json!({
        "session_id": "s", "turn_id": "1", "transcript_path": "/home/ada/.codex/sessions/s.jsonl",
        "cwd": "/p", "model": "m", "permission_mode": "bypassPermissions",
    });
    let tool = |command: &str| {
        let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t" });
        with(&base, event)
    };
    let permission = |decision: &str, reason: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
        } })
    };
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(json_of(&tool("DENY")).await, permission("deny", "not allowed"));
    // A question would run the tool, and so would the end of the run.
    for command in ["ASK", "END"] {
        let denied = json_of(&tool(command)).await;
        assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{command}");
        assert_eq!(denied.as_object().unwrap().len(), 1, "an unknown field runs the tool");
    }
    let rewritten = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": { "command": "harmless" },
    } });
    assert_eq!(json_of(&tool("REWRITE")).await, rewritten);
    let asks = with(&tool("REWRITE"), json!({ "permission_mode": "default" }));
    let denied = json_of(&asks).await;
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");

    let result = |response: Value| {
        let event = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": response, "tool_use_id": "t" });
        with(&base, event)
    };
    assert_eq!(json_of(&result(json!("fine"))).await, json!({}));
    let masked = json!({ "decision": "block", "reason": "it is *******" });
    assert_eq!(json_of(&result(json!("it is hunter2"))).await, masked);
    assert!(is_withheld(&json_of(&result(json!("UNKNOWN"))).await["reason"]));

    let prompt =
        |text: &str| with(&base, json!({ "hook_event_name": "UserPromptSubmit", "prompt": text }));
    let blocked = json!({ "decision": "block", "reason": "not this" });
    assert_eq!(json_of(&prompt("DENY")).await, blocked);
}

#[tokio::test]
async fn what_codex_tells_a_sub_agent_begins_no_run() {
    let prompt = |agent: Value| {
        let event = json!({ "session_id": "s", "turn_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "go" });
        with(&event, agent).to_string()
    };
    let (guard, mut thread) = (obedient(), GuestThread::default());
    let mut run = async |event: String| {
        let received = Received::read(event.as_bytes(), None, None).unwrap();
        received.answer(&guard, &mut thread).await;
        thread.run.unwrap()
    };
    let first = run(prompt(json!({}))).await;
    let below = json!({ "agent_id": "below", "agent_type": "default" });
    assert_eq!(run(prompt(below)).await, first);
    assert_ne!(run(prompt(json!({}))).await, first);
}

#[tokio::test]
async fn gemini_cli() {
    let base = json!({
        "session_id": "s", "transcript_path": "/home/ada/.gemini/tmp/p/chats/s.jsonl", "cwd": "/p",
        "timestamp": "2026-01-01T00:00:00.000Z",
    });
    let tool = |command: &str| {
        let event = json!({ "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": { "command": command } });
        with(&base, event)
    };
    let deny = |reason: &str| json!({ "decision": "deny", "reason": reason });
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(json_of(&tool("DENY")).await, deny("not allowed"));
    // Without a terminal a question would never end.
    assert_eq!(json_of(&tool("ASK")).await["decision"], "deny");
    let rewritten = json!({ "hookSpecificOutput": {
        "hookEventName": "BeforeTool", "tool_input": { "command": "harmless" },
    } });
    assert_eq!(json_of(&tool("REWRITE")).await, rewritten);
    assert_eq!(json_of(&tool("END")).await["continue"], false);

    let result = |read: Value| {
        let event = json!({
            "hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": { "command": "ls" },
            "tool_response": { "llmContent": read, "returnDisplay": "it is hunter2 UNKNOWN" },
        });
        with(&base, event)
    };
    assert_eq!(json_of(&result(json!("fine"))).await, json!({}));
    assert_eq!(json_of(&result(json!("it is hunter2"))).await, deny("it is *******"));
    let parts = json!([{ "text": "it is hunter2" }]);
    assert_eq!(json_of(&result(parts)).await, deny("it is *******"));
    assert!(is_withheld(&json_of(&result(json!("UNKNOWN"))).await["reason"]));

    // The model reads the error of a call that failed.
    let mut failed = result(json!("it failed"));
    failed["tool_response"]["error"] = json!({ "message": "no file hunter2" });
    let masked = json_of(&failed).await;
    assert_eq!(masked["decision"], "deny");
    assert!(!masked.to_string().contains("hunter2"), "{masked}");

    let prompt =
        |text: &str| with(&base, json!({ "hook_event_name": "BeforeAgent", "prompt": text }));
    assert_eq!(json_of(&prompt("hello")).await, json!({}));
    assert_eq!(json_of(&prompt("DENY")).await, deny("not this"));
    let stop = json!({ "hook_event_name": "AfterAgent", "prompt": "go", "prompt_response": "TOO EARLY", "stop_hook_active": false });
    assert_eq!(json_of(&with(&base, stop)).await, deny("run the tests"));
}

#[tokio::test]
async fn copilot_cli() {
    let base = json!({ "sessionId": "s", "timestamp": 1, "cwd": "/p" });
    let tool = |command: &str| {
        with(&base, json!({ "toolName": "bash", "toolArgs": { "command": command } }))
    };
    let permission = |decision: &str, reason: &str| json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(json_of(&tool("DENY")).await, permission("deny", "not allowed"));
    assert_eq!(json_of(&tool("ASK")).await["permissionDecision"], "ask");
    assert_eq!(
        json_of(&tool("REWRITE")).await,
        json!({ "modifiedArgs": { "command": "harmless" } })
    );
    assert_eq!(json_of(&tool("END")).await["permissionDecision"], "deny");

    let result = |read: &str| {
        with(
            &tool("ls"),
            json!({ "toolResult": { "resultType": "success", "textResultForLlm": read } }),
        )
    };
    let block = |reason: &str| json!({ "decision": "block", "reason": reason });
    assert_eq!(json_of(&result("fine")).await, json!({}));
    assert_eq!(json_of(&result("it is hunter2")).await, block("it is *******"));
    assert!(is_withheld(&json_of(&result("UNKNOWN")).await["reason"]));
    assert_eq!(json_of(&with(&base, json!({ "prompt": "DENY" }))).await, block("not this"));

    // The events of Claude Code, as it writes them.
    let base = json!({ "session_id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p" });
    let tool = |command: &str| {
        let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": command } });
        with(&base, event)
    };
    assert_eq!(json_of(&tool("DENY")).await, permission("deny", "not allowed"));
    assert_eq!(json_of(&tool("ASK")).await["permissionDecision"], "deny");
    let rewritten = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "updatedInput": { "command": "harmless" },
    } });
    assert_eq!(json_of(&tool("REWRITE")).await, rewritten);
    let result = json!({
        "hook_event_name": "PostToolUse",
        "tool_result": { "result_type": "success", "text_result_for_llm": "it is hunter2" },
    });
    assert_eq!(json_of(&with(&tool("ls"), result)).await, block("it is *******"));
}

#[tokio::test]
async fn cline() {
    let base = json!({
        "clineVersion": "", "taskId": "t", "sessionContext": { "rootSessionId": "s" },
        "agent_id": "a", "parent_agent_id": null,
    });
    let tool = |command: &str| {
        let call = json!({ "id": "1", "name": "run_commands", "input": { "commands": [command] } });
        with(&base, json!({ "hookName": "tool_call", "tool_call": call }))
    };
    let cancel = |reason: &str| json!({ "cancel": true, "errorMessage": reason });
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(json_of(&tool("DENY")).await, cancel("not allowed"));
    for command in ["ASK", "END"] {
        assert_eq!(json_of(&tool(command)).await["cancel"], true);
    }
    let rewritten = json!({ "overrideInput": { "commands": ["harmless"] } });
    assert_eq!(json_of(&tool("REWRITE")).await, rewritten);
    let result = |said: &str| {
        let result = json!({
            "id": "1", "name": "run_commands", "input": { "commands": ["ls"] },
            "output": [{ "query": "ls", "result": said, "success": true }],
        });
        with(&base, json!({ "hookName": "tool_result", "tool_result": result }))
    };
    assert_eq!(json_of(&result("fine")).await, json!({}));
    for said in ["hunter2", "UNKNOWN"] {
        assert_eq!(json_of(&result(said)).await["cancel"], true, "{said}");
    }
}

#[tokio::test]
async fn opencode() {
    let event = |hook: &str, input: Value, output: Value| {
        let input = with(&json!({ "sessionID": "s", "callID": "c", "tool": "bash" }), input);
        json!({ "hook": hook, "input": input, "output": output })
    };
    let tool = |command: &str| {
        event("tool.execute.before", json!({}), json!({ "args": { "command": command } }))
    };
    let deny = |reason: &str| json!({ "deny": reason });
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(json_of(&tool("DENY")).await, deny("not allowed"));
    for command in ["ASK", "END"] {
        assert!(json_of(&tool(command)).await["deny"].is_string());
    }
    assert_eq!(json_of(&tool("REWRITE")).await, json!({ "args": { "command": "harmless" } }));
    let result =
        |output: Value| event("tool.execute.after", json!({ "args": { "command": "ls" } }), output);
    let masked = json_of(&result(json!({ "output": "it is hunter2" }))).await;
    assert_eq!(masked, json!({ "result": "it is *******" }));
    let parts = |text: &str| json!([{ "type": "text", "text": text }]);
    let masked = json_of(&result(json!({ "content": parts("it is hunter2") }))).await;
    assert_eq!(masked, json!({ "result": parts("it is *******") }));
    // Thrown: what is beside the text is not read either.
    assert!(is_withheld(&json_of(&result(json!({ "output": "UNKNOWN" }))).await["deny"]));
    let prompt = event("chat.message", json!({}), json!({ "parts": parts("DENY") }));
    assert_eq!(json_of(&prompt).await, deny("not this"));
}

#[tokio::test]
async fn qwen_code() {
    let base = json!({
        "session_id": "s", "transcript_path": "/home/ada/.qwen/projects/p/chats/s.jsonl", "cwd": "/p",
        "timestamp": "2026-01-01T00:00:00.000Z", "permission_mode": "yolo",
    });
    let tool = |command: &str| {
        let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "run_shell_command", "tool_input": { "command": command } });
        with(&base, event)
    };
    let decision = async |command: &str| {
        json_of(&tool(command)).await["hookSpecificOutput"]["permissionDecision"].clone()
    };
    assert_eq!(json_of(&tool("ls")).await, json!({}));
    assert_eq!(decision("DENY").await, "deny");
    assert_eq!(decision("ASK").await, "ask");
    // It takes no other arguments, and the end of the run is a deny.
    assert_eq!(decision("REWRITE").await, "deny");
    assert_eq!(decision("END").await, "deny");
    let result = |said: &str| {
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": "run_shell_command", "tool_input": { "command": "ls" },
            "tool_response": { "llmContent": said, "returnDisplay": said },
        });
        with(&base, event)
    };
    assert_eq!(json_of(&result("fine")).await, json!({}));
    let masked = json!({ "continue": false, "stopReason": "it is *******" });
    assert_eq!(json_of(&result("it is hunter2")).await, masked);
    assert!(is_withheld(&json_of(&result("UNKNOWN")).await["stopReason"]));
    let prompt = with(&base, json!({ "hook_event_name": "UserPromptSubmit", "prompt": "DENY" }));
    assert_eq!(json_of(&prompt).await, json!({ "decision": "block", "reason": "not this" }));
}

#[tokio::test]
async fn cursor() {
    let base = json!({ "conversation_id": "s", "generation_id": "1" });
    let deny = |reason: &str| json!({ "permission": "deny", "user_message": reason, "agent_message": reason });
    let allow = json!({ "permission": "allow" });
    for (name, said) in [
        ("preToolUse", json!({ "tool_name": "Shell", "tool_input": { "command": "X" } })),
        ("beforeShellExecution", json!({ "command": "X", "cwd": "/p" })),
        ("beforeMCPExecution", json!({ "tool_name": "pay", "tool_input": "{\"to\": \"X\"}" })),
        ("beforeReadFile", json!({ "file_path": "X", "content": "" })),
    ] {
        let event = |word: &str| {
            let said: Value = serde_json::from_str(&said.to_string().replace('X', word)).unwrap();
            with(&with(&base, json!({ "hook_event_name": name })), said)
        };
        assert_eq!(json_of(&event("a")).await, allow, "{name}");
        assert_eq!(json_of(&event("DENY")).await, deny("not allowed"), "{name}");
        for word in ["ASK", "REWRITE", "END"] {
            assert_eq!(json_of(&event(word)).await["permission"], "deny", "{name} {word}");
        }
    }
    let prompt = |text: &str| {
        with(&base, json!({ "hook_event_name": "beforeSubmitPrompt", "prompt": text }))
    };
    assert_eq!(json_of(&prompt("hello")).await, json!({ "continue": true }));
    let blocked = json!({ "continue": false, "user_message": "not this" });
    assert_eq!(json_of(&prompt("DENY")).await, blocked);
}

#[tokio::test]
async fn windsurf() {
    let event = |name: &str, told: Value| json!({ "agent_action_name": name, "trajectory_id": "s", "tool_info": told });
    let command =
        |command: &str| event("pre_run_command", json!({ "command_line": command, "cwd": "/p" }));
    assert_eq!(answer(&command("ls")).await, Answer::default());
    for word in ["DENY", "ASK", "REWRITE", "END"] {
        let denied = answer(&command(word)).await;
        assert_eq!((denied.code, denied.json), (2, None), "{word}");
        assert!(!denied.error.unwrap().trim().is_empty(), "{word}");
    }
    let prompt = event("pre_user_prompt", json!({ "user_prompt": "DENY" }));
    assert_eq!(answer(&prompt).await.code, 2);
}

#[tokio::test]
async fn an_event_of_another_agent_than_the_guard_was_started_for_is_refused_in_its_own_form() {
    let codex = json!({
        "session_id": "s", "turn_id": "1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    let refused = answer_of(&codex, Some("claude"), None).await.json.unwrap();
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(refused.as_object().unwrap().len(), 1);
    // Copilot CLI reads the settings of Claude Code.
    let copilot = json!({
        "session_id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "ls" },
    });
    let read = answer_of(&copilot, Some("claude"), Some("PreToolUse")).await;
    assert_eq!(read.json, Some(json!({})));
    let other = answer_of(&codex, Some("codex"), Some("PostToolUse")).await.json.unwrap();
    assert!(is_withheld(&other["reason"]), "{other}");
}

#[tokio::test]
async fn a_field_that_is_missing_or_of_another_type_denies_and_one_that_is_new_does_not() {
    let whole = json!({
        "session_id": "s", "turn_id": "1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    assert_eq!(answer(&with(&whole, json!({ "tomorrow": [1] }))).await.json, Some(json!({})));
    for (field, value) in
        [("tool_name", json!(1)), ("tool_input", json!("ls")), ("session_id", json!(""))]
    {
        for missing in [false, true] {
            let mut event = with(&whole, json!({ field: value }));
            if missing {
                event.as_object_mut().unwrap().remove(field);
            }
            let denied = answer(&event).await.json.unwrap();
            assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{event}");
        }
    }
    let unknown = with(&whole, json!({ "hook_event_name": "PreTomorrow" }));
    let refused = answer(&unknown).await;
    assert_eq!((refused.code, refused.json), (2, None));
}

#[test]
fn what_an_agent_cannot_be_told_becomes_something_stricter() {
    for agent in Dialect::ALL {
        for line in agent.cannot() {
            let is_stricter = ["denied", "withheld", "end of the run", "blocked"]
                .iter()
                .any(|word| line.split(": it becomes ").nth(1).is_some_and(|it| it.contains(word)));
            let is_mild = ["text that hooks add", "goes on"].iter().any(|word| line.contains(word));
            assert!(is_stricter || is_mild, "{agent}: {line}");
        }
    }
    let error = "continue".parse::<Dialect>().unwrap_err().to_string();
    assert!(error.contains("never calls them"), "{error}");
}

#[tokio::test]
async fn a_prompt_that_qwen_code_writes_again_begins_no_run_until_the_turn_ends() {
    let event = |name: &str, more: Value| {
        let base = json!({ "session_id": "s", "transcript_path": "/home/ada/.qwen/p/s.jsonl", "hook_event_name": name });
        with(&base, more).to_string()
    };
    let prompt = || event("UserPromptSubmit", json!({ "prompt": "go" }));
    let (guard, mut thread) = (obedient(), GuestThread::default());
    let mut run = async |event: String| {
        let received = Received::read(event.as_bytes(), None, None).unwrap();
        received.answer(&guard, &mut thread).await;
        thread.run.unwrap()
    };
    let first = run(prompt()).await;
    assert_eq!(run(prompt()).await, first);
    run(event("Stop", json!({ "stop_hook_active": true }))).await;
    assert_ne!(run(prompt()).await, first);
}

#[test]
fn an_event_that_cannot_be_read_is_answered_in_the_form_of_whose_it_is() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let event = format!(
        r#"{{"session_id": "s", "tool_response": {deep}, "turn_id": "1", "hook_event_name": "PostToolUse"}}"#
    );
    let answer = Received::read(event.as_bytes(), None, None).unwrap_err().answer();
    let json = answer.json.unwrap();
    assert!(json["decision"] == "block" && is_withheld(&json["reason"]), "{json}");
    assert_eq!(json.as_object().unwrap().len(), 2, "Codex takes no other field");
}
