//! `hooks-agent install` and `hooks-agent uninstall`: the guard in the settings of a coding agent.

mod files;
mod place;
mod script;
mod settings;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use hooks_core::BoxError;

use crate::cli::install::files::Files;
use crate::cli::install::place::Place;
use crate::cli::install::script::Script;
use crate::cli::install::settings::Settings;
use crate::cli::policies::PolicyArgs;
use crate::dialect::Dialect;

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
    if args.policies.is_empty() {
        let name = args.agent.name();
        return Err(format!(
            "no policy file: write `hooks-agent install {name} --managed /etc/hooks-agent/policy.toml`"
        )
        .into());
    }
    // One that is wrong would deny everything.
    drop(args.policies.builder().open()?);
    let mut guard = vec![env::current_exe()?.into_os_string(), "guard".into()];
    guard.extend(["--agent".into(), args.agent.name().into()]);
    guard.extend(args.policies.absolute()?);
    if let Some(state) = &args.state {
        guard.extend(["--state".into(), std::path::absolute(state)?.into_os_string()]);
    }
    let script = Script::of(args.agent, args.project.as_deref())?;
    if let Some(files) = Files::of(args.agent, args.project.as_deref(), &script)? {
        files.check()?;
        files.print('+');
        println!("+ {}", script.path.display());
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
    println!("+ {}", script.path.display());
    for hole in settings.holes() {
        println!("! {hole}");
    }
    for note in place.notes {
        println!("! {note}");
    }
    if args.project.is_some() {
        println!(
            "! the script is on this machine: do not share these settings, and have the agent trust the folder"
        );
    }
    if args.dry_run {
        return Ok(());
    }
    script.write(args.agent, &guard, place.events)?;
    settings.write()
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
    println!("! sessions that run keep their hooks: start them again");
    if args.dry_run {
        return Ok(());
    }
    settings.write()?;
    script.remove()
}

/// Says that an agent has its settings where `install` does not look.
fn elsewhere(variable: &str) -> BoxError {
    format!("`{variable}` is set, so the agent has its settings elsewhere: unset it, or write them by hand").into()
}

/// Returns the folder of the user.
fn home() -> Result<PathBuf, BoxError> {
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"));
    let home = home.filter(|home| !home.is_empty()).map(PathBuf::from);
    home.ok_or_else(|| "where the settings of the user are is not known: set `HOME`".into())
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
        name.push(".new");
        let new = folder.join(name);
        let mut file = fs::File::create(&new)?;
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
