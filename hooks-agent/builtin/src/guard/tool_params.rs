//! Arguments that the program adds to tool calls.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventMask, Flow, PreActing, PreReasoning};
use hooks_agent_core::model::ToolSpec;

/// Adds arguments to tool calls that the model does not write: keys, tenants, users.
///
/// The schemas that the model receives do not have the arguments, unless the
/// [model wins](ToolParams::model_wins). Only the tool receives the values, as [`ToolUse::hide`](hooks_agent_core::message::ToolUse::hide) describes.
/// In events, memory, streams, traces, logs and `Debug` they are `[hidden]`, and
/// [`ran`](hooks_agent_core::message::ToolResult::ran) shows their names. A text of at least four characters in
/// a value is also replaced in what the tool returns.
///
/// It does not protect a value from the tool itself: a tool may encode it and return it, or send it
/// elsewhere. An agent that runs as a tool receives no hidden argument; its own tools do, as this
/// hook is inherited.
///
/// | setting | default |
/// |---|---|
/// | [`value`](ToolParams::value), [`secret`](ToolParams::secret), [`from_context`](ToolParams::from_context) | no arguments |
/// | [`for_tools`](ToolParams::for_tools) | all tools |
/// | [`model_wins`](ToolParams::model_wins) | the value here replaces the model's |
/// | [`optional`](ToolParams::optional) | a tool call without a value is refused |
/// | [`shown`](ToolParams::shown) | values are hidden |
///
/// The settings apply to all arguments of the hook; for others, add a second hook with a
/// [name](hooks_agent_core::hook::AgentHookExt::named) of its own. A tool call whose arguments are not a JSON
/// object stays as it is and fails as such.
///
/// Its priority is [`ToolParams::PRIORITY`], after approvals, logs and traces: these see the call as
/// the model wrote it. The permission check, hooks around the call and `ran` have the arguments as
/// `[hidden]`. A hook that compares the call with an approved one, such as
/// [`ToolApproval`](crate::guard::ToolApproval), excepts hidden arguments; a
/// [shown](ToolParams::shown) one belongs before it:
/// [`with_priority`](hooks_agent_core::hook::AgentHookExt::with_priority).
///
/// ```
/// use hooks_agent::builtin::guard::ToolParams;
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// struct Tenant(&'static str);
///
/// # futures::executor::block_on(async {
/// let search = FunctionTool::new("search", "Searches.", async |input: Value| {
///     assert_eq!(input, json!({ "q": "rust", "key": "s3cr3t", "tenant": "acme" }));
///     "found"
/// });
/// // `model` searches and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "search", json!({ "q": "rust" })).into(),
/// #     }
/// # });
/// let params = ToolParams::new()
///     .secret("key", "s3cr3t".to_owned())
///     .from_context("tenant", |cx| Some(cx.get::<Tenant>()?.0))
///     .for_tools(["search"]);
/// let agent = ReActAgent::builder("assistant").model(model).tool(search).hook(params).build()?;
/// let options = CallOptions::new().value(Tenant("acme"));
/// assert_eq!(agent.call_with(options, "Search").await?.text(), "found");
/// let history = agent.threads().history("default").await?;
/// let ran = history[2].tool_results().next().and_then(|result| result.ran.as_ref());
/// let shown = json!({ "q": "rust", "key": "[hidden]", "tenant": "[hidden]" });
/// assert_eq!(ran.map(|ran| &ran.input), Some(&shown));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct ToolParams {
    params: Vec<(String, Source)>,
    tools: Option<BTreeSet<String>>,
    model_wins: bool,
    is_optional: bool,
    is_shown: bool,
}

/// Where a value comes from.
#[derive(Clone)]
enum Source {
    Fixed(Value),
    Secret(SecretString),
    Context(Arc<OfContext>),
}

type OfContext = dyn Fn(&CallContext) -> Option<Value> + Send + Sync;

impl ToolParams {
    /// The default priority: after all [predefined priorities](hooks_agent_core::hook::priority) and traces.
    pub const PRIORITY: i32 = 950;

    /// Creates a hook without arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an argument with a fixed value.
    pub fn value(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.add(name, Source::Fixed(value.into()))
    }

    /// Adds an argument with a secret. It is hidden, also if the others are
    /// [shown](ToolParams::shown).
    pub fn secret(self, name: impl Into<String>, secret: impl Into<SecretString>) -> Self {
        self.add(name, Source::Secret(secret.into()))
    }

