//! The documentation of the crate's macros.

/// Implements [`AgentHook`](crate::hook::AgentHook) for a type, from methods that take one event
/// each.
///
/// A method whose parameter is an event, such as `&mut PreActing<'_>` or `&ReasoningChunk<'_>`, is
/// the handler of that event; all other methods are unchanged. A method that takes a
/// [`HookEvent`](crate::event::HookEvent) is the handler of every event that no other method takes. The
/// hook receives exactly the events that have a handler. A handler takes `&self` and is sync or `async`; a sync handler allocates
/// nothing. It returns `()`, [`Flow`](crate::event::Flow), or a
/// [`HookResult`](hooks_core::HookResult) of either. The macro recognizes an event by the name of
/// its type.
///
/// | argument | default | |
/// |---|---|---|
/// | `name = "guard"` | the name of the type | the name, by which the hook is removed |
/// | `priority = priority::SECURITY` | `priority::DEFAULT` | the priority: lower runs first |
/// | `role = HookRole::Guards` | none | the [role](crate::hook::AgentHook::role), for warnings of plans |
/// | `inherit` | off | the hook also runs in agents that are tools of its agent |
/// | `always` | off | the hook also runs in a call inside of a call of the same method, for guards |
/// | `once` | off | the hook does not receive what a call with a [journal](crate::journal) replays |
/// | `events = self.chosen` | all that have a handler | receives no more than these events |
/// | `around = self.calls` | all that have a handler | runs around no more than these calls |
/// | `answers = EventMask::NONE` | the handlers that return a flow | the [events](crate::hook::AgentHook::answers) that it may answer |
/// | `answers_around = AroundMask::NONE` | `around` | the [calls](crate::hook::AgentHook::answers_around) that it may answer |
/// | `tools = Self::tools_of` | none | a function from `&Self` to [`Tools`](crate::tool::Tools) |
/// | `tool_names`, `tool_labels`, `counter`, `watcher`, `foreign_guard`, `ends_with_process`, `not_in_shadow`, `plan_check`, `shadow_parts` | none | a function from `&Self` to what the method of [`AgentHook`](crate::hook::AgentHook) returns |
/// | `class` | off | the hook runs in every `ReActAgent` of the process, without being added |
/// | `class = dyn Agent` | off | the same in agents of every type, for the events that all have |
/// | `crate = path` | by the manifest | the path of `hooks-agent`, or of `hooks-agent-core` |
///
/// ```
/// use hooks_agent::prelude::*;
///
/// struct Guard {
///     forbidden: &'static str,
/// }
///
/// #[agent_hook(priority = priority::SECURITY)]
/// impl Guard {
///     async fn deny(&self, event: &mut PreActing<'_>) -> HookResult<Flow> {
///         if self.is_forbidden(&event.tool_use().name) {
///             return Ok(event.refuse("this tool is not for you"));
///         }
///         Ok(Flow::Continue)
///     }
///
///     fn sign(&self, event: &mut PostCall<'_>) {
///         event.final_message_mut().push_text(" (guarded)");
///     }
///
///     fn is_forbidden(&self, tool: &str) -> bool {
///         tool == self.forbidden
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let guard = Guard { forbidden: "delete" };
/// let agent = ReActAgent::builder("assistant").model(model).hook(guard).build()?;
/// assert_eq!(agent.call(Msg::user("Go")).await?.text(), "Done. (guarded)");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
///
/// With `class` the linker collects the hook, also from another crate, if a module of that crate is
/// used. The type implements `Default`. It is registered before the first agent is created, in the
/// order of modules and lines; plans show it at the level of the class. Its tools are not added. It
/// runs in every agent of a call: in an agent and in those that it calls. `event.context().parent()`
/// tells them apart.
///
/// ```standalone_crate
/// use hooks_agent::prelude::*;
///
/// #[derive(Default)]
/// struct Disclosure;
///
/// #[agent_hook(class, name = "disclosure")]
/// impl Disclosure {
///     fn say(&self, event: &mut PostCall<'_>) {
///         event.final_message_mut().push_text(" (written by a model)");
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done. (written by a model)");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// A method that takes a [`ModelCall`](crate::hook::ModelCall) and its
/// [`NextModel`](crate::hook::NextModel) runs around each call of the model; one that takes a
/// [`ToolCall`](crate::hook::ToolCall) and its [`NextTool`](crate::hook::NextTool), around each call
/// of a tool; likewise [`PermissionCheck`](crate::hook::PermissionCheck) and
/// [`Compression`](crate::hook::Compression). Such a handler is async and returns what the call returns:
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// struct Retry(usize);
///
/// #[agent_hook]
/// impl Retry {
///     async fn again(
///         &self,
///         call: ModelCall<'_>,
///         next: NextModel<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         for _ in 0..self.0 {
///             match next.run(call.request().clone()).await {
///                 Err(AgentError::Model(error)) if error.is_transient() => {}
///                 ended => return ended,
///             }
///         }
///         next.run(call.into_request()).await
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let asked = AtomicUsize::new(0);
/// let model = ScriptedModel::new("busy", move |_| -> ScriptedAnswer {
///     match asked.fetch_add(1, Ordering::Relaxed) {
///         0 | 1 => ModelError::status("busy", 503).into(),
///         _ => "I am back.".into(),
///     }
/// });
/// let agent = ReActAgent::builder("assistant").model(model).hook(Retry(2)).build()?;
/// assert_eq!(agent.call("Are you there?").await?.text(), "I am back.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// Each argument but `class` and `crate` fills the method of `AgentHook` of its name. In an expression, `self`
/// is the hook. A mask only narrows what the handlers are, so that none can name an event without one:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// struct Notes {
///     ends_alone: bool,
/// }
///
/// #[agent_hook(
///     always,
///     role = HookRole::Observes,
///     events = if self.ends_alone { EventKind::Settled.into() } else { EventMask::ALL }
/// )]
/// impl Notes {
///     fn note(&self, event: &HookEvent<'_>) {
///         println!("{}: {}", event.agent().name(), event.kind());
///     }
/// }
///
/// assert_eq!(Notes { ends_alone: true }.events(), EventKind::Settled.into());
/// assert_eq!(Notes { ends_alone: false }.events(), EventMask::ALL);
/// ```
///
/// An event without setters cannot be changed:
///
/// ```compile_fail
/// use hooks_agent::agent_hook;
/// use hooks_agent::event::SummaryChunk;
///
/// struct Silence;
///
/// #[agent_hook]
/// impl Silence {
///     fn hush(&self, event: &mut SummaryChunk<'_>) {
///         event.set_incremental(String::new());
///     }
/// }
/// ```
pub use hooks_macros::agent_hook;

