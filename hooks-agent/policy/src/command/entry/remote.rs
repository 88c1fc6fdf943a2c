//! Entries that ask a server, a tool or a model.

use serde_json::{Map, Value};

use crate::command::entry::command_entry::CommandEntry;
use crate::command::entry::handler::{Handler, McpTool};

impl CommandEntry {
    /// Creates an entry that posts the input to a URL, as `application/json`, and reads the output from the body
    /// of the answer. It requires the feature `command-http`, and a host that the program
    /// [allows](crate::command::CommandHooksBuilder::allow_hosts). The URL is one of `https`, or of this machine.
    ///
    /// No redirect is followed, and no proxy is asked. The [time limit](Self::timeout) covers the whole
    /// exchange.
    ///
    /// ```
    /// use hooks_agent::command::{CommandEntry, CommandHooks};
    ///
    /// let guard = CommandEntry::http("PreToolUse", "http://127.0.0.1:8080/check")
    ///     .env("TOKEN", "6c1")
    ///     .header("authorization", "Bearer $TOKEN")
    ///     .sign_with("a secret of both sides")
    ///     .matcher("shell");
    /// let hooks = CommandHooks::builder(std::env::temp_dir())
    ///     .allow_hosts(["127.0.0.1:8080"])
    ///     .entry(guard)
    ///     .open()?;
    /// # let _ = hooks;
    /// # Ok::<(), hooks_agent::command::CommandHooksError>(())
    /// ```
    pub fn http(event: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(event, Handler::Http(url.into()))
    }

    /// Creates an entry that calls a tool of a server that the program
    /// [gives](crate::command::CommandHooksBuilder::mcp_server), and reads the output from its text. In
    /// the texts of the arguments, `${tool_input.path}` is that field of the input. A text that is one field alone
    /// becomes its value, whatever it is; an event without the field is a failure.
    ///
    /// The tool runs outside of the agent: its permission is not asked for, no hook runs around it, and its
    /// context has no user.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::command::{CommandEntry, CommandHooks};
    /// use hooks_agent::tool::{FunctionTool, Tool};
    /// use serde_json::Value;
    ///
    /// let scan = FunctionTool::new("scan", "Scans a path.", async |arguments: Value| {
    ///     let is_secret = arguments["path"].as_str().is_some_and(|path| path.ends_with(".env"));
    ///     if is_secret { r#"{"decision": "block", "reason": "a secret"}"# } else { "" }
    /// });
    /// let hooks = CommandHooks::builder(std::env::temp_dir())
    ///     .mcp_server("scanner", [Arc::new(scan) as Arc<dyn Tool>])
    ///     .entry(CommandEntry::mcp_tool(
    ///         "PreToolUse",
    ///         "scanner",
    ///         "scan",
    ///         [("path", "${tool_input.path}")],
    ///     ))
    ///     .open()?;
    /// # let _ = hooks;
    /// # Ok::<(), hooks_agent::command::CommandHooksError>(())
    /// ```
    pub fn mcp_tool(
        event: impl Into<String>,
        server: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>,
    ) -> Self {
        let input = arguments.into_iter().map(|(name, value)| (name.into(), value.into()));
        let (server, tool, input) = (server.into(), tool.into(), input.collect::<Map<_, _>>());
        Self::new(event, Handler::McpTool(McpTool { server, tool, input }))
    }

    /// Creates an entry that asks the model that the program
    /// [gives](crate::command::CommandHooksBuilder::model) whether the event may go on. The model answers
    /// `{"ok": true}`, which decides nothing, or `{"ok": false, "reason": ".."}`, which blocks.
    ///
    /// The model reads the prompt first, and then the input as one block that is called data, and that nothing
    /// in the event can close. In the prompt, `$ARGUMENTS` stands for that block. A model can be talked into
    /// much: a prompt is no guard of what must never happen.
    ///
    /// ```
    /// use hooks_agent::command::{CommandEntry, CommandHooks};
    /// use hooks_agent::prelude::*;
    ///
    /// let small = ScriptedModel::new("small", |_| r#"{"ok": false, "reason": "it deletes"}"#);
    /// let ask = "Does a tool call delete files? Then it may not go on. $ARGUMENTS";
    /// let hooks = CommandHooks::builder(std::env::temp_dir())
    ///     .model(small)
    ///     .entry(CommandEntry::prompt("PreToolUse", ask).matcher("shell"))
    ///     .open()?;
    /// # let _ = hooks;
    /// # Ok::<(), hooks_agent::command::CommandHooksError>(())
    /// ```
    pub fn prompt(event: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self::new(event, Handler::Prompt(prompt.into()))
    }

    /// Adds a header of a request. `$NAME` and `${NAME}` in the value are variables: those of
    /// [`env`](Self::env) and [`secret_env`](Self::secret_env), and those of this program that are
    /// [passed on](Self::pass_env). Another one, or one that is not set, is an error at opening. A header of the
    /// same name is replaced. Write a secret as a variable: then it is in no digest.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Signs requests with a key that the server has too, so that it can tell who sent them:
    /// `X-Hooks-Signature: t=<seconds since 1970>,v1=<hexadecimal HMAC-SHA256>`. What is signed is the number of
    /// seconds, a dot and the body. [The guide] has the check of a server.
    ///
    /// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/command/index.html
    pub fn sign_with(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.signing_key = Some(key.into());
        self
    }
}
