//! Keys, tokens and passwords are nowhere.

use futures::executor::block_on;
use hooks_agent_builtin::guard::pii::{PiiAllowed, PiiDetector, PiiStrategy};
use hooks_agent_builtin::guard::{SecretScanner, Secrets, UnknownSecret};
use hooks_agent_core::model::{ChatChunk, ChatRequest};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use crate::everything::shown_of;

fn found(scanner: &SecretScanner, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    scanner.scan(text, 0, &mut found);
    found.into_iter().map(|it| (it.kind.into_owned(), text[it.range].to_owned())).collect()
}

/// Checks that one secret of this kind is found in a text.
#[track_caller]
fn has(text: &str, kind: &str, secret: &str) {
    let found = found(&SecretScanner::new(), text);
    assert_eq!(found, [(kind.to_owned(), secret.to_owned())], "{text}");
}

const GITHUB: &str = "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";
const GITLAB: &str = "glpat-in51j7rfpgxixxlpzahi";
const RANDOM: &str = "k7Gz2mQp9XvB4nRt";

#[test]
fn keys_of_providers_are_found_in_any_text() {
    for text in [
        GITHUB.to_owned(),
        format!("export TOKEN={GITHUB}"),
        format!("{{\"a\": \"{GITHUB}\"}}"),
        format!("请用{GITHUB}，谢谢"),
        format!("git clone https://{GITHUB}@github.com/a/b"),
        format!("({GITHUB})."),
    ] {
        has(&text, "github_pat", GITHUB);
    }
    has("AKIAQYLPMN5HHHFPZAM2", "aws_access_key_id", "AKIAQYLPMN5HHHFPZAM2");
    has(
        "adafruit_token: \"rkugnn-i3pol3fdata_hoaxv3moewlte\"",
        "adafruit_api_key",
        "rkugnn-i3pol3fdata_hoaxv3moewlte",
    );
    for text in [
        "ghp_",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "task-ghp",
        "sk-ip",
    ] {
        assert!(found(&SecretScanner::new(), text).is_empty(), "{text}");
    }
}

#[test]
fn values_are_secrets_by_their_names() {
    for (text, kind, secret) in [
        ("password = \"hunter2!\"", "password", "hunter2!"),
        ("DB_PASSWORD=Tr0ub4dor&3", "password", "Tr0ub4dor&3"),
        ("/login?password=Tr0ub4dor&user=ada", "password", "Tr0ub4dor"),
        ("the password is Tr0ub4dor", "password", "Tr0ub4dor"),
        ("Passwort: s3hrGeheim", "password", "s3hrGeheim"),
        ("Пароль: s3hrGeheim", "password", "s3hrGeheim"),
        ("DB_PASS=s3hrGeheim", "password", "s3hrGeheim"),
        ("deploy --token k7Gz2mQp9XvB4nRt", "token", RANDOM),
        ("- name: DB_PASSWORD\n  value: s3hrGeheim", "password", "s3hrGeheim"),
        ("{\"name\":\"DB_PASSWORD\",\"value\":\"s3hrGeheim\"}", "password", "s3hrGeheim"),
        ("ALTER USER a WITH PASSWORD 's3hrGeheim'", "password", "s3hrGeheim"),
        ("**Password:** s3hrGeheim", "password", "s3hrGeheim"),
        ("密码：hunter2!", "password", "hunter2!"),
        ("пароль: hunter2!", "password", "hunter2!"),
        ("my_token=k7Gz2mQp9XvB4nRt", "token", RANDOM),
        ("<apiKey>k7Gz2mQp9XvB4nRt</apiKey>", "token", RANDOM),
        ("set(\"SECRET\", \"k7Gz2mQp9XvB4nRt\")", "token", RANDOM),
        ("{\\\"api_key\\\":\\\"k7Gz2mQp9XvB4nRt\\\"}", "token", RANDOM),
        ("Authorization: Basic YWRhOnMzY3JldA==", "authorization", "YWRhOnMzY3JldA=="),
        ("postgres://app:k3Yq-9z@db/shop", "url_password", "k3Yq-9z"),
        ("curl -u ada:s3cret https://a.example", "login", "ada:s3cret"),
    ] {
        has(text, kind, secret);
    }
    for text in [
        "PWD=/home/ada/project2",
        "password_reset_timeout=259200",
        "\"password\": \"Enter your password\"",
        "bypass: s3hrGeheim",
        "password: string",
        "password is required",
        "password = os.environ[\"P\"]",
        "token = ${TOKEN}",
        "token: next",
        "\"token_type\": \"k7Gz2mQp9XvB4nRt\"",
        "publicKey = \"k7Gz2mQp9XvB4nRt\"",
        "total_tokens: 12345678",
        "key: my-service-2024",
        "password = \"\"",
        "https://example.com:8080/a@b",
        "the key is under the mat",
    ] {
        assert!(found(&SecretScanner::new(), text).is_empty(), "{text}");
    }
}

