//! `hooks-agent install` and `hooks-agent uninstall`: the guard in the settings of a coding agent.

pub(crate) mod files;
pub(crate) mod place;
pub(crate) mod script;
mod settings;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use clap::Args;
use hooks_core::BoxError;

use crate::install::files::Files;
use crate::install::place::Place;
use crate::install::script::Script;
use crate::install::settings::Settings;
use crate::policies::PolicyArgs;
use crate::state::{socket_file, state_file};
use hooks_agent_guest::{Dialect, Guard};
use hooks_agent_serve::NotHeld;

/// Puts the guard into the settings of a coding agent, at each event that it decides about.
///
/// What is in the settings stays, and the change is shown. The guard runs by a script that answers in its place, as a
/// deny in the form of the agent, if it is killed, missing or silent. `hooks-agent uninstall` undoes it.
#[derive(Args)]
pub(super) struct InstallArgs {
    /// The agent, such as `claude` or `codex`.
    #[arg(value_name = "AGENT")]
    agent: Dialect,
    #[command(flatten)]
    policies: PolicyArgs,
    /// The SQLite file in which hooks keep values of threads.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Has `hooks-agent serve` asked, in place of a guard that starts at each event. The policy is that of the server.
    #[arg(long, conflicts_with = "state")]
    serve: bool,
    /// The socket of the server, if it is not its usual one.
    #[arg(long, value_name = "FILE", requires = "serve")]
    socket: Option<PathBuf>,
    /// The folder of a project whose settings are changed, in place of those of the user.
    #[arg(long = "in", value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Shows what would be changed, and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Takes the guard out of the settings of a coding agent.
#[derive(Args)]
pub(super) struct UninstallArgs {
    /// The agent.
    #[arg(value_name = "AGENT")]
    agent: Dialect,
    /// The folder of the project whose settings are changed, in place of those of the user.
    #[arg(long = "in", value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Shows what would be changed, and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn install(args: &InstallArgs) -> ExitCode {
    ended(installed(args))
}

pub(super) fn uninstall(args: &UninstallArgs) -> ExitCode {
    ended(uninstalled(args))
}

fn ended(done: Result<(), BoxError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn installed(args: &InstallArgs) -> Result<(), BoxError> {
    need_shell("install")?;
    let guard = guard_of(args)?;
    let script = Script::of(args.agent, args.project.as_deref())?;
    if let Some(files) = Files::of(args.agent, args.project.as_deref(), &script)? {
        files.check()?;
        files.print('+');
        say!("+ {}", script.path.display());
        if args.dry_run {
            return Ok(());
        }
        script.write(args.agent, &guard, files.events)?;
        return files.write();
    }
    let place = Place::of(args.agent)?;
    let mut settings = Settings::read(&place.settings(args.project.as_deref())?)?;
    settings.remove(&script.word()?);
    for event in place.events {
        settings.add(event, place.entry(&script.command(args.agent, event)?))?;
    }
    if place.has_version {
        settings.set_version();
    }
    settings.print();
    say!("+ {}", script.path.display());
    for hole in settings.holes() {
        say!("! {hole}");
    }
    for note in place.notes {
        say!("! {note}");
    }
    if args.project.is_some() {
        say!(
            "! the script is on this machine: do not share these settings, and have the agent trust the folder"
        );
    }
    if args.dry_run {
        return Ok(());
    }
    script.write(args.agent, &guard, place.events)?;
    settings.write()
}

/// Returns the words that the script runs: a guard, or what asks one that stays.
fn guard_of(args: &InstallArgs) -> Result<Vec<OsString>, BoxError> {
    let name = args.agent.name();
    let program = env::current_exe()?;
    if args.serve {
        if !args.policies.is_empty() {
            return Err(
                "the policy is that of the server: leave it out, or leave out `--serve`".into()
            );
        }
        let socket = match &args.socket {
            Some(socket) => std::path::absolute(socket)?,
            None => socket_file(&state_file(None)?)?,
        };
        let ask = program.with_file_name("hooks-agent-ask");
        if !ask.is_file() {
            return Err(format!("{} is not there: install the program again", ask.display()).into());
        }
        let socket = socket.into_os_string();
        let words =
            [ask.into_os_string(), "--socket".into(), socket, "--agent".into(), name.into()];
        return Ok(words.into());
    }
    if args.policies.is_empty() {
        return Err(format!(
            "no policy file: write `hooks-agent install {name} --managed /etc/hooks-agent/policy.toml`, or `--serve` if \
             `hooks-agent serve` runs"
        )
        .into());
    }
    // One that is wrong would deny everything.
    let policy = args.policies.builder().open()?;
    NotHeld::BY_A_GUARD.check(&policy.merged(), Guard::DEFAULT_AGENT)?;
    let mut guard = vec![program.into_os_string(), "guard".into(), "--agent".into(), name.into()];
    guard.extend(args.policies.absolute()?);
    // Not that of the agent's environment, which a limit would begin again by.
    let state = std::path::absolute(state_file(args.state.as_deref())?)?;
    guard.extend(["--state".into(), state.into_os_string()]);
    Ok(guard)
}

fn uninstalled(args: &UninstallArgs) -> Result<(), BoxError> {
    let script = Script::of(args.agent, args.project.as_deref())?;
    if let Some(files) = Files::of(args.agent, args.project.as_deref(), &script)? {
        files.print('-');
        if args.dry_run {
            return Ok(());
        }
        files.remove()?;
        return script.remove();
    }
    let place = Place::of(args.agent)?;
    let mut settings = Settings::read(&place.settings(args.project.as_deref())?)?;
    settings.remove(&script.word()?);
    settings.print();
    say!("! sessions that run keep their hooks: start them again");
    say!("! what limits have counted stays, with the file of threads");
    if args.dry_run {
        return Ok(());
    }
    settings.write()?;
    script.remove()
}

/// Fails on systems without a Unix shell, which runs what `install` writes.
pub(crate) fn need_shell(command: &str) -> Result<(), BoxError> {
    if cfg!(unix) {
        return Ok(());
    }
    Err(format!(
        "`{command}` needs a Unix shell, which runs the script of a guard: use it in the Windows Subsystem for Linux, \
         with the agent; or write `hooks-agent guard` into the settings of the agent by hand, by what `hooks-agent check \
         --agent NAME` says of a guard that is killed or missing"
    )
    .into())
}

/// Says that an agent has its settings where `install` does not look.
fn elsewhere(variable: &str) -> BoxError {
    format!("`{variable}` is set, so the agent has its settings elsewhere: unset it, or write them by hand").into()
}

/// Writes a file as a whole or not at all, with these permissions.
fn write_whole(
    path: &Path,
    text: &str,
    permissions: Option<fs::Permissions>,
) -> Result<(), BoxError> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".new-{}", process::id()));
        let new = folder.join(name);
        // One that is there already may be a link of somebody else.
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&new)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            fs::set_permissions(&new, permissions)?;
        }
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| format!("{} cannot be written: {error}", path.display()).into())
}

/// Returns a path as text, for a command line.
fn text_of(path: &Path) -> Result<&str, BoxError> {
    path.to_str().ok_or_else(|| format!("{} is not in UTF-8", path.display()).into())
}
