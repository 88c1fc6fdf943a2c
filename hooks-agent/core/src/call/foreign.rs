//! The doors through which text that others wrote reaches the model, and what guards them.

use std::fmt;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use hooks_core::BoxFuture;
use serde_json::Value;

use crate::call::context::CallContext;
use crate::error::TextBlocked;
use crate::message::{ToolOutput, visible};

/// Declares [`Door`] from a table: each door, and the tool whose result it is like.
macro_rules! doors {
    ($($(#[$doc:meta])* $door:ident = $tool:literal,)*) => {
        /// A door through which text that others wrote reaches the model. This is the list of all.
        ///
        /// The first two pass the hooks of an event. The others pass
        /// [`CallContext::screen`], which runs the
        /// [guards](crate::hook::AgentHook::foreign_guard) of the call. A hook that adds foreign text
        /// to a prompt does so through one of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Door {
            $($(#[$doc])* $door,)*
        }

        impl Door {
            /// All doors.
            pub const ALL: [Self; [$($tool),*].len()] = [$(Self::$door),*];

            /// Returns the name of the tool whose results are such texts, for guards of some tools;
            /// empty where the tool is that of a tool call.
            #[must_use]
            pub const fn tool(self) -> &'static str {
                match self {
                    $(Self::$door => $tool,)*
                }
            }
        }
    };
}

doors! {
    /// What a tool returns or reports, also one of an MCP server, and the answer of a sub-agent:
    /// at [`PostActing`](crate::event::PostActing).
    ToolResult = "",
    /// The result of a tool that the caller ran, such as a tool of a front end: in the messages of
    /// [`PreCall`](crate::event::PreCall).
    CallerResult = "",
    /// What a person [responds](crate::store::Decision::Respond) in place of a tool: before memory
    /// receives it.
    Response = "",
    /// Why a person [rejects](crate::store::Decision::Reject) a tool call: before memory receives it.
    Rejection = "",
    /// The arguments that a person [gives](crate::store::Decision::Edit) a tool call, where the model reads
    /// of them: at the begin of its result. The tool receives them as they are.
    Edit = "",
    /// The description of a tool that [others wrote](crate::tool::Tool::is_foreign), such as an MCP server,
    /// and the texts in its schema. The tool is the described one.
    ToolSpec = "",
    /// A passage that `Rag` found.
    Passage = "search_knowledge",
    /// What `LongTermMemory` remembers.
    Memory = "long_term_memory",
    /// The description of a skill; its files are results of the tool.
    Skill = "read_skill",
    /// An entry of a `TodoList`, in the system prompt.
    Todo = "write_todos",
    /// What a user [says to a call that runs](crate::react::ReActAgent::steer): before memory receives it.
    Steering = "steer",
    /// A system message of a client of AG-UI, and the descriptions and schemas of its tools.
    Client = "ag_ui",
}

/// Text that others wrote, on its way to the model.
#[derive(Debug)]
#[non_exhaustive]
pub struct Foreign<'a> {
    /// Where it comes in.
    pub door: Door,
    /// The tool that it is the result of, or whose results are [like it](Door::tool).
    pub tool: &'a str,
    /// The text. A result may have more than a text.
    pub content: &'a mut ToolOutput,
}

/// Changes or blocks foreign text that no event has. A hook [brings](crate::hook::AgentHook::foreign_guard)
/// one; those of a call run by the priorities of their hooks.
pub trait ForeignGuard: Send + Sync {
    /// Changes the text in place.
    ///
    /// # Errors
    /// [`TextBlocked`] if the model must not read it. It reads the reason in place of what a person wrote;
    /// a tool whose description is blocked is not offered; of another door, the call fails.
    fn screen(&self, cx: &CallContext, foreign: &mut Foreign<'_>) -> Result<(), TextBlocked>;

    /// Returns whether the guard waits: [`screen_async`](Self::screen_async) runs in place of
    /// [`screen`](Self::screen). The default is no.
    fn waits(&self) -> bool {
        false
    }

    /// Changes the text in place, after waiting for someone, such as a model. The default does not wait.
    ///
    /// # Errors
    /// As of [`screen`](Self::screen). Dropping the future ends the work.
    fn screen_async<'a>(
        &'a self,
        cx: &'a CallContext,
        foreign: &'a mut Foreign<'_>,
    ) -> BoxFuture<'a, Result<(), TextBlocked>> {
        Box::pin(ready(self.screen(cx, foreign)))
    }
}

/// The guards of a call, with their priorities.
#[derive(Default)]
pub(crate) struct ForeignGuards(Vec<(i32, Arc<dyn ForeignGuard>)>);

