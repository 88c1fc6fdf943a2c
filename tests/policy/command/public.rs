//! Settings of other people's projects: their hooks run, or the file is refused with the reason.
//!
//! `public.tsv` has their addresses. `.ci/public-settings` fetches them; those that are not there are skipped.

use std::fs;
use std::path::Path;

use hooks_agent_core::hook::HookModel;
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_policy::command::{CommandHooks, Layer};
use sha2::{Digest, Sha256};

const TABLE: &str = include_str!("public.tsv");

/// What comes of a file: how many handlers run, or the first problem.
fn outcome(path: &Path) -> String {
    let project = tempfile::tempdir().unwrap();
    let model = HookModel::new(ScriptedModel::new("judge", |_| r#"{"ok": true}"#));
    let hooks = CommandHooks::builder(project.path()).settings(path, Layer::User).model(model);
    match hooks.open() {
        Ok(hooks) => format!("runs {}", hooks.commands().count()),
        Err(error) => {
            let first = error.problems().first().expect("an error has one");
            format!("refused: {}: {}", first.field(), first.message())
        }
    }
}

#[test]
fn hooks_of_public_projects_run_or_are_refused_with_the_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/public-settings");
    let (mut read, mut missing, mut wrong) = (0, 0, Vec::new());
    for line in TABLE.lines().skip(1) {
        let [agent, address, commit, path, sha256, expected] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("a row has six cells");
        let file = folder.join(format!("{sha256}.json"));
        let Ok(bytes) = fs::read(&file) else {
            missing += 1;
            continue;
        };
        let digest = Sha256::digest(&bytes);
        let hex = sha256
            .as_bytes()
            .chunks(2)
            .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap());
        assert!(digest.iter().copied().eq(hex), "{address} {commit} {path} is another file");
        read += 1;
        let outcome = outcome(&file);
        if outcome != expected {
            wrong.push(format!(
                "{agent}\t{address}\t{path}\n  expected {expected}\n  found    {outcome}"
            ));
        }
    }
    if missing > 0 {
        println!(
            "skipped: {missing} of {} files of other projects are not in target/public-settings",
            read + missing
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
