//! The hook that keeps tools of servers to what was pinned.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_core::HookRole;
use tokio::time::timeout;

use crate::guard::mcp_pins::error::McpPinsError;
use crate::guard::mcp_pins::phrases::suspicious;
use crate::guard::mcp_pins::pins::Pins;
use hooks_agent_core::agent::Agent;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{Flow, PreActing, PreReasoning};
use hooks_agent_core::hook::{AroundMask, NextTool, ToolCall, priority};
use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::tool::{Tool, ToolError};

/// How long a server may take to say what its tool is.
const LONGEST: Duration = Duration::from_secs(30);

/// Keeps tools of servers, such as MCP servers, to what a person has seen of them: a tool whose name, description or
/// schema is not the one that is pinned is not offered to the model, and does not run.
///
/// Who writes a server can change what its tools say to the model at any time, after somebody has looked at them. The
/// pins are the [identities](hooks_agent_core::tool::Tool) of the tools, in a file that a person writes by
/// [`pin`](Self::pin) and a program reads by [`open`](Self::open).
///
/// - **Before a round**, tools that are not pinned, or are others than what is pinned, are taken out of the request, so
///   that the model does not read their descriptions.
/// - **Before a tool runs**, its server is asked what the tool is now: also a server that changes a tool in mid-session,
///   and says so or not, is found out. One that does not answer within 30 seconds is not called.
/// - **A new tool** of a server that has pins is refused, as a changed one. A server without pins is refused, unless
///   [`pins_new_servers`](Self::pins_new_servers).
/// - **Descriptions** that speak to the model, or have characters that people do not see, are a warning in the log, once
///   for each: target `hooks_agent::builtin::guard`. They are no proof, and phrases that are none of these are not found.
///
/// Tools of the program are left alone. The names of servers are their own, unless the program
/// [names](https://docs.rs/hooks-agent/latest/hooks_agent/tool/struct.McpOptions.html#method.named) them. It does not see
/// what a tool does.
///
/// It is inherited. Its priority is 10. Clones share the pins.
///
/// ```no_run
/// use hooks_agent::builtin::guard::McpPins;
/// use hooks_agent::prelude::*;
/// use hooks_agent::tool::McpServer;
/// use tokio::process::Command;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = McpServer::spawn(Command::new("my-server")).await?;
/// let pins = McpPins::open("pins.json")?;
/// if std::env::args().any(|it| it == "--pin") {
///     pins.pin(server.tools())?; // a person has looked at them
/// }
/// let agent = ReActAgent::builder("assistant")
///     .model(ScriptedModel::new("fixed", |_| "Done."))
///     .tools(server.tools())
///     .hook(pins)
///     .build()?;
/// # drop(agent);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct McpPins {
    shared: Arc<Shared>,
    pins_new_servers: bool,
}

struct Shared {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    pins: Pins,
    /// The tools that are another one than when they were listed, by server and name.
    changed: BTreeSet<(String, String)>,
    /// The identities whose descriptions were looked at.
    read: BTreeSet<String>,
}

