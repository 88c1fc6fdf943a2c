//! An agent as it is installed: its hooks, and the script that they run.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_agent_guest::Dialect;
use hooks_core::BoxError;

use crate::doctor::hole::Findings;
use crate::install::files::Files;
use crate::install::place::Place;
use crate::install::script::Script;

/// An agent with its guard, as it is installed.
pub(super) struct Installed {
    pub(super) agent: Dialect,
    pub(super) project: Option<PathBuf>,
    pub(super) script: Script,
    /// The words of the guard that the script runs, if they can be read.
    pub(super) guard: Option<Vec<OsString>>,
    pub(super) hooks: HookFiles,
}

/// Where an agent has its hooks.
pub(super) enum HookFiles {
    /// In this file of settings.
    Settings(&'static Place, PathBuf),
    /// In files of their own.
    Own(Files),
}

impl Installed {
    pub(super) fn of(agent: Dialect, project: Option<&Path>) -> Result<Self, BoxError> {
        let script = Script::of(agent, project)?;
        let hooks = match Files::of(agent, project, &script)? {
            Some(files) => HookFiles::Own(files),
            None => {
                let place = Place::of(agent)?;
                HookFiles::Settings(place, place.settings(project)?)
            }
        };
        let text = fs::read_to_string(&script.path).ok();
        let guard = text.as_deref().and_then(Script::guard_in);
        Ok(Self { agent, project: project.map(Path::to_owned), script, guard, hooks })
    }

    /// Returns whether anything of it is there.
    pub(super) fn is_there(&self) -> bool {
        let has_hooks = match &self.hooks {
            HookFiles::Own(files) => files.files.iter().any(|(path, _)| path.exists()),
            HookFiles::Settings(..) => false,
        };
        self.script.path.exists() || has_hooks
    }

    /// Returns whether both have their hooks in the same place.
    pub(super) fn is_at(&self, other: &Self) -> bool {
        match (&self.hooks, &other.hooks) {
            (HookFiles::Settings(_, here), HookFiles::Settings(_, there)) => {
                here.canonicalize().ok() == there.canonicalize().ok()
            }
            (HookFiles::Own(here), HookFiles::Own(there)) => {
                here.files.iter().map(|(path, _)| path).eq(there.files.iter().map(|(path, _)| path))
            }
            _ => false,
        }
    }

    pub(super) fn events(&self) -> &'static [&'static str] {
        match &self.hooks {
            HookFiles::Settings(place, _) => place.events,
            HookFiles::Own(files) => files.events,
        }
    }

    /// Returns the line that installs the guard again, as it is.
    pub(super) fn again(&self) -> String {
        let mut line = format!("run: hooks-agent install {}", self.agent);
        if let Some(socket) = self.socket() {
            line.push_str(" --serve --socket ");
            line.push_str(&socket.display().to_string());
            self.add_project(&mut line);
            return line;
        }
        let words = self.guard.iter().flatten().skip(1).filter_map(|word| word.to_str());
        let mut words = words.skip_while(|word| *word != "--agent").skip(2).peekable();
        if words.peek().is_none() {
            line.push_str(" --managed /etc/hooks-agent/policy.toml");
        }
        for word in words {
            line.push(' ');
            line.push_str(word);
        }
        self.add_project(&mut line);
        line
    }

    fn add_project(&self, line: &mut String) {
        if let Some(project) = &self.project {
            line.push_str(" --in ");
            line.push_str(&project.display().to_string());
        }
    }

    /// Returns whether these are the words of this program, or of the one that asks a server.
    fn is_of_this_program(&self, guard: &[OsString]) -> bool {
        let agent = self.agent.name();
        let words: Vec<_> = guard.iter().skip(1).map(|word| word.to_str().unwrap_or("")).collect();
        let name = match words.as_slice() {
            ["guard", "--agent", name, ..] if *name == agent => None,
            ["--socket", _, "--agent", name] if *name == agent => Some("hooks-agent-ask"),
            _ => return false,
        };
        let Ok(here) = env::current_exe() else { return false };
        let expected = name.map_or_else(|| here.clone(), |name| here.with_file_name(name));
        let is_gone = !Path::new(&guard[0]).exists();
        // One that is not there is another hole.
        is_gone || fs::canonicalize(&guard[0]).ok() == fs::canonicalize(expected).ok()
    }

    /// Returns the socket of a server, if the script asks one.
    pub(super) fn socket(&self) -> Option<&Path> {
        self.options("--socket").first().copied()
    }

    /// Returns the value of an option of the guard.
    pub(super) fn options(&self, name: &str) -> Vec<&Path> {
        let words: Vec<_> = self.guard.iter().flatten().collect();
        let pairs = words.windows(2).filter(|pair| pair[0].to_str() == Some(name));
        pairs.map(|pair| Path::new(pair[1])).collect()
    }

    /// Examines the script: whether it is there, and as `install` writes it; and the guard that it runs.
    pub(super) fn examine_script(&self, findings: &mut Findings) {
        let path = self.script.path.display();
        let text = match fs::read_to_string(&self.script.path) {
            Ok(text) => text,
            Err(error) => {
                findings.hole(format!("the script {path} cannot be read: {error}"), self.again());
                return;
            }
        };
        let Some(guard) = &self.guard else {
            findings.hole(format!("the script {path} is not that of `install`"), self.again());
            return;
        };
        let written = Script::text(self.agent, guard, self.events());
        if !written.is_ok_and(|written| written == text) {
            findings.hole(
                format!("the script {path} was changed since `install` wrote it"),
                self.again(),
            );
        }
        if !self.is_of_this_program(guard) {
            findings.hole(
                format!("the script {path} does not run this program, but `{}`", shown(guard)),
                self.again(),
            );
        }
        if self.socket().is_none() && self.options("--state").is_empty() {
            findings.hole(
                "the environment of the agent says where the guard keeps its state: another one, and limits begin again",
                self.again(),
            );
        }
        let program = Path::new(&guard[0]);
        if !is_program(program) {
            findings.hole(
                format!("the guard {} is no program that can be run", program.display()),
                "build it again: cargo install --path hooks-agent --features cli; then install it again",
            );
        }
        if let Some(project) = &self.project
            && let Ok(project) = project.canonicalize()
        {
            for option in ["--policy", "--managed", "--user", "--local", "--session"] {
                for file in self.options(option).into_iter().filter(|it| it.starts_with(&project)) {
                    findings.note(format!(
                        "the policy {} is in the folder of the project, where the agent writes: keep it elsewhere",
                        file.display()
                    ));
                }
            }
        }
    }
}

fn shown(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Returns whether a file can be run.
pub(super) fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let can_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let can_run = true;
    metadata.is_file() && can_run
}
