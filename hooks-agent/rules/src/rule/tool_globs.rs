//! Globs of tools, by their names or with their servers.

use std::sync::Arc;

use hooks_agent_core::options::Globs;
use hooks_agent_core::tool::Tool;

use crate::rule::names::check_globs;

/// What stands between a server and its tool.
const SEPARATOR: &str = "::";

/// Globs of tools: those with `::` match `server::tool` of a tool of a server, the others the name of any tool.
#[derive(Debug)]
pub(crate) struct ToolGlobs {
    /// `None` if there are only globs after `!`.
    taken: Option<Both>,
    left_out: Both,
}

/// Globs of names, and of names with servers.
#[derive(Debug)]
struct Both {
    names: Option<Globs>,
    with_server: Option<Globs>,
}

impl Both {
    fn new(texts: Vec<String>) -> Self {
        let (with_server, names) = texts.into_iter().partition(|text| text.contains(SEPARATOR));
        // They are checked.
        let globs = |texts: Vec<String>| {
            let globs = (!texts.is_empty()).then(|| Globs::new(texts, |_, _| {}));
            globs.flatten()
        };
        Self { names: globs(names), with_server: globs(with_server) }
    }

    fn is_match(&self, tool: &str, server: Option<&str>) -> bool {
        let of =
            |globs: &Option<Globs>, name: &str| globs.as_ref().is_some_and(|it| it.is_match(name));
        let full = || server.map(|server| format!("{server}{SEPARATOR}{tool}"));
        of(&self.names, tool)
            || self.with_server.is_some() && full().is_some_and(|full| of(&self.with_server, &full))
    }
}

impl ToolGlobs {
    /// Checks globs, and returns the place of the first mistake.
    pub(crate) fn new(texts: &[String]) -> Result<Self, (usize, String)> {
        check_globs(texts)?;
        let (left_out, taken): (Vec<_>, Vec<_>) =
            texts.iter().cloned().partition(|text| text.starts_with('!'));
        let left_out = left_out.iter().map(|text| text[1..].to_owned()).collect();
        let taken = (!taken.is_empty()).then(|| Both::new(taken));
        Ok(Self { taken, left_out: Both::new(left_out) })
    }

    /// Returns whether a tool is meant.
    pub(crate) fn is_match(&self, tool: &str, server: Option<&str>) -> bool {
        self.taken.as_ref().is_none_or(|taken| taken.is_match(tool, server))
            && !self.left_out.is_match(tool, server)
    }

    /// Returns whether a tool may be meant whose server is not known.
    pub(crate) fn may_match(&self, tool: &str) -> bool {
        self.taken
            .as_ref()
            .is_none_or(|taken| taken.with_server.is_some() || taken.is_match(tool, None))
    }
}

/// Returns the server and the name of a tool that is called `mcp__server__tool`.
pub(crate) fn server_in(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?
        .split_once("__")
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// Returns whether globs mean a tool: its agent has it, or the name is all that is known.
pub(crate) fn is_about(
    globs: Option<&ToolGlobs>,
    tool: Option<&Arc<dyn Tool>>,
    name: &str,
) -> bool {
    let Some(globs) = globs else { return true };
    match (tool, server_in(name)) {
        (Some(tool), _) => globs.is_match(name, tool.server()),
        // Agents written elsewhere call tools of servers by one name.
        (None, Some((server, own))) => {
            globs.is_match(name, Some(server)) || globs.is_match(own, Some(server))
        }
        (None, None) => globs.is_match(name, None),
    }
}