impl McpPins {
    /// Reads the pins of a file. Nothing is pinned if there is none.
    ///
    /// # Errors
    /// [`McpPinsError::Read`], [`McpPinsError::Invalid`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, McpPinsError> {
        let path = path.as_ref().to_owned();
        let pins = Pins::read(&path)?;
        let known = Known { pins, changed: BTreeSet::new(), read: BTreeSet::new() };
        let shared = Shared { path, known: Mutex::new(known) };
        Ok(Self { shared: Arc::new(shared), pins_new_servers: false })
    }

    /// Sets whether the tools of a server that has no pins are pinned as they are when the model is first offered one
    /// of them. Who can change the server before that is believed. Default: no.
    pub fn pins_new_servers(mut self, pins: bool) -> Self {
        self.pins_new_servers = pins;
        self
    }

    /// Pins tools as they are now, in the file too: a person has looked at them. Other pins stay.
    ///
    /// # Errors
    /// [`McpPinsError::NoServer`], and those of reading and writing the file. Nothing is pinned then.
    pub fn pin(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<(), McpPinsError> {
        let tools: Vec<_> = tools.into_iter().collect();
        if let Some(tool) = tools.iter().find(|tool| tool.server().is_none()) {
            return Err(McpPinsError::NoServer { tool: tool.name().to_owned() });
        }
        self.write(tools.iter().map(|tool| &**tool))
    }

    fn write<'a>(&self, tools: impl Iterator<Item = &'a dyn Tool>) -> Result<(), McpPinsError> {
        let mut known = self.known();
        // Another process may have pinned others.
        let mut pins = Pins::read(&self.shared.path)?;
        let mut changed = known.changed.clone();
        for tool in tools {
            let Some(server) = tool.server() else { continue };
            pins.set(server, tool.name(), tool.identity());
            changed.remove(&(server.to_owned(), tool.name().to_owned()));
        }
        pins.write(&self.shared.path)?;
        (known.pins, known.changed) = (pins, changed);
        Ok(())
    }

    /// Returns why a tool does not run, if it does not.
    fn refuses(&self, tool: &dyn Tool) -> Option<String> {
        let server = tool.server()?;
        let mut known = self.known();
        let identity = tool.identity();
        if known.read.insert(identity.clone()) {
            warn_of(server, tool);
        }
        let name = tool.name();
        let of_server = (server.to_owned(), name.to_owned());
        match known.pins.get(server, name) {
            Some(pinned) if *pinned == identity && !known.changed.contains(&of_server) => None,
            Some(_) => Some(changed(server, name)),
            None => Some(format!(
                "the tool `{name}` of the server `{server}` is not pinned; a person has to look at it, and pin it"
            )),
        }
    }

    /// Returns why the tool that its server has now does not run, if it does not.
    async fn refuses_now(&self, tool: &dyn Tool) -> Option<String> {
        let server = tool.server()?;
        let name = tool.name();
        match timeout(LONGEST, tool.current_identity()).await {
            Ok(Ok(None)) => None,
            Ok(Ok(Some(identity))) if identity == tool.identity() => None,
            Ok(Ok(Some(_))) => {
                self.known().changed.insert((server.to_owned(), name.to_owned()));
                Some(changed(server, name))
            }
            Ok(Err(error)) => {
                Some(format!("the server `{server}` does not say what `{name}` is now: {error}"))
            }
            Err(_) => Some(format!("the server `{server}` does not say what `{name}` is now")),
        }
    }

    /// Pins the tools of servers without pins.
    fn pin_new(&self, tools: &[&Arc<dyn Tool>]) {
        let mut new: BTreeMap<&str, Vec<&dyn Tool>> = BTreeMap::new();
        {
            let known = self.known();
            for tool in tools {
                if let Some(server) = tool.server().filter(|it| !known.pins.has_server(it)) {
                    new.entry(server).or_default().push(&***tool);
                }
            }
        }
        for (server, tools) in new {
            // What cannot be pinned is refused.
            match self.write(tools.into_iter()) {
                Ok(()) => {
                    tracing::info!(target: "hooks_agent::builtin::guard", server, "a server is pinned");
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(
                        target: "hooks_agent::builtin::guard", server, error, "a server cannot be pinned"
                    );
                }
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn changed(server: &str, tool: &str) -> String {
    format!(
        "the tool `{tool}` of the server `{server}` is another one than what is pinned; a person has to look at it, \
         and pin it again"
    )
}

fn warn_of(server: &str, tool: &dyn Tool) {
    let schema = tool.schema().to_string();
    let found = [tool.description(), schema.as_str()].into_iter().find_map(suspicious);
    if let Some(phrase) = found {
        let tool = tool.name();
        tracing::warn!(
            target: "hooks_agent::builtin::guard", server, tool, phrase,
            "the description of a tool seems to speak to the model"
        );
    }
}

fn find<'a>(agent: &'a dyn Agent, name: &str) -> Option<&'a Arc<dyn Tool>> {
    agent.find_tool(name).filter(|tool| tool.server().is_some())
}

#[agent_hook(
    priority = priority::SECURITY,
    role = HookRole::Guards,
    inherit,
    always,
    // It refuses, and answers nothing.
    answers_around = AroundMask::NONE
)]
impl McpPins {
    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) {
        let agent = event.agent();
        let tools: Vec<_> =
            event.tools().iter().filter_map(|spec| find(agent, &spec.name)).collect();
        if self.pins_new_servers {
            self.pin_new(&tools);
        }
        let refused: BTreeSet<_> = tools
            .into_iter()
            .filter(|tool| self.refuses(&***tool).is_some())
            .map(|tool| tool.name().to_owned())
            .collect();
        if !refused.is_empty() {
            let kept = event.tools().iter().filter(|spec| !refused.contains(&spec.name));
            let kept: Vec<_> = kept.cloned().collect();
            event.set_tools(kept);
        }
    }

    fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        let tool = find(event.agent(), &event.tool_use().name);
        match tool.and_then(|tool| self.refuses(&**tool)) {
            Some(why) => event.refuse(why),
            None => Flow::Continue,
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let tool = find(call.agent(), &call.tool_use().name).cloned();
        let why = match &tool {
            Some(tool) => match self.refuses(&**tool) {
                None => self.refuses_now(&**tool).await,
                why => why,
            },
            None => None,
        };
        if let Some(why) = why {
            return Ok(ToolResult::error(call.tool_use(), why));
        }
        // A hook further in may make a call of another tool of it.
        let name = call.tool_use().name.clone();
        let specs: Vec<_> =
            call.agent().tool_specs().iter().map(|spec| spec.name.clone()).collect();
        let others = specs.iter().filter_map(|other| find(call.agent(), other).cloned());
        let others: Vec<_> = others.filter(|other| other.name() != name).collect();
        let pins = self.clone();
        let check = move |running: &ToolUse| {
            let other = others.iter().find(|other| other.name() == running.name);
            match other.and_then(|other| pins.refuses(&**other)) {
                Some(why) => Err(why),
                None => Ok(()),
            }
        };
        next.run_checked(call.into_tool_use(), check).await
    }
}

impl fmt::Debug for McpPins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPins")
            .field("path", &self.shared.path)
            .field("pins_new_servers", &self.pins_new_servers)
            .finish_non_exhaustive()
    }
}
