//! `hooks-agent doctor`: whether the guard of an agent is asked, and holds.

mod beside;
mod codex;
mod fire;
mod handlers;
mod hole;
mod installed;
mod policy;
mod program;
mod rights;
mod voided;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use hooks_agent_guest::Dialect;
use hooks_core::BoxError;

use crate::doctor::hole::Findings;
use crate::doctor::installed::{HookFiles, Installed, is_program};
use crate::home::home;
use crate::install::need_shell;
use crate::print::failed;

/// Examines the guards of coding agents: fires a canary at each event, and looks for what would let an agent go on
/// without its guard.
///
/// A canary is an event that each guard refuses. Each hole is printed with the line that mends it; then when that agent
/// may go on without its guard. The exit code is 0 if there is no hole, else 1.
#[derive(Args)]
pub(super) struct DoctorArgs {
    /// The agents, such as `claude` or `codex`. Without one, those with a guard.
    #[arg(value_name = "AGENT")]
    agents: Vec<Dialect>,
    /// The folder of a project whose settings have the guard, in place of those of the user.
    #[arg(long = "in", value_name = "FOLDER")]
    project: Option<PathBuf>,
}

pub(super) fn run(args: &DoctorArgs) -> ExitCode {
    if let Err(error) = need_shell("doctor") {
        return failed(&*error, 1);
    }
    let project = args.project.as_deref();
    let agents = match args.agents.as_slice() {
        [] => with_guard(project),
        agents => agents.to_vec(),
    };
    if agents.is_empty() {
        say!(
            "no agent has a guard: write `hooks-agent install AGENT --managed /etc/hooks-agent/policy.toml`"
        );
        return ExitCode::FAILURE;
    }
    let mut has_holes = false;
    for agent in agents {
        let findings = match examined(agent, project) {
            Ok(findings) => findings,
            Err(error) => {
                let mut findings = Findings::default();
                let mend = format!("then run: hooks-agent doctor {agent}");
                findings.hole(error, mend);
                findings
            }
        };
        say!("{}", agent.agent());
        findings.print();
        say!("  may go on without its guard, as `hooks-agent check --agent {agent}` lists it:");
        for gap in agent.gaps() {
            say!("  - {gap}");
        }
        say!("");
        has_holes |= findings.has_holes();
    }
    if args.agents.is_empty() && project.is_none() {
        has_holes |= says_who_has_none();
    }
    if has_holes { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the agents of which something is installed.
fn with_guard(project: Option<&Path>) -> Vec<Dialect> {
    Dialect::ALL.into_iter().filter(|agent| has_guard(*agent, project)).collect()
}

/// Returns whether an agent has anything of a guard: its script, its files, or a hook that runs it.
fn has_guard(agent: Dialect, project: Option<&Path>) -> bool {
    let Ok(installed) = Installed::of(agent, project) else { return false };
    installed.is_there() || has_hook(&installed)
}

fn has_hook(installed: &Installed) -> bool {
    let HookFiles::Settings(place, path) = &installed.hooks else { return installed.is_there() };
    let text = fs::read_to_string(path).unwrap_or_default();
    let settings = serde_json::from_str(&text).unwrap_or_default();
    !handlers::of_guard(place, &settings).is_empty()
}

/// Says which agents are here without a guard.
fn says_who_has_none() -> bool {
    let Ok(home) = home() else { return false };
    let folders = [
        ("claude", ".claude"),
        ("codex", ".codex"),
        ("gemini", ".gemini"),
        ("copilot", ".copilot"),
        ("cline", ".cline"),
        ("opencode", ".config/opencode"),
        ("qwen", ".qwen"),
        ("cursor", ".cursor"),
        ("windsurf", ".codeium/windsurf"),
    ];
    let mut has_some = false;
    for (name, folder) in folders {
        let Ok(agent) = name.parse::<Dialect>() else { continue };
        // One whose settings are elsewhere says so itself.
        let is_known = Installed::of(agent, None).is_ok();
        if is_known && !has_guard(agent, None) && home.join(folder).is_dir() {
            has_some = true;
            say!("! {} is here without a guard", agent.agent());
            say!("  run: hooks-agent install {name} --managed /etc/hooks-agent/policy.toml");
        }
    }
    if home.join(".continue").is_dir() {
        say!(
            "- Continue is here: it never calls the hooks that it loads, so nothing can guard it by them"
        );
    }
    has_some
}

fn examined(agent: Dialect, project: Option<&Path>) -> Result<Findings, BoxError> {
    let mut findings = Findings::default();
    let installed = Installed::of(agent, project)?;
    let folder = match project {
        Some(project) => project.to_owned(),
        None => env::current_dir()?,
    };
    installed.examine_script(&mut findings);
    rights::examine(&installed, &mut findings);
    examine_twice(&installed, &folder, &mut findings);
    let deadline = policy::examine(&installed, &mut findings);
    match &installed.hooks {
        HookFiles::Settings(place, path) => {
            let settings = handlers::settings(&installed, path, &mut findings);
            voided::examine(&installed, settings.as_ref(), &folder, &mut findings);
            beside::examine(&installed, place, path, &folder, &mut findings);
            if let Some(settings) = &settings {
                let found = handlers::of_guard(place, settings);
                handlers::examine(&installed, place, path, &found, deadline, &mut findings);
                for handler in &found {
                    fire::fire(&installed, handler.event, handler.command, &folder, &mut findings);
                }
            }
        }
        HookFiles::Own(files) => {
            voided::examine(&installed, None, &folder, &mut findings);
            beside::examine_files(&installed, files, &mut findings);
            for (path, text) in &files.files {
                examine_file(&installed, path, text, &mut findings);
            }
            for event in files.events {
                fire::fire(
                    &installed,
                    event,
                    &own_line(&installed, event)?,
                    &folder,
                    &mut findings,
                );
            }
        }
    }
    program::examine(&installed, &folder, &mut findings);
    Ok(findings)
}

/// Finds a guard in the settings of the user and of a project at once: each event is decided about twice then.
fn examine_twice(installed: &Installed, folder: &Path, findings: &mut Findings) {
    let agent = installed.agent;
    let other = match installed.project {
        Some(_) => Installed::of(agent, None),
        None => Installed::of(agent, Some(folder)),
    };
    let Ok(other) = other else { return };
    if !has_hook(&other) || !has_hook(installed) || other.is_at(installed) {
        return;
    }
    let of_project = if installed.project.is_some() { installed } else { &other };
    let project = of_project.project.as_deref().unwrap_or(folder).display();
    findings.hole(
        format!("a guard of the user and one of {project} decide both, and limits count twice"),
        format!(
            "run: hooks-agent uninstall {agent}, or: hooks-agent uninstall {agent} --in {project}"
        ),
    );
}

/// Examines a file that is a hook itself.
fn examine_file(installed: &Installed, path: &Path, text: &str, findings: &mut Findings) {
    let shown = path.display();
    match fs::read_to_string(path) {
        Err(error) => findings.hole(format!("{shown} cannot be read: {error}"), installed.again()),
        Ok(other) if other != text => {
            findings.hole(format!("{shown} is not as `install` writes it"), installed.again());
        }
        Ok(_) => {}
    }
    if text.starts_with("#!") && path.exists() && !is_program(path) {
        findings.hole(
            format!("{shown} is no program that can be run, so the hook never runs"),
            format!("run: chmod +x {shown}"),
        );
    }
}

/// Returns the line by which a file of its own has its event decided.
fn own_line(installed: &Installed, event: &str) -> Result<String, BoxError> {
    let HookFiles::Own(files) = &installed.hooks else { return Ok(String::new()) };
    // A plug-in runs the script itself.
    let of_event = files.files.iter().find(|(path, _)| path.ends_with(event));
    match of_event {
        Some((path, _)) => Ok(format!("'{}'", path.display().to_string().replace('\'', r"'\''"))),
        None => installed.script.run(event),
    }
}
