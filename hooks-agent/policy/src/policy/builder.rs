//! Builds and opens a policy.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hooks_agent_core::hook::{AgentHook, HookModel};
use hooks_agent_core::options::FromFn;
use hooks_core::BoxError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::command::{Layer, Trust};
use crate::policy::error::{PolicyError, PolicyErrors};
use crate::policy::file::{PolicyFile, Source};
use crate::policy::hook_source::{Policy, Setup};
use crate::policy::merge::{CommandSetup, Merged};
use crate::policy::registry::{Registry, schema_of};

/// Opens a [`Policy`], or checks its files.
#[must_use]
pub struct PolicyBuilder {
    sources: Vec<Source>,
    registry: Registry,
    commands: CommandSetup,
    shadows: bool,
    recheck: Duration,
}

impl Policy {
    /// Starts a policy of no file.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder {
            sources: Vec::new(),
            registry: Registry::linked(),
            commands: CommandSetup::default(),
            shadows: false,
            recheck: PolicyBuilder::DEFAULT_RECHECK,
        }
    }
}

impl PolicyBuilder {
    /// How often a watcher looks at the files without an event of the file system, by default.
    pub const DEFAULT_RECHECK: Duration = Duration::from_secs(10);

    /// Adds a file of the layer [`Managed`](Layer::Managed).
    pub fn managed(self, file: impl Into<PolicyFile>) -> Self {
        self.file(Layer::Managed, file)
    }

    /// Adds a file of the layer [`Session`](Layer::Session), such as a
    /// [text](PolicyFile::text) of the command line.
    pub fn session(self, file: impl Into<PolicyFile>) -> Self {
        self.file(Layer::Session, file)
    }

    /// Adds a file of the layer [`Local`](Layer::Local).
    pub fn local(self, file: impl Into<PolicyFile>) -> Self {
        self.file(Layer::Local, file)
    }

    /// Adds a file of the layer [`Project`](Layer::Project).
    pub fn project(self, file: impl Into<PolicyFile>) -> Self {
        self.file(Layer::Project, file)
    }

    /// Adds a file of the layer [`User`](Layer::User).
    pub fn user(self, file: impl Into<PolicyFile>) -> Self {
        self.file(Layer::User, file)
    }

    /// Adds a file of a layer. Files of one layer keep the order in which they are added.
    pub fn file(mut self, layer: Layer, file: impl Into<PolicyFile>) -> Self {
        self.sources.push(Source::new(layer, file.into()));
        self
    }

    /// Lets files use a hook of the program. The closure makes it of its options, for each entry
    /// that uses it and whenever these options change. An error or a panic of the closure is an
    /// error of the file. It must not reload the policy.
    ///
    /// ```
    /// use hooks_agent::policy::{Policy, PolicyFile};
    /// use hooks_agent::prelude::*;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Sign {
    ///     text: String,
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let file = PolicyFile::text("policy.toml", r#"
    ///     version = 1
    ///     [[hook]]
    ///     use = "sign"
    ///     with = { text = " - A." }
    /// "#);
    /// let policy = Policy::builder()
    ///     .project(file)
    ///     .register("sign", |Sign { text }| {
    ///         let sign = move |it: &mut PostCall<'_>| it.final_message_mut().push_text(&text);
    ///         Ok::<_, HookError>(on(sign))
    ///     })
    ///     .open()?;
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook_source(policy).build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done. - A.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # use hooks_agent::HookError;
    /// ```
    pub fn register<O, H, E, F>(mut self, name: impl Into<String>, make: F) -> Self
    where
        O: DeserializeOwned + JsonSchema + 'static,
        H: AgentHook,
        E: Into<BoxError> + 'static,
        F: Fn(O) -> Result<H, E> + Send + Sync + 'static,
    {
        self.registry.add(name, Box::new(FromFn::<O, H, E, F>::new(make)));
        self
    }

    /// Sets the directory of the project, in which the commands of `[[command]]` run. Without it, it is
    /// the current directory.
    pub fn commands_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.commands.dir = Some(directory.into());
        self
    }

    /// Sets which commands of the layer [`Project`](Layer::Project) are trusted. One that is not is an
    /// error with its hash.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.commands.trust = trust;
        self
    }

    /// Sets whether the commands of other layers than [`Managed`](Layer::Managed) are left out.
    pub fn only_managed_commands(mut self, is_only_managed: bool) -> Self {
        self.commands.is_only_managed = is_only_managed;
        self
    }

    /// Allows commands with a `url` to send requests to these hosts, as
    /// [`CommandHooksBuilder::allow_hosts`](crate::command::CommandHooksBuilder::allow_hosts) does. The default is
    /// none.
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.commands.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Gives the model that commands with a `prompt` ask, as
    /// [`CommandHooksBuilder::model`](crate::command::CommandHooksBuilder::model) does. The default is none.
    pub fn model(mut self, model: impl Into<HookModel>) -> Self {
        self.commands.model = Some(model.into());
        self
    }

    /// Sets whether all files but those of the layer [`Managed`](Layer::Managed) are in shadow: what they say is counted
    /// and logged, and changes no call. A managed file says `mode = "shadow"` for itself.
    pub fn in_shadow(mut self, in_shadow: bool) -> Self {
        self.shadows = in_shadow;
        self
    }

    /// Sets how often a [watcher](Policy::watch) looks at the files without an event of the file
    /// system, which may have missed one. The default is
    /// [10 seconds](Self::DEFAULT_RECHECK).
    pub fn recheck_every(mut self, interval: Duration) -> Self {
        self.recheck = interval;
        self
    }

    /// Returns the JSON schema of the files, with the hooks of the program.
    #[must_use]
    pub fn schema(&self) -> Value {
        schema_of(&self.registry)
    }

    /// Checks the files and returns what they come to. Opens no file that a hook would write to,
    /// and starts no command.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn check(self) -> Result<Merged, PolicyErrors> {
        self.setup()?.check()
    }

    /// Reads the files and makes their hooks.
    ///
    /// # Errors
    /// Everything that is wrong with the files; also if no file is named, or two hooks are
    /// registered under one name.
    pub fn open(self) -> Result<Policy, PolicyErrors> {
        Policy::open(self.setup()?)
    }

    fn setup(self) -> Result<Setup, PolicyErrors> {
        let Self { mut sources, registry, mut commands, shadows, recheck } = self;
        // A program that changes its directory keeps that of its commands.
        let dir = commands.dir.unwrap_or_else(|| ".".into());
        commands.dir = Some(std::path::absolute(&dir).unwrap_or(dir));
        let mut errors = Vec::new();
        if sources.is_empty() {
            let message =
                "the policy has no file; name one by `managed`, `project` or another layer";
            errors.push(PolicyError::without_place(message));
        }
        for name in registry.twice() {
            let message = format!("two hooks are registered as `{name}`; expected another name");
            errors.push(PolicyError::without_place(message));
        }
        let mut seen = HashSet::new();
        for source in sources.iter().filter(|source| source.path().is_some()) {
            if !seen.insert(source.path()) {
                let message = format!("the file {} is named twice", source.name());
                errors.push(PolicyError::without_place(message));
            }
        }
        if !errors.is_empty() {
            return Err(PolicyErrors::new(errors));
        }
        sources.sort_by_key(|source| source.layer);
        Ok(Setup { sources, registry, commands, shadows, recheck })
    }
}

impl fmt::Debug for PolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.sources.iter().map(Source::name).collect();
        f.debug_struct("PolicyBuilder").field("files", &files).finish_non_exhaustive()
    }
}
