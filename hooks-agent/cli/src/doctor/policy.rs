//! The policy and the state of a guard.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::Parser;
use hooks_agent_policy::policy::MergedHook;

use crate::doctor::hole::Findings;
use crate::doctor::installed::Installed;
use crate::guard::GuardArgs;

/// How many seconds the program that asks a server waits at most.
const ASK: u64 = 20;

/// The arguments of a guard, as its script has them.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Guard {
    #[command(flatten)]
    args: GuardArgs,
}

/// Examines whether the policy can be opened, and holds what it says. Returns how many seconds the guard takes at most.
pub(super) fn examine(installed: &Installed, findings: &mut Findings) -> Option<u64> {
    let guard = installed.guard.as_ref()?;
    if let Some(socket) = installed.socket() {
        if let Err(why) = connect(socket) {
            findings.hole(
                format!("the server is down, so everything is denied: {}: {why}", socket.display()),
                format!(
                    "run: hooks-agent serve --socket {} --managed /etc/hooks-agent/policy.toml",
                    socket.display()
                ),
            );
        }
        return Some(ASK);
    }
    let words: Vec<OsString> = guard.iter().skip(2).cloned().collect();
    let args = match Guard::try_parse_from(words) {
        Ok(guard) => guard.args,
        Err(error) => {
            let error = error.to_string();
            let error = error.lines().next().unwrap_or_default();
            findings.hole(
                format!("the script starts the guard with wrong arguments: {error}"),
                installed.again(),
            );
            return None;
        }
    };
    let policy = args.policy();
    if let Ok(policy) = &policy {
        let merged = policy.merged();
        if guard.iter().any(|word| word == "--shadow") {
            findings.hole(
                "the guard runs in shadow: it denies nothing",
                "install it without `--shadow`",
            );
        }
        let has_hooks = merged.hooks().iter().any(MergedHook::is_enabled)
            || !merged.commands().is_empty()
            || merged.rules().iter().any(|rule| !rule.is_shadow());
        if !has_hooks && merged.deny_tools().next().is_none() {
            findings.hole(
                "the policy has no hook, no rule, no command and no tool in `deny_tools`: it denies nothing",
                "write what it is to refuse, such as [limits] deny_tools = [\"Bash\"]",
            );
        } else if !has_hooks {
            findings.note("the policy has no hook and no rule: `deny_tools` is all that holds");
        }
    }
    if let Err(error) = policy {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            why = format!("{why}: {error}");
            cause = error.source();
        }
        let first = why.lines().next().unwrap_or_default();
        let files = ["--managed", "--policy", "--user", "--local", "--session"];
        let files = files.into_iter().flat_map(|option| installed.options(option));
        let files: Vec<_> = files.map(|file| file.display().to_string()).collect();
        findings.hole(
            format!("the policy is broken, so everything is denied: {first}"),
            format!("mend it, and see: hooks-agent check {}", files.join(" ")),
        );
    }
    Some(args.deadline())
}

#[cfg(unix)]
fn connect(socket: &Path) -> io::Result<()> {
    std::os::unix::net::UnixStream::connect(socket).map(drop)
}

#[cfg(not(unix))]
fn connect(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
