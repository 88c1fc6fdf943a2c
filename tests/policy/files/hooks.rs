//! The hooks that files may use, and their options.

use hooks_agent_core::prelude::*;
use hooks_agent_core::tool::Tools;
use hooks_agent_policy::policy::{MergedHook, Policy, PolicyFile, schema};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{Folder, lines, policy, reply, text};

/// Every built-in hook with each of its options.
const ALL: &str = include_str!("all.toml");

#[test]
fn every_built_in_hook_takes_its_options() {
    let folder = Folder::with("");
    folder.write(&ALL.replace("FOLDER", &folder.path().display().to_string()));
    let policy = folder.policy();
    assert_eq!(policy.merged().hooks().len(), 21);
    let plan = crate::support::builder("bot", &policy).build().unwrap().hook_plan().to_string();
    for hook in policy.merged().hooks() {
        assert!(plan.contains(hook.name()), "{}\n{plan}", hook.name());
    }
    let priorities: Vec<_> = policy.merged().hooks().iter().map(MergedHook::priority).collect();
    assert!(priorities.is_sorted(), "{priorities:?}");
}

#[test]
fn a_check_opens_no_file_that_a_hook_writes() {
    let folder = Folder::with("");
    folder.write(&ALL.replace("FOLDER", &folder.path().display().to_string()));
    let merged = Policy::builder().project(folder.file()).check().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let of =
        |name: &str| merged.hooks().iter().find(|hook| hook.name() == name).unwrap().priority();
    assert_eq!((of("audit_log"), of("jsonl_trace")), (700, 900));
}

