//! The documentation of the crate's macro.

/// Implements [`AgentHook`](crate::AgentHook) for a type, from methods that take one event each.
///
/// A method whose parameter is an event, such as `&mut PreActing<'_>` or `&ReasoningChunk<'_>`, is
/// the handler of that event; all other methods are unchanged. The hook receives exactly the events
/// that have a handler. A handler takes `&self` and is sync or `async`; a sync handler allocates
/// nothing. It returns `()`, [`Flow`](crate::Flow), or a [`HookResult`](hooks_core::HookResult) of
/// either. The macro recognizes an event by the name of its type.
///
/// | argument | default | |
/// |---|---|---|
/// | `name = "guard"` | the name of the type | the name, by which the hook is removed |
/// | `priority = priority::SECURITY` | `priority::DEFAULT` | the priority: lower runs first |
/// | `tools = Self::tools_of` | none | a function from `&Self` to [`Tools`](crate::Tools) |
/// | `inherit` | off | the hook also runs in agents that are tools of its agent |
/// | `crate = path` | `::hooks_agent` | the path of this crate |
///
/// ```
/// use hooks_agent::{
///     AgentExt, Flow, Msg, PostCall, PreActing, ReActAgent, ScriptedModel, agent_hook, priority,
/// };
/// use hooks_core::HookResult;
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
/// # Ok::<(), hooks_agent::AgentError>(())
/// # }).unwrap();
/// ```
///
/// An event without setters cannot be changed:
///
/// ```compile_fail
/// use hooks_agent::{SummaryChunk, agent_hook};
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
pub use hooks_core::agent_hook;
