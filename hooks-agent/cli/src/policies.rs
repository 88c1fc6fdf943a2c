//! The policy files of a command.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hooks_agent_policy::command::Trust;
use hooks_agent_policy::policy::{Layer, Policy, PolicyBuilder, PolicyFile};

/// The policy files, each in its layer.
#[derive(Args)]
pub(super) struct PolicyArgs {
    /// A policy file of the project.
    #[arg(short, long, aliases = ["project", "guard"], value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// A policy file that no other may weaken.
    #[arg(long, value_name = "FILE")]
    managed: Vec<PathBuf>,
    /// A policy file of this run.
    #[arg(long, value_name = "FILE")]
    session: Vec<PathBuf>,
    /// A policy file of this machine.
    #[arg(long, value_name = "FILE")]
    local: Vec<PathBuf>,
    /// A policy file of the user.
    #[arg(long, value_name = "FILE")]
    user: Vec<PathBuf>,
    /// The directory in which commands of policy files run.
    #[arg(long, value_name = "DIRECTORY")]
    commands_in: Option<PathBuf>,
    /// Has all files but the managed ones run in shadow: what they would do is reported, and changes nothing.
    #[arg(long)]
    pub(super) shadow: bool,
    /// The file of the commands that are trusted, which `hooks-agent trust` writes.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
}

impl PolicyArgs {
    pub(super) fn is_empty(&self) -> bool {
        self.layers().iter().all(|(_, files)| files.is_empty())
    }

    pub(super) fn builder(&self) -> PolicyBuilder {
        let mut builder = Policy::builder().in_shadow(self.shadow);
        if let Some(directory) = &self.commands_in {
            builder = builder.commands_in(directory);
        }
        if let Some(file) = &self.trust {
            builder = builder.trust(Trust::file(file));
        }
        for (layer, files) in self.layers() {
            for file in files {
                builder = builder.file(layer, PolicyFile::at(file));
            }
        }
        builder
    }

    /// Returns them as arguments, for another folder than this one.
    pub(super) fn absolute(&self) -> io::Result<Vec<OsString>> {
        let names = ["--managed", "--session", "--local", "--policy", "--user"];
        let files = names.into_iter().zip(self.layers());
        let files = files.flat_map(|(name, (_, files))| files.iter().map(move |file| (name, file)));
        let commands_in = self.commands_in.iter().map(|folder| ("--commands-in", folder));
        let trust = self.trust.iter().map(|file| ("--trust", file));
        let mut args = Vec::new();
        for (name, path) in files.chain(commands_in).chain(trust) {
            args.extend([name.into(), std::path::absolute(path)?.into_os_string()]);
        }
        args.extend(self.shadow.then(|| "--shadow".into()));
        Ok(args)
    }

    fn layers(&self) -> [(Layer, &[PathBuf]); 5] {
        [
            (Layer::Managed, &self.managed),
            (Layer::Session, &self.session),
            (Layer::Local, &self.local),
            (Layer::Project, &self.policy),
            (Layer::User, &self.user),
        ]
    }
}
