//! Hooks of files that ask where to stand, by the names of others.

use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{MergedHook, Policy, PolicyFile};

use crate::support::{Folder, lines, policy, with_say};

const FILE: &str = "version = 1
[[hook]]
use = \"say\"
name = \"sign\"
with = { text = \" 2\" }
[[hook]]
use = \"say\"
name = \"thank\"
priority = 900
before = [\"sign\"]
requires = [\"sign\"]
with = { text = \" 1\" }
";

async fn says(policy: &Policy) -> Result<String, String> {
    let model = ScriptedModel::new("fixed", |_| "0");
    let builder = ReActAgent::builder("bot").model(model).hook_source(policy.clone());
    let reply = builder.build().unwrap().call("Go").await;
    reply.map(|reply| reply.text()).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_hook_stands_where_it_asks_to_and_the_plan_shows_it() {
    let policy = policy(FILE);
    assert_eq!(says(&policy).await.unwrap(), "0 1 2");
    let merged = policy.merged();
    let names: Vec<_> = merged.hooks().iter().map(MergedHook::name).collect();
    assert_eq!(names, ["thank", "sign"]);
    assert_eq!(merged.hooks()[0].order().to_string(), "before sign, requires sign");
    assert!(merged.to_string().contains("\n       before sign, requires sign\n"), "{merged}");
}

#[test]
fn a_missing_name_and_a_circle_are_errors_with_their_place() {
    let missing = FILE.replace("before = [\"sign\"]", "after = [\"sing\"]");
    assert_eq!(
        lines(&missing),
        [
            "policy.toml:6:1: hook[1].after: no enabled hook of the policy is named `sing`: did you mean `sign`?"
        ]
    );
    let off = FILE.replace("name = \"sign\"", "name = \"sign\"\nenabled = false");
    assert_eq!(lines(&off).len(), 1);
    // What is disabled asks for nothing.
    let off = FILE
        .replace("priority = 900", "enabled = false")
        .replace("before = [\"sign\"]", "before = [\"x\"]");
    assert!(
        with_say(Policy::builder().project(PolicyFile::text("policy.toml", off))).check().is_ok()
    );
    let circle = FILE.replace("name = \"sign\"", "name = \"sign\"\nbefore = [\"thank\"]");
    let lines = lines(&circle);
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("policy.toml:2:1: hook[0]: each of these runs before the next one"),
        "{lines:?}"
    );
    let text = FILE.replace("before = [\"sign\"]", "before = \"sign\"");
    assert!(crate::support::lines(&text)[0].contains("hook[1].before: expected"));
}

#[tokio::test]
async fn a_reload_without_order_keeps_the_old_policy() {
    let folder = Folder::with(FILE);
    let policy = folder.policy();
    folder.write(&FILE.replace("before = [\"sign\"]", "before = [\"sing\"]"));
    assert!(policy.reload().is_err());
    assert_eq!(says(&policy).await.unwrap(), "0 1 2");
    folder.write(&FILE.replace("before = [\"sign\"]", "after = [\"sign\"]"));
    assert_eq!((policy.reload().is_ok(), policy.version()), (true, 2));
    assert_eq!(says(&policy).await.unwrap(), "0 2 1");
}

#[tokio::test]
async fn a_hook_that_does_not_run_in_the_agent_is_missing_there() {
    let policy = policy(&FILE.replace("name = \"sign\"", "name = \"sign\"\nagents = [\"other\"]"));
    let error = says(&policy).await.unwrap_err();
    assert!(
        error.contains("`thank` is to run before `sign`, and no hook has that name"),
        "{error}"
    );
}

struct Around;

impl AgentHook for Around {
    fn around(&self) -> AroundMask {
        AroundMask::TOOL_CALL
    }
}

#[test]
fn a_hook_runs_at_once_with_others_where_the_file_says_so() {
    let parallel = FILE.replace("priority = 900", "parallel = true");
    assert!(policy(&parallel).merged().to_string().contains("\n       parallel = true\n"));
    let file = PolicyFile::text(
        "policy.toml",
        "version = 1\n[[hook]]\nuse = \"around\"\nparallel = true\nwith = { text = \"\" }\n",
    );
    let builder = Policy::builder().project(file);
    let builder = builder
        .register("around", |_: crate::support::Say| Ok::<_, std::convert::Infallible>(Around));
    let error = builder.check().unwrap_err().to_string();
    assert!(
        error.contains("policy.toml:2:1: hook[0].parallel: `around` runs around calls"),
        "{error}"
    );
}
