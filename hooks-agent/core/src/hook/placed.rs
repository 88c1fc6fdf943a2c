//! Hooks with another name, another priority, or in other agents.

use std::fmt;
use std::sync::Arc;

use hooks_core::{HookOrder, HookRole};

use crate::event::EventMask;
use crate::hook::agent_hook::AgentHook;
use crate::hook::around::AroundMask;
use crate::hook::forward::forward_hook;
use crate::hook::shadow::Shadowed;
#[cfg(doc)]
use crate::hook::watch::HookRun;

/// The methods that place an event hook: its name, its priority, the calls and agents that it runs
/// in. Implemented for every event hook.
///
/// They return another type, so they come after the hook's own methods.
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let first = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" 1"));
/// let second = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" 2"));
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .hook(second.named("second").with_priority(20))
///     .hook(first.named("first").with_priority(10).inherited(true))
///     .build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done. 1 2");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait AgentHookExt: AgentHook + Sized {
    /// Sets the name, by which the hook is removed. Two hooks of one type with different names exist
    /// side by side.
    fn named(self, name: impl Into<String>) -> Placed<Self> {
        Placed { name: Some(name.into()), ..Placed::of(self) }
    }

    /// Sets the priority: lower runs first. See [`priority`](crate::hook::priority).
    fn with_priority(self, priority: i32) -> Placed<Self> {
        Placed { priority: Some(priority), ..Placed::of(self) }
    }

    /// The hook runs before those of this name, at each event and around each call that both are at, whatever their
    /// priorities. It moves no further than that, and the others stay: see [`HookOrder`].
    ///
    /// The agent must have a hook of that name. If it has none, or if the hooks go in a circle, it is not
    /// [built](crate::error::BuildError::Misordered); if that comes later, by a hook that is registered or removed, is
    /// of all agents of a type, is inherited or chosen by a [source](crate::react::HookSource), calls fail with
    /// [`HookError::Misordered`](hooks_core::HookError::Misordered), and none of their hooks runs. Hooks of all agents
    /// of a type run after those of an agent, which no name changes.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - Ann"));
    /// let thank = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" Thanks!"));
    /// let agent = ReActAgent::builder("assistant")
    ///     .model(ScriptedModel::new("fixed", |_| "Done."))
    ///     .hook(sign.named("sign"))
    ///     .hook(thank.named("thank").before("sign"))
    ///     .build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done. Thanks! - Ann");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    fn before(self, name: impl Into<Arc<str>>) -> Placed<Self> {
        Placed { order: HookOrder::new().before(name), ..Placed::of(self) }
    }

    /// The hook runs after those of this name. The same holds as for [`before`](Self::before).
    fn after(self, name: impl Into<Arc<str>>) -> Placed<Self> {
        Placed { order: HookOrder::new().after(name), ..Placed::of(self) }
    }

    /// The hook runs only in an agent that has a hook of this name, in whatever order. The same holds as for
    /// [`before`](Self::before).
    fn requires(self, name: impl Into<Arc<str>>) -> Placed<Self> {
        Placed { order: HookOrder::new().requires(name), ..Placed::of(self) }
    }

    /// Sets several relations at once. The same holds as for [`before`](Self::before).
    fn ordered(self, order: HookOrder) -> Placed<Self> {
        Placed { order, ..Placed::of(self) }
    }

    /// Sets whether the hook also runs in agents that are tools of its agent.
    fn inherited(self, inherited: bool) -> Placed<Self> {
        Placed { inherits: Some(inherited), ..Placed::of(self) }
    }

    /// Sets whether the hook also runs in a call that is made inside of a call of the same method of
    /// the agent.
    fn in_nested_calls(self, always: bool) -> Placed<Self> {
        Placed { always: Some(always), ..Placed::of(self) }
    }

    /// Sets whether the hook runs at once with others that do: for guards that only decide, and wait for something, as a
    /// [`Judge`] does for its model.
    ///
    /// Such hooks that stand next to each other in the order run together at each event that all of them receive; hooks
    /// between them part them, and so does a different [`always`](AgentHook::always). What they decide takes
    /// effect in their order, as if they had run one after the other: the strictest decision holds. If one fails, refuses
    /// or answers, those before it still end, and those behind it are cancelled. [Watchers](HookRun) see that.
    ///
    /// A hook that runs at once with others gets the event to read: if it changes it, the call fails. It does not see what
    /// those next to it decide, and what it does elsewhere, such as thread values that it sets, stays although a hook
    /// before it refuses. At chunks, errors and `Settled`, hooks run one by one. A hook that is registered, replaced or
    /// removed by another one at the same event may run there once more, or in vain. A hook that runs around calls, or
    /// [counts](AgentHook::counter), cannot be parallel: the agent is not
    /// [built](crate::error::BuildError::NotParallel); one that is added later runs in its turn, which is logged.
    ///
    /// [`Judge`]: https://docs.rs/hooks-agent/latest/hooks_agent/builtin/guard/struct.Judge.html
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// async fn asks_a_service(_: &str) -> bool {
    ///     tokio::task::yield_now().await;
    ///     false
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let guard = |service: &'static str| {
    ///     on!(async move |event: &mut PreCall<'_>| match asks_a_service(service).await {
    ///         true => event.answer(Msg::assistant("bot", "I cannot help with that.")),
    ///         false => Flow::Continue,
    ///     })
    /// };
    /// let agent = ReActAgent::builder("assistant")
    ///     .model(ScriptedModel::new("fixed", |_| "Done."))
    ///     .hook(guard("moderation").named("moderation").parallel(true))
    ///     .hook(guard("fraud").named("fraud").parallel(true))
    ///     .build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    fn parallel(self, parallel: bool) -> Placed<Self> {
        Placed { parallel: Some(parallel), ..Placed::of(self) }
    }

    /// Says that the hook answers nothing: it goes on at each event, or refuses, and runs what it is around.
    /// Then the warnings of plans do not take it for one that keeps guards after it from running.
    fn never_answers(self) -> Placed<Self> {
        Placed { answers: false, ..Placed::of(self) }
    }

    /// Runs the hook in shadow: beside the calls of its agent, and without any effect on them. It sees copies of what
    /// it would see, decides, and what it would have done is [counted](Shadowed::counts), logged, and told to
    /// [watchers](HookRun::is_shadow), as a studio. To try a hook before it is enforced.
    ///
    /// - **Nothing changes**: no refusal, question, rewrite, jump or limit; it adds no tool, guards no other text,
    ///   watches nothing. What it waits for and what fails in it does not reach the call.
    /// - **Its own**: the values that it keeps with threads, what it counts and uses of quotas, in this process.
    /// - **Beside**: it runs on a task of its own, for each call. What the call does is queued for it; where 256 things
    ///   wait, further ones are dropped, and counted as such. Around a call, it may run the rest once, which is the
    ///   real one.
    /// - **After it would have changed a call**, it sees a call that it would not have seen.
    ///
    /// What a hook does outside of the call, as writing a file, it does in shadow too. Hooks that cannot run
    /// [in shadow](AgentHook::not_in_shadow) are an error when the agent is built.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let deny = on(|event: &mut PreActing<'_>| event.refuse("nobody pays")).in_shadow();
    /// let counts = deny.clone();
    /// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    /// // `model` pays.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "pay", json!({})).into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("clerk").model(model).tool(pay).hook(deny).build()?;
    /// assert_eq!(agent.call("Pay").await?.text(), "paid");
    /// counts.caught_up().await;
    /// assert_eq!(counts.counts().to_string(), "1 runs, 1 would have refused, 1 calls with the first of these");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    fn in_shadow(self) -> Shadowed {
        Shadowed::new(self.__share())
    }

    /// Sets what the hook does to a call, for the warnings of plans, and so that nobody shows what a
    /// hook that [redacts](HookRole::Redacts) removed.
    fn with_role(self, role: HookRole) -> Placed<Self> {
        Placed { role: Some(role), ..Placed::of(self) }
    }
}

