//! The hook that replaces patterns in the results of tools.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use hooks_core::HookRole;

use crate::guard::sanitize::rules::{Rules, SanitizeError};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, Foreign, ForeignGuard};
use hooks_agent_core::error::TextBlocked;
use hooks_agent_core::event::{PostActing, PreCall};
use hooks_agent_core::hook::{NextTool, ToolCall, priority};
use hooks_agent_core::message::{ToolOutput, ToolResult};
use hooks_agent_core::tool::ToolError;

/// Replaces patterns in what tools return, so that the model, memory, the stream, hooks and the
/// caller have the same text.
///
/// It covers texts, text blocks and the structured value of a result, error texts with their
/// sources, progress reports, results that other hooks, people and the caller give in place of the tool,
/// and what comes in by another [door](hooks_agent_core::call::Door), such as passages and skills, by the name of the
/// [tool](hooks_agent_core::call::Door::tool) that it is like. A text that is too long, or whose replacements never
/// end, is refused: the model reads an error instead, and of a passage or a skill, the call fails.
///
/// A pattern is searched for in the text as it is written, and in its usual form: ASCII in place of full width and
/// of other forms of a character, without invisible characters, with HTML entities, percent-encoding and
/// the escapes of JSON undone, except `\n`, `\r` and `\t`, which stand in paths and in code. What it matches there
/// is replaced as it is written.
///
/// It does not cover the tool's input, images and files with their names and URLs, what is split
/// over two progress reports or blocks, and other spellings of what a pattern describes, such as
/// Base64.
///
/// | setting | default |
/// |---|---|
/// | a pattern and its replacement | required |
/// | [`pattern`](Sanitize::pattern) | no further patterns |
/// | [`for_tools`](Sanitize::for_tools) | all tools |
/// | [`max_bytes`](Sanitize::max_bytes) | 8 MiB for each text |
///
/// Patterns are those of the crate [`regex`](https://docs.rs/regex), in time linear in the text. They
/// apply in the order in which they were added, until nothing changes. A replacement is taken as it is
/// written, `$1` too. A match inside of a replacement stays, so that the hook changes nothing when it
/// runs again.
///
/// Its priority is [`priority::SECURITY`], so that hooks of events that run later, such as logs and
/// traces, have the replaced text. A hook around the tool call of a higher priority is closer to the
/// tool and has the text as the tool returned it: give a cache or a log around tools a lower priority
/// than this hook.
///
/// ```
/// use hooks_agent::builtin::guard::Sanitize;
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let read = FunctionTool::new("read", "Reads.", async |_: Value| "user ada, key sk-12ab");
/// // `model` reads and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let keys = Sanitize::new("sk-[0-9a-z]+", "[key]")?;
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(keys).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "user ada, key [key]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Sanitize {
    rules: Arc<Rules>,
    tools: Option<Arc<BTreeSet<String>>>,
    max_bytes: usize,
}

impl Sanitize {
    /// Creates a hook that replaces the matches of a pattern by a text, which may be empty.
    ///
    /// # Errors
    /// [`SanitizeError`] if the pattern is not valid, larger than 1 MiB when compiled, or matches the
    /// empty text.
    pub fn new(
        pattern: impl AsRef<str>,
        replacement: impl Into<String>,
    ) -> Result<Self, SanitizeError> {
        let empty = Self { rules: Arc::default(), tools: None, max_bytes: 8 << 20 };
        empty.pattern(pattern, replacement)
    }

    /// Adds a pattern and its replacement.
    ///
    /// # Errors
    /// Those of [`new`](Sanitize::new).
    pub fn pattern(
        mut self,
        pattern: impl AsRef<str>,
        replacement: impl Into<String>,
    ) -> Result<Self, SanitizeError> {
        Arc::make_mut(&mut self.rules).add(pattern.as_ref(), replacement.into())?;
        Ok(self)
    }