    /// Adds an argument whose value the closure takes from the context of the call. A tool call for
    /// which it returns `None` or panics is refused; see [`optional`](ToolParams::optional).
    pub fn from_context<T: Into<Value>>(
        self,
        name: impl Into<String>,
        value: impl Fn(&CallContext) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        self.add(name, Source::Context(Arc::new(move |cx| value(cx).map(Into::into))))
    }

    fn add(mut self, name: impl Into<String>, source: Source) -> Self {
        self.params.push((name.into(), source));
        self
    }

    /// Adds the arguments to calls of these tools only. Called again, adds tools.
    pub fn for_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.get_or_insert_default().extend(tools.into_iter().map(Into::into));
        self
    }

    /// Keeps the model's value of an argument that it wrote.
    pub fn model_wins(mut self) -> Self {
        self.model_wins = true;
        self
    }

    /// Runs a tool call also if a value is missing in the context, without the argument: the model's
    /// value of it is removed, unless the [model wins](ToolParams::model_wins). A closure that panics
    /// refuses the call all the same.
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Shows the values, except [secrets](ToolParams::secret), wherever the tool call is shown.
    pub fn shown(mut self) -> Self {
        self.is_shown = true;
        self
    }

    fn is_for(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }

    /// Adds the arguments, or returns why the tool call is refused.
    fn apply(&self, event: &mut PreActing<'_>) -> Result<(), String> {
        let cx = event.context();
        let mut call = event.tool_use().clone();
        for (name, source) in &self.params {
            if self.model_wins && call.input.get(name).is_some() {
                continue;
            }
            let refused = |why: &str| format!("the argument `{name}` of `{}` {why}", call.name);
            let value = match source {
                Source::Fixed(value) => Some(value.clone()),
                Source::Secret(secret) => Some(secret.expose_secret().into()),
                Source::Context(value) => catch_unwind(AssertUnwindSafe(|| value(cx)))
                    .map_err(|_| refused("cannot be determined: its closure panicked"))?,
            };
            let is_hidden = !self.is_shown || matches!(source, Source::Secret(_));
            match (value, &mut call.input) {
                (Some(value), Value::Object(input)) if !is_hidden => {
                    input.insert(name.clone(), value);
                }
                (Some(value), _) => call.hide(name, value),
                (None, Value::Object(input)) if self.is_optional => drop(input.remove(name)),
                (None, _) => return Err(refused("is missing in the context of the call")),
            }
        }
        event.set_tool_use(call);
        Ok(())
    }
}

#[agent_hook(priority = Self::PRIORITY,
    inherit,
    always,
    tool_names = |hook: &Self| hook.tools.iter().flatten().cloned().collect(),
    // It only refuses.
    answers = EventMask::NONE
)]
impl ToolParams {
    /// Removes the arguments from the schemas that the model receives.
    fn conceal(&self, event: &mut PreReasoning<'_>) {
        let has_params = |spec: &ToolSpec| {
            let property = |name: &String| spec.schema["properties"].get(name).is_some();
            self.is_for(&spec.name) && self.params.iter().any(|(name, _)| property(name))
        };
        if self.model_wins || !event.tools().iter().any(has_params) {
            return;
        }
        let mut tools = event.tools().to_vec();
        for spec in tools.iter_mut().filter(|spec| has_params(spec)) {
            for (name, _) in &self.params {
                if let Some(properties) = spec.schema["properties"].as_object_mut() {
                    properties.remove(name);
                }
                if let Some(required) = spec.schema["required"].as_array_mut() {
                    required.retain(|required| required != name);
                }
            }
        }
        event.set_tools(tools);
    }

    fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        let call = event.tool_use();
        if !self.is_for(&call.name) || call.invalid_input.is_some() || !call.input.is_object() {
            return Flow::Continue;
        }
        match self.apply(event) {
            Ok(()) => Flow::Continue,
            Err(reason) => event.refuse(reason),
        }
    }
}

/// Shows the names of the arguments, no values.
impl fmt::Debug for ToolParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.params.iter().map(|(name, _)| name).collect();
        f.debug_struct("ToolParams")
            .field("params", &names)
            .field("tools", &self.tools)
            .field("model_wins", &self.model_wins)
            .field("is_optional", &self.is_optional)
            .field("is_shown", &self.is_shown)
            .finish()
    }
}