impl ForeignGuards {
    /// Adds a guard after those of its priority.
    pub(crate) fn add(&mut self, priority: i32, guard: &Arc<dyn ForeignGuard>) {
        let place = self.0.partition_point(|(other, _)| *other <= priority);
        self.0.insert(place, (priority, guard.clone()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl CallContext {
    /// Returns a foreign text as the model may read it: without the characters that
    /// [no reader sees](visible), and as the guards of the call left it. For hooks that add text to a
    /// prompt.
    ///
    /// # Errors
    /// [`TextBlocked`] if a guard blocks the text, or panics.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::{SensitiveWords, WordList};
    /// use hooks_agent::call::Door;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// struct News;
    ///
    /// #[agent_hook]
    /// impl News {
    ///     async fn tell(&self, event: &mut PreCall<'_>) -> HookResult {
    ///         let cx = event.context();
    ///         let text = cx.screen(Door::Passage, "The bluebird is\u{1b}[2J out.").await?;
    ///         event.append_system(text);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let words = SensitiveWords::new(WordList::new(["bluebird"])?);
    /// let model = ScriptedModel::new("echo", |request| request.messages[0].text());
    /// let agent = ReActAgent::builder("assistant").model(model).hook(News).hook(words).build()?;
    /// assert_eq!(agent.call("What is new?").await?.text(), "The ******** is[2J out.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn screen(&self, door: Door, text: &str) -> Result<String, TextBlocked> {
        let mut content = ToolOutput::text(visible(text));
        self.screen_output(door, door.tool(), &mut content).await?;
        Ok(std::mem::take(content.text_mut()))
    }

    /// Has the guards of the call change what others say of a tool: its description, and the texts in its
    /// schema. Names and types in the schema stay. For hooks that offer tools of others.
    ///
    /// # Errors
    /// [`TextBlocked`] if a guard blocks a text, or panics.
    pub async fn screen_spec(
        &self,
        door: Door,
        tool: &str,
        description: &mut String,
        schema: &mut Value,
    ) -> Result<(), TextBlocked> {
        let like = if door.tool().is_empty() { tool } else { door.tool() };
        let mut texts = vec![description];
        texts_of_schema(schema, &mut texts);
        for text in texts {
            let mut content = ToolOutput::text(visible(text));
            self.screen_output(door, like, &mut content).await?;
            *text = std::mem::take(content.text_mut());
        }
        Ok(())
    }

    /// Has the guards of the call change what stands in for the result of a tool.
    pub(crate) async fn screen_output(
        &self,
        door: Door,
        tool: &str,
        content: &mut ToolOutput,
    ) -> Result<(), TextBlocked> {
        let Some(guards) = self.call.foreign_guards.get() else { return Ok(()) };
        for (_, guard) in &guards.0 {
            let mut foreign = Foreign { door, tool, content };
            let screened = if guard.waits() {
                let waiting = async { guard.screen_async(self, &mut foreign).await };
                AssertUnwindSafe(waiting).catch_unwind().await
            } else {
                catch_unwind(AssertUnwindSafe(|| guard.screen(self, &mut foreign)))
            };
            let blocked = || TextBlocked { reason: "a guard of foreign text panicked".to_owned() };
            screened.unwrap_or_else(|_| Err(blocked()))?;
        }
        Ok(())
    }

    /// Sets the guards of the call, once.
    pub(crate) fn set_foreign_guards(&self, guards: ForeignGuards) {
        if !guards.is_empty() {
            let _ = self.call.foreign_guards.set(guards);
        }
    }
}

/// Adds the texts in a schema that a reader reads: not the names of fields.
fn texts_of_schema<'a>(schema: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match schema {
        Value::Object(fields) => {
            for (keyword, value) in fields {
                match (keyword.as_str(), value) {
                    ("title" | "description" | "$comment", Value::String(text)) => texts.push(text),
                    ("default" | "const" | "enum" | "examples", value) => texts_of(value, texts),
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions"
                        | "dependentSchemas",
                        Value::Object(schemas),
                    ) => schemas.values_mut().for_each(|schema| texts_of_schema(schema, texts)),
                    (_, value) => texts_of_schema(value, texts),
                }
            }
        }
        Value::Array(schemas) => {
            for schema in schemas {
                texts_of_schema(schema, texts);
            }
        }
        _ => {}
    }
}

fn texts_of<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter_mut().for_each(|value| texts_of(value, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|value| texts_of(value, texts)),
        _ => {}
    }
}

impl fmt::Debug for ForeignGuards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ForeignGuards").field(&self.0.len()).finish()
    }
}