impl<H: AgentHook> AgentHookExt for H {}

/// An event hook with another name, another priority, or in other agents. Created by the methods of
/// [`AgentHookExt`].
#[derive(Clone)]
#[must_use]
pub struct Placed<H> {
    hook: H,
    name: Option<String>,
    priority: Option<i32>,
    /// Beside what the hook itself asks for.
    order: HookOrder,
    inherits: Option<bool>,
    always: Option<bool>,
    parallel: Option<bool>,
    role: Option<HookRole>,
    answers: bool,
}

impl<H> Placed<H> {
    fn of(hook: H) -> Self {
        let (name, priority, inherits, always, parallel, role) =
            (None, None, None, None, None, None);
        let order = HookOrder::new();
        Self { hook, name, priority, order, inherits, always, parallel, role, answers: true }
    }
}

impl<H: AgentHook> AgentHook for Placed<H> {
    forward_hook! {
        self => AgentHook, &self.hook;
        events sync_events around tools once watcher foreign_guard tool_names tool_labels ends_with_process needs_login plan_check counter
        not_in_shadow shadow_parts __shadow on_event on_event_now around_model_call around_tool_call around_permission_check
        around_compression around_call around_model_attempt
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.hook.name())
    }

    fn priority(&self) -> i32 {
        self.priority.unwrap_or_else(|| self.hook.priority())
    }

    fn order(&self) -> HookOrder {
        self.hook.order().and(&self.order)
    }

    fn answers(&self) -> EventMask {
        if self.answers { self.hook.answers() } else { EventMask::NONE }
    }

    fn answers_around(&self) -> AroundMask {
        if self.answers { self.hook.answers_around() } else { AroundMask::NONE }
    }

    fn inherit(&self) -> bool {
        self.inherits.unwrap_or_else(|| self.hook.inherit())
    }

    fn always(&self) -> bool {
        self.always.unwrap_or_else(|| self.hook.always())
    }

    fn is_parallel(&self) -> bool {
        self.parallel.unwrap_or_else(|| self.hook.is_parallel())
    }

    fn role(&self) -> Option<HookRole> {
        self.role.or_else(|| self.hook.role())
    }
}

impl<H: AgentHook> fmt::Debug for Placed<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("name", &self.name())
            .field("priority", &self.priority())
            .finish_non_exhaustive()
    }
}