#[test]
fn a_file_with_another_error_opens_no_file_either() {
    let folder = Folder::with("");
    let all = ALL.replace("FOLDER", &folder.path().display().to_string());
    folder.write(&format!("{all}x = 1\n"));
    Policy::builder().project(folder.file()).open().unwrap_err();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn of(uses: &str, with: &str) -> Vec<String> {
    lines(&format!("version = 1\n[[hook]]\nuse = \"{uses}\"\nwith = {{ {with} }}\n"))
}

#[tokio::test]
async fn the_options_of_a_list_of_words_decide_what_is_found() {
    for (options, expected) in [
        ("words = [\"one\"]", "Done."),
        ("words = [\"one\"], anywhere = true", "D***."),
        ("words = [\"done\"]", "****."),
        ("words = [\"done\"], output = false", "Done."),
    ] {
        let hook = format!("[[hook]]\nuse = \"sensitive_words\"\nwith = {{ {options} }}\n");
        let policy = policy(&format!("version = 1\n{hook}"));
        assert_eq!(reply(&policy, "bot").await, expected, "{options}");
    }
}

#[tokio::test]
async fn secrets_and_what_may_stay_are_options() {
    // The model says `Done.`; the input is what hooks rewrite.
    for options in [
        "use = \"secrets\"\nwith = { without = [\"password\"], checked = true, cut_keys = true, allow_values = [\"x\"] }",
        "use = \"pii_detection\"\nwith = { phone_regions = [\"DE\"], allow_domains = [\"a.example\"], kinds = [\"documents\"] }",
    ] {
        let policy = policy(&format!("version = 1\n[[hook]]\n{options}\n"));
        assert_eq!(reply(&policy, "bot").await, "Done.", "{options}");
    }
}

#[test]
fn options_that_decide_nothing_are_errors() {
    for (uses, with, expected) in [
        ("pii_detection", "kinds = []", "expected at least one kind"),
        ("pii_detection", "input = false, output = false", "expected something to search"),
        ("pii_detection", "phone_regions = ['DEU']", "no region `DEU`: expected two letters"),
        ("secrets", "without = ['passwords']", "no kind of secrets is named `passwords`"),
        (
            "secrets",
            "input = false, output = false, tool_results = false, tool_arguments = false",
            "expected something to search",
        ),
        ("sensitive_words", "", "expected either `words` or `file`"),
        (
            "sensitive_words",
            "words = ['a'], input = false, output = false, tool_results = false, \
             tool_arguments = false",
            "expected something to search",
        ),
        ("sensitive_words", "words = []", "hook[0].with.words"),
        ("sanitize", "patterns = []", "expected at least one pattern"),
        ("sanitize", "", "missing key `patterns`"),
        (
            "sanitize",
            "patterns = [{ pattern = 'a' }], tools = []",
            "hook[0].with.tools: expected at least one tool",
        ),
        ("spotlight", "tools = []", "expected at least one tool"),
        ("inject_prompt", "text = ' '", "expected a text, found blanks"),
        ("human_in_the_loop", "", "expected at least one tool"),
        ("human_in_the_loop", "tools = ['a'], allow = []", "hook[0].with.allow"),
        ("human_in_the_loop", "tools = ['a'], approvers = { role = ['b'] }", "unknown key `role`"),
        ("model_call_limit", "", "expected `run` or `thread`"),
        ("tool_call_limit", "run = -1", "expected a whole number from 0, found -1"),
        (
            "loop_detection",
            "repeats = [3, 3]",
            "expected two numbers from 2, the second above the first",
        ),
        ("budget", "", "hook[0].with"),
        ("budget", "run_money = 5", "hook[0].with"),
        (
            "budget",
            "run_money = 5, prices = [{ model = 'a', input = 5, output = 5 }, \
             { model = 'a', input = 0, output = 0 }]",
            "hook[0].with.prices[1].model: expected one price for each model",
        ),
        ("rate_limit", "of = 'models'", "hook[0].with"),
        (
            "rate_limit",
            "of = 'models', requests = { count = 5, per = '1 minute' }",
            "expected a time such as",
        ),
        ("model_retry", "attempts = 0", "attempts"),
        ("circuit_breaker", "model = 'a', tool = 'b'", "expected either `model` or `tool`"),
        ("context_editing", "trigger = { fraction = 1.5 }", "fraction"),
        ("logging", "levels = { PRE_ACTNG = 'info' }", "did you mean `PRE_ACTING`?"),
        ("jsonl_trace", "", "missing key `path`"),
    ] {
        let lines = of(uses, with);
        assert_eq!(lines.len(), 1, "{uses}: {lines:#?}");
        assert!(lines[0].contains(expected), "{uses}: {lines:#?}");
    }
}

#[test]
fn all_mistakes_of_one_table_are_reported() {
    let with = "kinds = ['emial', 'url', 'fone'], strateg = 'mask', output = 1, format = 'odd'";
    let keys: Vec<_> = of("pii_detection", with)
        .iter()
        .map(|line| line.split(": ").nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        keys,
        ["kinds[0]", "kinds[2]", "strateg", "output", "format"]
            .map(|key| format!("hook[0].with.{key}"))
    );
}

/// Options that serde would read with unknown keys.
#[derive(Deserialize, JsonSchema)]
struct Loose {
    #[serde(default)]
    limit: u32,
}

#[test]
fn unknown_keys_are_errors_also_of_types_that_ignore_them() {
    let file = text("version = 1\n[[hook]]\nuse = \"loose\"\nwith = { limt = 5 }\n");
    let builder = Policy::builder().project(file).register("loose", |options: Loose| {
        let _ = options.limit;
        Ok::<_, String>(on(|_: &mut PreCall<'_>| {}))
    });
    assert_eq!(
        builder.open().unwrap_err().to_string(),
        "policy.toml:4:10: hook[0].with.limt: unknown key `limt`, did you mean `limit`? expected `limit`"
    );
}

struct Adds;

impl AgentHook for Adds {
    fn tools(&self) -> Tools {
        let tool =
            FunctionTool::new("clock", "Tells the time.", async |_: serde_json::Value| "noon");
        vec![std::sync::Arc::new(tool)]
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[test]
fn a_hook_that_adds_tools_is_an_error_that_says_why() {
    let file = text("version = 1\n[[hook]]\nuse = \"adds\"\n");
    let builder = Policy::builder().project(file);
    let builder = builder.register("adds", |_: Nothing| Ok::<_, String>(Adds));
    let shown = builder.open().unwrap_err().to_string();
    assert!(
        shown.contains("adds the tools `clock`, and an agent has its tools when it is built"),
        "{shown}"
    );
}

#[test]
fn a_panic_of_a_closure_is_an_error() {
    let file = text("version = 1\n[[hook]]\nuse = \"panics\"\n");
    let builder = Policy::builder()
        .project(file)
        .register("panics", |_: Nothing| -> Result<Adds, String> { panic!("no") });
    let shown = builder.open().unwrap_err().to_string();
    assert!(shown.ends_with("the hook panicked while it was made"), "{shown}");
}

#[tokio::test]
async fn hooks_run_by_priority_then_layer_then_place() {
    let say = |name: &str, more: &str| {
        format!(
            "[[hook]]\nuse = \"say\"\nname = \"{name}\"\nwith = {{ text = \" {name}\" }}\n{more}\n"
        )
    };
    let file = |parts: &[String]| {
        let text = format!("version = 1\n{}", parts.concat());
        PolicyFile::text("f", text)
    };
    let user = file(&[say("u1", "priority = 1"), say("u2", ""), say("u3", "")]);
    let managed =
        file(&[say("m1", ""), say("m2", "priority = 200"), say("off", "enabled = false")]);
    let policy =
        crate::support::with_say(Policy::builder().user(user).managed(managed)).open().unwrap();
    assert_eq!(crate::support::reply(&policy, "bot").await, "Done. u1 m1 u2 u3 m2");
    let names: Vec<_> = policy.merged().hooks().iter().map(|hook| hook.name().to_owned()).collect();
    assert_eq!(names, ["u1", "m1", "off", "u2", "u3", "m2"]);
}

#[test]
fn the_schema_has_every_hook_with_its_options() {
    let schema = schema();
    let hook = &schema["properties"]["hook"]["items"];
    let names = hook["properties"]["use"]["enum"].as_array().unwrap();
    assert_eq!(names.len(), 22, "{names:?}");
    let options = hook["allOf"].as_array().unwrap();
    let pii = options.iter().find(|it| it["if"]["properties"]["use"]["const"] == "pii_detection");
    let kinds = &pii.unwrap()["then"]["properties"]["with"]["properties"]["kinds"];
    assert!(kinds.to_string().contains("credit_card"), "{kinds}");
    assert!(!schema.to_string().contains("$ref"), "{schema}");
}

#[test]
fn the_schema_has_every_key_that_files_may_have() {
    let schema = schema();
    let of = &schema["properties"];
    for (table, properties) in [
        ("", of),
        ("[[hook]]\n", &of["hook"]["items"]["properties"]),
        ("[[command]]\n", &of["command"]["items"]["properties"]),
        ("[limits]\n", &of["limits"]["properties"]),
    ] {
        let lines = lines(&format!("version = 1\n{table}no_such_key_at_all = 1\n"));
        let line = lines.iter().find(|line| line.contains("no_such_key_at_all")).unwrap();
        let (_, expected) = line.split_once("; expected one of ").unwrap();
        let mut read: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        let mut shown: Vec<_> = properties.as_object().unwrap().keys().collect();
        read.sort_unstable();
        shown.sort_unstable();
        assert_eq!(read, shown, "{table}");
    }
}

#[test]
fn a_hook_that_needs_code_says_so_and_what_it_needs() {
    let of = |uses: &str| lines(&format!("version = 1\n[[hook]]\nuse = \"{uses}\"\n")).remove(0);
    for (uses, expected) in [
        (
            "rag",
            "policy.toml:3:7: hook[0].use: `rag` needs code: knowledge to search; add `Rag` by",
        ),
        ("todo_lst", "`todo_list` needs code"),
        ("model_fallback", "`model_fallback` needs code: a model"),
        ("judge", "`judge` needs code: a model"),
        ("tool_retri", "unknown hook `tool_retri`, did you mean `tool_retry`?"),
        ("tomorrow", "unknown hook `tomorrow`; expected one of"),
    ] {
        let line = of(uses);
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn a_bare_number_and_a_bare_text_say_what_to_write() {
    let with = |uses: &str, with: &str| {
        let content = format!("version = 1\n[[hook]]\nuse = \"{uses}\"\nwith = {{ {with} }}\n");
        lines(&content).remove(0)
    };
    let line = with("circuit_breaker", "open_for = 30");
    assert!(line.contains("found a whole number; write `\"30s\"` for seconds"), "{line}");
    let line = &lines("version = 1\n[limits]\ndeny_tools = \"shell\"\n")[0];
    assert!(line.ends_with("found a string; write `deny_tools = [\"shell\"]`"), "{line}");
}

#[test]
fn a_key_that_is_there_twice_is_named() {
    let lines = lines("version = 1\n[limits]\nmax_iters = 1\nmax_iters = 2\n");
    assert_eq!(lines, ["policy.toml:4:1: the key `max_iters` is there twice"]);
}

#[tokio::test]
async fn a_plan_says_where_in_the_file_its_hooks_stand() {
    let content = "version = 1\n[limits]\ndeny_tools = [\"a\"]\n[[hook]]\nuse = \"timing\"\n\
                   [[command]]\nevent = \"Stop\"\ncommand = \"exit 0\"\n";
    let folder = Folder::with(content);
    let policy = Policy::builder().session(folder.file()).open().unwrap();
    let agent = crate::support::builder("bot", &policy).build().unwrap();
    let place_of = |name: &str| {
        let plan = agent.hook_plan();
        plan.hooks().iter().find(|hook| hook.name() == name).unwrap().registered_at()
    };
    let at = |line: usize| format!("{}:{line}", folder.file().display());
    assert_eq!(place_of("policy limits"), at(3));
    assert_eq!(place_of("timing"), at(4));
    assert_eq!(place_of("CommandHooks"), at(6));

    folder.write(&content.replacen('\n', "\n\n\n", 1));
    policy.reload().unwrap();
    assert_eq!(place_of("policy limits"), at(5));
    assert_eq!(place_of("timing"), at(6));
    assert_eq!(place_of("CommandHooks"), at(8));
}
