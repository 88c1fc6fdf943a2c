//! An entry as a program writes it.

use std::fmt;
use std::time::Duration;

use crate::command::entry::handler::Handler;
use crate::command::entry::layer::Layer;
use crate::command::entry::line::name_of;

/// The time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A command, and the event at which it runs: a program, a request to a server, a tool, or a question to a
/// model. [The guide] has the contract of each.
///
/// Nothing is checked before [`open`](crate::command::CommandHooksBuilder::open), which reports the
/// mistakes of all entries together.
///
/// | setting | default |
/// |---|---|
/// | event | required: a [`CommandEvent`](crate::command::CommandEvent) or its name |
/// | [`exec`](CommandEntry::exec), [`shell`](CommandEntry::shell), [`http`](CommandEntry::http), [`mcp_tool`](CommandEntry::mcp_tool) or [`prompt`](CommandEntry::prompt) | required |
/// | [`matcher`](CommandEntry::matcher), [`condition`](CommandEntry::condition) | all |
/// | [`timeout`](CommandEntry::timeout) | 30 s |
/// | [`on_failure`](CommandEntry::on_failure) | [`OnFailure::Block`] |
/// | [`env`](CommandEntry::env), [`pass_env`](CommandEntry::pass_env) | none |
/// | of `http`: [`header`](CommandEntry::header), [`sign_with`](CommandEntry::sign_with) | none |
/// | [`sequence`](CommandEntry::sequence) | false |
/// | [`named`](CommandEntry::named) | the file name of the program, or of the script that it runs; the host; the tool; `prompt` |
/// | [`layer`](CommandEntry::layer) | [`Layer::Session`] |
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::command::{CommandEntry, CommandEvent};
///
/// let check = CommandEntry::exec(CommandEvent::PreToolUse, ["guards/check", "--strict"])
///     .matcher("write_file|shell")
///     .timeout(Duration::from_secs(5))
///     .pass_env("GUARD_TOKEN")
///     .named("check");
/// # let _ = check;
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/command/index.html
#[derive(Clone)]
#[must_use = "a command runs if its entry is added to `CommandHooks`"]
pub struct CommandEntry {
    pub(crate) event: String,
    pub(crate) handler: Handler,
    pub(crate) matcher: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) on_failure: OnFailure,
    pub(crate) env: Vec<(String, String)>,
    /// Where the values of secret variables come from.
    pub(crate) secret_sources: Vec<(String, String)>,
    pub(crate) pass_env: Vec<String>,
    /// Of requests, with the names of variables in place of their values.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) signing_key: Option<Vec<u8>>,
    pub(crate) is_sequential: bool,
    name: Option<String>,
    pub(crate) layer: Layer,
}

/// What a command that fails does to its event: one that ends with another code than 0 and 2, does
/// not start, does not end in time, or writes what is no output of a command. A server fails that cannot be
/// reached, or answers with another status than 2xx or with no JSON object; a tool that returns an error; a
/// model whose answer is no decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Blocks the event, where it can be blocked. The model reads that the call could not be
    /// checked.
    #[default]
    Block,
    /// Warns, and the call goes on.
    Continue,
}

impl CommandEntry {
    /// Creates an entry that starts a program with these arguments, without a shell. A relative
    /// path with a `/` is one of the project; a name is looked up in `PATH`.
    pub fn exec(
        event: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::new(event, Handler::Exec(args.into_iter().map(Into::into).collect()))
    }

    /// Creates an entry that runs a line of `sh`. Nothing is substituted into the line.
    pub fn shell(event: impl Into<String>, line: impl Into<String>) -> Self {
        Self::new(event, Handler::Shell("sh", line.into()))
    }

    pub(crate) fn new(event: impl Into<String>, handler: Handler) -> Self {
        Self {
            event: event.into(),
            handler,
            matcher: None,
            condition: None,
            timeout: TIMEOUT,
            on_failure: OnFailure::default(),
            env: Vec::new(),
            secret_sources: Vec::new(),
            pass_env: Vec::new(),
            headers: Vec::new(),
            signing_key: None,
            is_sequential: false,
            name: None,
            layer: Layer::default(),
        }
    }

    /// Runs the command only if this matches: the name of the tool at events of tools, the source,
    /// trigger or agent at others. Empty and `*` match all; letters, digits, `_`, `-` and blanks are
    /// exact names, with `|` or `,` between them; anything else is a regular expression that may match a
    /// part. A matcher that can match nothing is an error.
    pub fn matcher(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Runs the command only for tool calls of this form: `Tool` or `Tool(glob)`, where `Tool` may
    /// be a glob too. The glob is tested on each text in the arguments, and one that matches is
    /// enough: on the text, on each command of a line such as `cd a && rm b`, and on a path from each
    /// of its folders on. `rm *` and `rm:*` also stand for `rm` alone. `Tool(domain:host)` is about the
    /// host of an address.
    ///
    /// In texts of shell, by the name of the tool or of the argument, names are read without quotes, and
    /// also behind programs that run others: `sudo 'rm' x` is one of `rm *`. A line whose program cannot
    /// be told, such as `$TOOL x`, is one of each form. `find . -delete` is not one of `rm *`, and a
    /// program in a file or in another language is not read.
    pub fn condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets how long the command may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets what a failure does.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets a variable of the environment whose value is secret. [`Trust`](crate::command::Trust) has the
    /// digest of `source`, which says where the value comes from, in place of that of the value.
    pub fn secret_env(
        self,
        name: impl Into<String>,
        value: impl Into<String>,
        source: impl Into<String>,
    ) -> Self {
        let name = name.into();
        let mut this = self.env(name.clone(), value);
        this.secret_sources.push((name, source.into()));
        this
    }

    /// Passes a variable of this program on to the command, if there is one of this name.
    pub fn pass_env(mut self, name: impl Into<String>) -> Self {
        self.pass_env.push(name.into());
        self
    }

    /// Sets whether the command waits for the earlier sequential commands of its event. It then
    /// sees the arguments as they rewrote them, and does not run if one of them blocks.
    pub fn sequence(mut self, is_sequential: bool) -> Self {
        self.is_sequential = is_sequential;
        self
    }

    /// Sets the name, which the model and the logs see.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets where the entry comes from.
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }

    /// Returns the name, or the file name of the program; of a script, if it is run by `sh`, `python3`
    /// or another such program.
    pub(crate) fn name(&self) -> String {
        let of_program = || name_of(&self.handler);
        self.name.clone().or_else(of_program).unwrap_or_else(|| "command".to_owned())
    }
}

/// Shows the names of variables and headers without their values.
impl fmt::Debug for CommandEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("CommandEntry")
            .field("event", &self.event)
            .field("handler", &self.handler)
            .field("matcher", &self.matcher)
            .field("condition", &self.condition)
            .field("env", &env)
            .field("headers", &headers)
            .field("layer", &self.layer)
            .finish_non_exhaustive()
    }
}
