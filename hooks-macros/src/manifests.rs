//! Tests of the path to the runtime, with manifests in every form that cargo takes.

use std::process::Command;
use std::{env, fs};

use crate::support::runtime::Runtime;

/// What a manifest of a member may take from its workspace.
const WORKSPACE: &str = r#"
[workspace]
members = ["member"]

[workspace.dependencies]
hk = { package = "hooks-core", version = "1" }
hooks-core = "1"
hooks-agent = "1"
"#;

/// The path of the runtime in a crate with this manifest.
fn path_by(manifest: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let member = folder.path().join("member");
    fs::create_dir_all(member.join("src")).expect("a folder");
    fs::write(member.join("src/lib.rs"), "").expect("a file");
    fs::write(folder.path().join("Cargo.toml"), WORKSPACE).expect("a file");
    fs::write(member.join("Cargo.toml"), manifest).expect("a file");
    // The folder is a variable of the process.
    let test = Command::new(env::current_exe().expect("the tests are a program"))
        .args(["--exact", "manifests::the_path_of_a_crate_without_the_runtime", "--nocapture"])
        .env("CARGO_MANIFEST_DIR", &member)
        .output()
        .expect("the tests run");
    let printed = String::from_utf8_lossy(&test.stdout);
    let path = printed.split("path=").nth(1).and_then(|rest| rest.lines().next());
    path.unwrap_or_else(|| panic!("{printed}")).to_owned()
}

fn member(rest: &str) -> String {
    format!("[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
}

/// Tests of other manifests run this one.
#[test]
fn the_path_of_a_crate_without_the_runtime() {
    let path = Runtime::new(None).module().to_string().replace(' ', "");
    let path = path.trim_end_matches("::__private");
    println!("\npath={path}");
    if env::var("CARGO_MANIFEST_DIR").is_ok_and(|folder| folder == env!("CARGO_MANIFEST_DIR")) {
        assert_eq!(path, "::hooks_core");
    }
}

#[test]
fn the_runtime_is_found_by_its_name() {
    for dependency in [
        "[dependencies]\nhooks-core = '1'",
        "[dependencies]\n\"hooks-core\" = { version = \"1\" }",
        "[dependencies]\nhooks-core.version = \"1\"",
        "[dependencies]\nhooks-core.workspace = true",
        "[dependencies.hooks-core]\nversion = \"1\"",
        "[dev-dependencies]\nhooks-core = \"1\"\n[dependencies]\nhooks-agent = \"1\"",
        "[target.'cfg(unix)'.dependencies]\nhooks-core = \"1\"",
        "[dependencies]\nserde = \"1\"",
        "[dependencies]\nhooks-agent = \"1\"\nhooks-core = \"1\"",
    ] {
        assert_eq!(path_by(&member(dependency)), "::hooks_core", "{dependency}");
    }
}

#[test]
fn the_runtime_is_found_by_the_name_that_the_manifest_has_for_it() {
    for dependency in [
        "[dependencies]\nhk = { package = \"hooks-core\", version = \"1\" }",
        "[dependencies]\nhk = {package='hooks-core',version='1'}",
        "[dependencies]\nhk.package = \"hooks-core\"\nhk.version = \"1\"",
        "[dependencies]\nhk.workspace = true",
        "[dependencies]\nhk = { workspace = true, features = [\"json\"] }",
        "[dependencies.hk]\nversion = \"1\"\npackage = \"hooks-core\"",
        "[dependencies]\nhk = { package = \"hooks-core\", features = [\n  \"json\",\n], version = \"1\" }",
        "[target.'cfg(unix)'.dependencies.hk]\npackage = \"hooks-core\"\nversion = \"1\"",
        "[dependencies]\nhk = { package = \"hooks-core\", version = \"1\" } # hooks-core = \"1\"",
        "[features]\nhooks-core = []\n[dependencies]\nhk = { package = \"hooks-core\", version = \"1\" }",
    ] {
        assert_eq!(path_by(&member(dependency)), "::hk", "{dependency}");
    }
}

#[test]
fn the_runtime_is_found_through_the_agent() {
    for dependency in [
        "[dependencies]\nhooks-agent = { version = \"1\" }\nserde = \"1\"",
        "[dependencies]\nhooks-agent.workspace = true # not hooks-core",
        "[dependencies.hooks-agent]\nversion = \"1\"",
        "[features]\nhooks-core = []\n[dependencies]\nhooks-agent = \"1\"",
    ] {
        assert_eq!(path_by(&member(dependency)), "::hooks_agent::hooks_core", "{dependency}");
    }
    let renamed = "[dependencies]\nagent = { package = \"hooks-agent\", version = \"1\" }";
    assert_eq!(path_by(&member(renamed)), "::agent::hooks_core");
}

#[test]
fn a_crate_that_publishes_hooks_needs_no_more_than_the_core_of_agents() {
    for dependency in [
        "[dependencies]\nhooks-agent-core = \"1\"",
        "[dependencies]\nhooks-agent-core = \"1\"\n[dev-dependencies]\nhooks-agent = \"1\"",
    ] {
        let path = path_by(&member(dependency));
        assert_eq!(path, "::hooks_agent_core::hooks_core", "{dependency}");
    }
    let renamed = "[dependencies]\nagent = { package = \"hooks-agent-core\", version = \"1\" }";
    assert_eq!(path_by(&member(renamed)), "::agent::hooks_core");
}

#[test]
fn a_manifest_that_cannot_be_read_is_no_panic() {
    for manifest in [
        "",
        "[",
        "[dependencies]\nhooks-core = ",
        "[dependencies]\nhk = {\n  package = \"hooks-core\",\n",
        "[dependencies]\nhk = [{ package = \"hooks-core\" }]",
        "dependencies = 1",
        "[dependencies]\n\"2\" = { package = \"hooks-core\" }",
        "[dependencies]\n\"a b\" = { package = \"hooks-core\" }",
    ] {
        assert_eq!(path_by(manifest), "::hooks_core", "{manifest}");
    }
    let multiline = "[dependencies]\nhk = {\n  package = \"hooks-core\",\n  version = \"1\",\n}";
    assert_eq!(path_by(&member(multiline)), "::hk");
}
