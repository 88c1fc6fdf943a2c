//! The cost of 200 hooked methods for `cargo check`, beside 200 plain ones, 200 with
//! `#[tracing::instrument]` and 200 with `#[async_trait]`.
//!
//! `cargo bench -p hooks-core-tests --bench check` writes a crate of each kind, checks each several times in turns
//! with its dependencies built, and prints the shortest time of each.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

const TYPES: usize = 20;
const METHODS: usize = 10;
const ROUNDS: usize = 7;

/// How the methods of a crate are written.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Before the crate's first item.
    head: &'static str,
    /// Fields of each type, and what is before it.
    derive: &'static str,
    field: &'static str,
    /// Before each impl block, and before each method.
    block: &'static str,
    method: &'static str,
    /// Whether the methods are of a trait.
    is_trait: bool,
}

const KINDS: [Kind; 4] = [
    Kind { name: "plain", head: "", derive: "", field: "", block: "", method: "", is_trait: false },
    Kind {
        name: "hookable",
        head: "use hooks_core::{Hookable, Hooks, hookable};",
        derive: "#[derive(Hookable)]",
        field: "hooks: Hooks,",
        block: "#[hookable]",
        method: "#[hook]",
        is_trait: false,
    },
    Kind {
        name: "instrument",
        head: "use tracing::instrument;",
        derive: "",
        field: "",
        block: "",
        method: "#[instrument(skip_all)]",
        is_trait: false,
    },
    Kind {
        name: "async_trait",
        head: "use async_trait::async_trait;",
        derive: "",
        field: "",
        block: "#[async_trait]",
        method: "",
        is_trait: true,
    },
];

fn source(kind: &Kind) -> String {
    let Kind { head, derive, field, block, method, .. } = kind;
    let mut text = format!(
        "{head}\n#[derive(Debug)]\npub struct Failure;\n\
         impl From<hooks_core::HookError> for Failure {{\n    \
         fn from(_: hooks_core::HookError) -> Self {{ Self }}\n}}\n"
    );
    for index in 0..TYPES {
        let _ = writeln!(text, "{derive}\npub struct Agent{index} {{ pub name: String, {field} }}");
        let signature = |number: usize| {
            format!(
                "async fn method{number}(&self, text: &str, count: usize, more: Option<u32>) -> \
                 Result<String, Failure>"
            )
        };
        let mut methods = String::new();
        let mut declarations = String::new();
        for number in 0..METHODS {
            let (vis, signature) = (if kind.is_trait { "" } else { "pub " }, signature(number));
            let _ = writeln!(declarations, "    {signature};");
            let _ = writeln!(
                methods,
                "    {method}\n    {vis}{signature} {{\n        \
                 if text.len() > count {{ return Err(Failure); }}\n        \
                 Ok(format!(\"{{}} {{text}} {{more:?}}\", self.name))\n    }}"
            );
        }
        if kind.is_trait {
            let _ = writeln!(text, "{block}\npub trait Trait{index} {{\n{declarations}}}");
            let _ = writeln!(text, "{block}\nimpl Trait{index} for Agent{index} {{\n{methods}}}");
        } else {
            let _ = writeln!(text, "{block}\nimpl Agent{index} {{\n{methods}}}");
        }
    }
    text
}

fn check(folder: &Path, kind: &Kind) -> Duration {
    let source_file = folder.join(kind.name).join("src/lib.rs");
    fs::write(&source_file, source(kind)).expect("the source can be written");
    let start = Instant::now();
    let checked = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--quiet", "--offline", "-p", kind.name])
        .current_dir(folder)
        .env_remove("RUSTFLAGS")
        // Else nothing is left to do the second time.
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .expect("cargo can be run");
    assert!(checked.success(), "the crate `{}` does not compile", kind.name);
    start.elapsed()
}

fn main() {
    // `cargo test --benches` runs benches too, only to see that they do.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    let root = root.expect("the workspace is above");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check");
    let members = KINDS.map(|kind| format!("\"{}\"", kind.name)).join(", ");
    for kind in &KINDS {
        let package = folder.join(kind.name);
        fs::create_dir_all(package.join("src")).expect("a folder can be made");
        let manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n\
             hooks-core = {{ path = \"{root}\", package = \"hooks-core\" }}\n\
             tracing = {{ version = \"0.1\", features = [\"attributes\"] }}\nasync-trait = \"0.1\"\n",
            kind.name,
            root = root.join("hooks-core").display(),
        );
        fs::write(package.join("Cargo.toml"), manifest).expect("a manifest can be written");
        fs::write(package.join("src/lib.rs"), source(kind)).expect("the source can be written");
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    fs::write(folder.join("Cargo.toml"), workspace).expect("a manifest can be written");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("there is a lock file");

    let mut best = KINDS.map(|kind| (kind.name, check(&folder, &kind)));
    for _ in 0..ROUNDS {
        for (kind, (_, best)) in KINDS.iter().zip(&mut best) {
            *best = check(&folder, kind).min(*best);
        }
    }
    let plain = best[0].1;
    println!("cargo check of {} methods     time    ratio", TYPES * METHODS);
    for (name, time) in best {
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        println!("{name:26}  {:7.0} ms  {ratio:6.2}x", time.as_secs_f64() * 1000.0);
    }
}