/// Creates an event hook from a closure of one event, sync or async. It captures as closures do,
/// without a clone and without boxing by hand; a sync closure is given to
/// [`on`](crate::hook::on).
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # struct Database;
/// # impl Database { async fn may(&self, _: &str) -> HookResult<bool> { Ok(false) } }
/// # futures::executor::block_on(async {
/// # let database = Database;
/// let policy = on!(async move |event: &mut PreActing<'_>| -> HookResult<Flow> {
///     if database.may(&event.tool_use().name).await? {
///         return Ok(Flow::Continue);
///     }
///     Ok(event.refuse("the policy of the company forbids it"))
/// });
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(policy.named("policy")).build()?;
/// # drop(agent);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[macro_export]
macro_rules! on {
    ($($closure:tt)*) => {
        $crate::__on!($crate, $($closure)*)
    };
}

#[doc(hidden)]
pub use hooks_macros::on as __on;

/// Makes a tool of a function, or tools of the methods of a type.
///
/// The parameters are the arguments that the model writes: each is a property of the schema, its
/// doc comment the description. Their types implement `Deserialize` and `JsonSchema`; an
/// `Option<T>` may be left out. `&str`, `&[T]` and options of these are read as owned and lent to
/// the function. The attributes `#[serde(..)]` and `#[schemars(..)]` of a parameter are those of its
/// property. A [`ToolContext`](crate::tool::ToolContext), by value or by reference, is the context
/// of the tool call; the macro recognizes it by the name of its type. The function returns a type
/// that implements [`IntoToolOutput`](crate::tool::IntoToolOutput).
///
/// The tool is a [`FunctionTool`](crate::tool::FunctionTool), with the name of the function and its
/// doc comment as description:
///
/// | argument | default | |
/// |---|---|---|
/// | `name = "get_weather"` | the name of the function | the name by which the model calls the tool |
/// | `description = ".."` | the doc comment | the description that the model reads |
/// | `reads`, `destroys` | it changes something | what the tool [does](crate::tool::Tool::effect) outside of the agent |
/// | `idempotent` | off | the tool is [idempotent](crate::tool::Tool::is_idempotent) |
/// | `blocking` | off | a sync function runs on the threads of tokio for blocking work, see [`FunctionTool::blocking`](crate::tool::FunctionTool::blocking) |
/// | `ask` | off | the user is asked about every call: [`Permission::Ask`](crate::tool::Permission::Ask) |
/// | `ask = path` | | a function from `&ToolUse` to [`Permission`](crate::tool::Permission) decides |
/// | `crate = path` | by the manifest | the path of `hooks-agent`, or of `hooks-agent-core`; of methods on the block |
///
/// # Functions
///
/// The function remains as it is. The tool is a unit struct beside it, with its name in `CamelCase`
/// and its visibility. If that name is taken, rename the function and keep its name with `name`.
///
/// ```
/// use hooks_agent::prelude::*;
///
/// /// The weather now.
/// #[tool(idempotent)]
/// async fn weather(
///     /// The name of the city, in English.
///     city: &str,
///     days: Option<u8>,
/// ) -> String {
///     match days {
///         Some(days) => format!("sunny in {city} for {days} days"),
///         None => format!("sunny in {city}"),
///     }
/// }
///
/// # futures::executor::block_on(async {
/// assert_eq!(weather("Rome", Some(2)).await, "sunny in Rome for 2 days");
///
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).tool(Weather).build()?;
/// # let _ = agent;
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// assert_eq!(Weather.name(), "weather");
/// assert_eq!(Weather.description(), "The weather now.");
/// assert_eq!(Weather.schema()["required"], serde_json::json!(["city"]));
/// ```
///
/// # Methods
///
/// On an impl block, the methods that are marked `#[tool]` become tools; they take `&self`. The
/// block gets a method `tools(self: &Arc<Self>) -> Tools`, so a type has one such block. The type is
/// `Send + Sync + 'static`.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_agent::prelude::*;
/// use hooks_agent::tool::Json;
///
/// struct Library {
///     books: Vec<String>,
/// }
///
/// #[tool]
/// impl Library {
///     /// Finds books.
///     #[tool]
///     async fn find(
///         &self,
///         /// A part of the title.
///         title: &str,
///     ) -> Json<Vec<&String>> {
///         Json(self.books.iter().filter(|book| book.contains(title)).collect())
///     }
///
///     /// Lends a book.
///     #[tool(name = "lend_book", ask)]
///     fn lend(&self, title: String, cx: &ToolContext) -> Result<String, std::fmt::Error> {
///         cx.progress("looking for it");
///         if self.has(&title) { Ok(format!("lent {title}")) } else { Err(std::fmt::Error) }
///     }
///
///     fn has(&self, title: &String) -> bool {
///         self.books.contains(title)
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let library = Arc::new(Library { books: vec!["Ulysses".to_owned()] });
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent =
///     ReActAgent::builder("librarian").model(model).tools(library.tools()).build()?;
/// # let _ = agent;
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
pub use hooks_macros::tool;