    /// Replaces in the results of these tools only. Called again, adds tools.
    pub fn for_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names = Arc::make_mut(self.tools.get_or_insert_default());
        names.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets the length of the longest text, before and after the replacement.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn is_meant(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(name))
    }

    /// Returns the text with replacements, `None` if it stays as it is, or the reason why the text of
    /// the tool is refused.
    fn text(&self, tool: &str, text: &str) -> Result<Option<String>, String> {
        let applied = self.rules.apply(text, self.max_bytes);
        applied.map_err(|why| format!("the result of `{tool}` is refused: {why}"))
    }

    fn output(&self, tool: &str, output: &mut ToolOutput) -> Result<(), String> {
        let mut refused = None;
        output.map_text(|text| {
            let replaced = self.text(tool, text).unwrap_or_else(|why| {
                refused = Some(why);
                Some(String::new())
            });
            replaced.unwrap_or_else(|| text.to_owned())
        });
        refused.map_or(Ok(()), Err)
    }

    fn result(&self, result: &mut ToolResult) {
        if let Err(reason) = self.output(&result.name, &mut result.output) {
            result.output = reason.into();
            result.is_error = true;
        }
    }

    /// Returns the error with replacements in its text. An error without matches stays as it is.
    fn error(&self, tool: &str, error: ToolError, next: &NextTool<'_>) -> ToolError {
        if !error.is_failure() {
            return error;
        }
        let is_clean = |text: &String| matches!(self.text(tool, text), Ok(None));
        if texts(&error).iter().all(is_clean) {
            return error;
        }
        let text = error.to_string();
        let text = self.text(tool, &text).map(|replaced| replaced.unwrap_or(text));
        let text = text.unwrap_or_else(|refused| refused);
        match error {
            error if error.ends_call() => next.fail(text),
            _ => ToolError::Failed(text.into()),
        }
    }
}

/// Returns the texts of an error and its sources, and its `Debug` form.
fn texts(error: &ToolError) -> Vec<String> {
    let mut texts = vec![format!("{error:?}")];
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

#[agent_hook(
    priority = priority::SECURITY,
    role = HookRole::Redacts,
    inherit,
    always,
    tool_names = |hook: &Self| hook.tools.iter().flat_map(|tools| tools.iter().cloned()).collect(),
    foreign_guard = |hook: &Self| Some(Arc::new(hook.clone()))
)]
impl Sanitize {
    fn pre_call(&self, event: &mut PreCall<'_>) {
        for (call, result) in event.caller_results_mut() {
            if self.is_meant(&call.name) || self.is_meant(&result.name) {
                self.result(result);
            }
        }
    }

    fn post_acting(&self, event: &mut PostActing<'_>) {
        let ran = self.is_meant(&event.tool_use().name);
        if ran || self.is_meant(&event.tool_result().name) {
            self.result(event.tool_result_mut());
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (cx, tool) = (call.context().clone(), call.tool_use().name.clone());
        // A hook further in may run another tool than this one.
        let is_meant = move |hook: &Self| {
            hook.is_meant(&tool) || cx.ran_tool_use().is_some_and(|ran| hook.is_meant(&ran.name))
        };
        let call = call.into_tool_use();
        let (hook, tool, of_progress) = (self.clone(), call.name.clone(), is_meant.clone());
        let progress = move |report: String| {
            if !of_progress(&hook) {
                return Some(report);
            }
            let replaced = hook.text(&tool, &report).ok()?;
            Some(replaced.unwrap_or(report))
        };
        let tool = call.name.clone();
        match next.run_with_progress(call, progress).await {
            Ok(mut result) => {
                if is_meant(self) {
                    self.result(&mut result);
                }
                Ok(result)
            }
            Err(error) if is_meant(self) => Err(self.error(&tool, error, &next)),
            Err(error) => Err(error),
        }
    }
}

impl ForeignGuard for Sanitize {
    fn screen(&self, _: &CallContext, foreign: &mut Foreign<'_>) -> Result<(), TextBlocked> {
        if !self.is_meant(foreign.tool) {
            return Ok(());
        }
        self.output(foreign.tool, foreign.content).map_err(TextBlocked::new)
    }
}

/// Shows no patterns: they may be what they find.
impl fmt::Debug for Sanitize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sanitize")
            .field("rules", &self.rules.len())
            .field("tools", &self.tools)
            .field("max_bytes", &self.max_bytes)
            .finish()
    }
}
