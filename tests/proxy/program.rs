//! The command `hooks-agent proxy`.

use std::path::Path;
use std::process::{Output, Stdio};

use hooks_agent_core::react::HookSet;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::forms::{Chat, Messages};
use crate::rig::{Rig, read};

const POLICY: &str = r#"version = 1

[limits]
deny_tools = ["rm*"]

[[hook]]
use = "sensitive_words"
with = { words = ["bluebird"] }
"#;

fn program(folder: &Path, policy: &str) -> Command {
    let file = folder.join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-agent-proxied"));
    command.arg("proxy").arg("--policy").arg(file).arg("--state").arg(folder.join("threads.db"));
    command.args(["--listen", "127.0.0.1:0"]).kill_on_drop(true);
    command
}

/// Starts the program, and returns the URLs that it prints.
async fn started(mut command: Command) -> (Child, Vec<String>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut urls = Vec::new();
    for name in ["OPENAI_BASE_URL=", "ANTHROPIC_BASE_URL="] {
        let line = lines.next_line().await.unwrap().unwrap();
        urls.push(line.strip_prefix(name).unwrap().to_owned());
    }
    (child, urls)
}

#[tokio::test]
async fn it_guards_what_goes_through_by_the_policy() {
    let (rig, folder) = (Rig::new(HookSet::default()).await, tempfile::tempdir().unwrap());
    let mut command = program(folder.path(), POLICY);
    let url = rig.upstream_url();
    command.args(["--upstream", &format!("openai={url}")]);
    command.args(["--upstream", &format!("anthropic={}", url.trim_end_matches("/v1"))]);
    let (_child, urls) = started(command).await;

    rig.replies(Chat.says(true, &["The blue", "bird sings."]));
    let mut request = Chat.prompt("A bluebird?", true);
    request["tools"] = json!([{ "type": "function", "function": { "name": "rm" } }]);
    let sent = rig.client().post(format!("{}/chat/completions", urls[0]));
    let sent = sent.header("content-type", "application/json").body(request.to_string());
    let answer = read(sent.send().await.unwrap()).await;
    assert_eq!(Chat.read(true, &answer).text, "The ******** sings.");
    let got = &rig.got()[0].body;
    assert_eq!(Chat.prompt_of(got), "A ********?");
    assert!(got.get("tools").is_none(), "{got}");

    rig.replies(Messages.calls(false, "rm_all", &json!({})));
    let sent = rig.client().post(format!("{}/v1/messages", urls[1]));
    let sent = sent.header("content-type", "application/json");
    let sent = sent.body(Messages.prompt("Hi", false).to_string());
    let answer = read(sent.send().await.unwrap()).await;
    let text = Messages.read(false, &answer).text;
    assert!(text.contains("the policy denies the tool `rm_all`"), "{text}");
}

async fn refused(policy: &str, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program(folder.path(), policy);
    let Output { status, stderr, .. } = command.args(args).output().await.unwrap();
    assert_eq!(status.code(), Some(2));
    String::from_utf8(stderr).unwrap()
}

#[tokio::test]
async fn it_refuses_what_it_cannot_hold() {
    let upstream = ["--upstream", "openai=http://127.0.0.1:9/v1"];
    let budget = "version = 1\n[[hook]]\nuse = \"budget\"\nwith = { run_tokens = 5 }\n";
    let said = refused(budget, &upstream).await;
    assert!(said.contains("budget"), "{said}");
    let said = refused(POLICY, &["--upstream", "strange=http://127.0.0.1:9"]).await;
    assert!(said.contains("expected `openai=URL`"), "{said}");
    let said = refused(POLICY, &[]).await;
    assert!(said.contains("--upstream"), "{said}");
    let mut other = upstream.to_vec();
    other.extend(["--token-file", "/nowhere/at/all"]);
    assert!(refused(POLICY, &other).await.contains("token"));
}
