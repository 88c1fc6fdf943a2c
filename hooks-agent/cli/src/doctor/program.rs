//! The agent itself: its version, and what it says of its hooks.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use hooks_agent_guest::Dialect;

use crate::doctor::codex;
use crate::doctor::fire::run;
use crate::doctor::hole::Findings;
use crate::doctor::installed::{HookFiles, Installed, is_program};

/// Agents that without a certain version have no switch by which a failed hook blocks.
const SWITCHES: [&str; 1] = ["claude"];

/// Examines the program of an agent, if it is there.
pub(super) fn examine(installed: &Installed, folder: &Path, findings: &mut Findings) {
    let agent = installed.agent;
    if agent.name() == "opencode" {
        loaded(installed, findings);
    }
    let program = found(agent);
    if agent.name() == "codex" {
        codex::examine_trust(installed, program.as_deref(), folder, findings);
    }
    let Some(program) = program else {
        findings
            .note(format!("`{agent}` is not in `PATH`: what it says of its hooks was not asked"));
        return;
    };
    if let Some(version) = version(&program) {
        compare(agent, &version, findings);
    }
}

fn found(agent: Dialect) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|folder| folder.join(agent.name())).find(|path| is_program(path))
}

fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let output = run(command, "").ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_version = |word: &&str| {
        word.split('.').count() >= 3 && word.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, 'v' | '(' | ')' | ','));
    words.find(is_version).map(str::to_owned)
}

fn compare(agent: Dialect, version: &str, findings: &mut Findings) {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
    };
    let (here, watched) = (numbers(version), numbers(agent.version()));
    if watched.is_empty() || here == watched {
        return;
    }
    let name = agent.agent();
    if here < watched && SWITCHES.contains(&agent.name()) {
        findings.hole(
            format!(
                "{name} {version} is older than {}, in which a failed hook was seen to block",
                agent.version()
            ),
            format!("update `{agent}`"),
        );
    } else {
        findings.note(format!(
            "{name} is {version}; {} was watched, and this one may behave otherwise",
            agent.version()
        ));
    }
}

/// Has a plug-in loaded, as opencode does it: one that cannot be is passed over without a word.
fn loaded(installed: &Installed, findings: &mut Findings) {
    let HookFiles::Own(files) = &installed.hooks else { return };
    for (path, _) in &files.files {
        let load = "const it = await import(process.argv[1]); \
                    const all = Object.values(it); \
                    if (all.length !== 1 || typeof all[0] !== 'function') throw new Error('it has not one export'); \
                    const hooks = await all[0]({}); \
                    if (!hooks['tool.execute.before']) throw new Error('it has no hooks')";
        let mut command = Command::new("node");
        command.args(["--input-type=module", "-e", load]).arg(path);
        match run(command, "") {
            Ok(output) if output.status.success() => findings.note("the plug-in loads"),
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                let why = errors.lines().find(|line| line.contains("Error")).unwrap_or_default();
                findings.hole(
                    format!("the plug-in does not load, and nothing says so: {why}"),
                    installed.again(),
                );
            }
            Err(_) => {
                findings.note("`node` is not in `PATH`, so the plug-in was not loaded");
            }
        }
    }
}