#[test]
fn private_keys_are_found_to_their_end_and_where_they_are_cut() {
    let body = "MC4CAQAwBQYDK2VwBCIEIBftnHPp22SewYmmEoMcX8VwI4IHwaqd+9LFPj/15eqF";
    let key = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
    has(&format!("a {key} b"), "private_key", &key);
    let cut = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}");
    has(&cut, "private_key", &cut);
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----");
    for text in
        [&*certificate, "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN"]
    {
        assert!(found(&SecretScanner::new(), text).is_empty(), "{text}");
    }
}

#[test]
fn secrets_in_another_form_are_found() {
    for (text, secret) in [
        ("AKIA\u{200b}QYLPMN5HHHFPZAM2", "AKIA\u{200b}QYLPMN5HHHFPZAM2"),
        ("ＡＫＩＡQYLPMN5HHHFPZAM2", "ＡＫＩＡQYLPMN5HHHFPZAM2"),
        ("log\\nAKIAQYLPMN5HHHFPZAM2\\n", "AKIAQYLPMN5HHHFPZAM2"),
        ("&#65;KIAQYLPMN5HHHFPZAM2", "&#65;KIAQYLPMN5HHHFPZAM2"),
        ("%41KIAQYLPMN5HHHFPZAM2", "%41KIAQYLPMN5HHHFPZAM2"),
    ] {
        has(text, "aws_access_key_id", secret);
    }
}

#[test]
fn kinds_can_be_left_out_and_checksums_asked_for() {
    let scanner = SecretScanner::new().without(["password", "token"]).unwrap();
    assert!(found(&scanner, "password = \"hunter2!\"").is_empty());
    assert_eq!(found(&scanner, GITLAB).len(), 1);
    let error = SecretScanner::new().without(["passwords"]).unwrap_err();
    assert_eq!(error, UnknownSecret { name: "passwords".to_owned() });

    let mistyped = GITHUB.replace("q17", "q18");
    assert_eq!(found(&SecretScanner::new(), &mistyped).len(), 1);
    assert!(found(&SecretScanner::new().checked(), &mistyped).is_empty());
    assert_eq!(found(&SecretScanner::new().checked(), GITHUB).len(), 1);

    let cut = "ghp_zQWBuTSOoRi4A9spHcVY5nc";
    assert!(found(&SecretScanner::new(), cut).is_empty());
    assert_eq!(
        found(&SecretScanner::new().with_cut_keys(), cut),
        [("github_pat".to_owned(), cut.to_owned())]
    );
    assert!(SecretScanner::kinds().filter(|kind| kind.provider.is_some()).count() >= 120);
}

/// A tool that answers with a secret, and what it received.
fn tool() -> FunctionTool {
    FunctionTool::new("login", "Logs in.", async |input: Value| {
        assert!(!input.to_string().contains("glpat-in51"), "{input}");
        json!({ "session": GITHUB, "text": format!("password: {RANDOM}!") })
    })
}

#[test]
fn a_secret_is_nowhere_that_anybody_but_the_user_sees() {
    block_on(async {
        let cut = format!("Use {GITLAB} then.");
        let (head, rest) = cut.split_at(12);
        let chunks = [head, rest].map(|text| Ok(ChatChunk::Text(text.to_owned())));
        let call = ToolUse::new("1", "login", json!({ "key": GITLAB, "note": "ok" }));
        let script = Script::new().calls([call]).turn(ScriptedAnswer::Stream(chunks.into()));
        let builder = ReActAgent::builder("bot").tool(tool()).hook(Secrets::new());
        let shown = shown_of(builder, script).await;
        for secret in [GITLAB, GITHUB, RANDOM, "in51j7rf", "zQWBuTSO"] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        assert!(shown.contains("[REDACTED_GITLAB_PAT]") && shown.contains("[REDACTED_GITHUB_PAT]"));
    });
}

#[test]
fn a_secret_of_the_user_is_replaced_blocked_or_allowed() {
    block_on(async {
        let agent = |hook: Secrets| {
            let model = ScriptedModel::new("echo", ChatRequest::last_text);
            ReActAgent::builder("bot").model(model).hook(hook).build().unwrap()
        };
        let text = format!("my key is {GITLAB}");
        let reply = agent(Secrets::new()).call(text.clone()).await.unwrap();
        assert_eq!(reply.text(), "my key is [REDACTED_GITLAB_PAT]");
        let error = agent(Secrets::new().strategy(PiiStrategy::Block)).call(text.clone()).await;
        let error = error.unwrap_err().to_string();
        assert!(!error.contains("in51") && error.contains("gitlab_pat"), "{error}");
        let allowed = Secrets::new().allow(PiiAllowed::new().value(GITLAB));
        assert_eq!(agent(allowed).call(text.clone()).await.unwrap().text(), text);
        assert_eq!(Secrets::new().name(), "Secrets");
    });
}
