//! Event hooks from closures.

use std::fmt;
use std::marker::PhantomData;

use hooks_core::{BoxFuture, HookResult};

use crate::event::{Event, EventHandler, EventMask, Flow, HookEvent, IntoFlow};
use crate::hook::agent_hook::AgentHook;

/// Creates an event hook from a closure of one event. The type of the parameter is the event that
/// it receives, by `&mut` or by `&`. The closure returns `()`, [`Flow`], or a [`HookResult`] of either.
///
/// The hook is sync and allocates nothing. For an async closure, use
/// [`on!`](macro@crate::on).
///
/// ```
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let guard = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
///     "delete" => event.refuse("nothing is deleted here"),
///     _ => Flow::Continue,
/// });
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .hook(guard.named("guard").with_priority(priority::SECURITY))
///     .hook(on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" Bye.")))
///     .build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done. Bye.");
/// agent.remove_agent_hook("guard")?;
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub fn on<Form, F: EventHandler<Form>>(handler: F) -> OnEvent<Now<F, Form>> {
    OnEvent::new(Now { handler, form: PhantomData })
}

/// An event hook from a closure, created by [`on`] or [`on!`](macro@crate::on).
///
/// Its name is the name of its event unless it is [`named`](crate::hook::AgentHookExt::named).
#[must_use]
pub struct OnEvent<H> {
    handler: H,
}

/// A sync closure.
#[doc(hidden)]
#[derive(Debug)]
pub struct Now<F, Form> {
    handler: F,
    form: PhantomData<fn() -> Form>,
}

/// An async closure of the event `E`, and how to call it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Later<E, F, Call, R> {
    handler: F,
    call: Call,
    form: PhantomData<fn(E) -> R>,
}

impl<H> OnEvent<H> {
    fn new(handler: H) -> Self {
        Self { handler }
    }
}

/// Binds an async closure to the event `E`; `on!` calls it.
#[doc(hidden)]
pub fn bind<E, F, Call, R>(handler: F, call: Call) -> OnEvent<Later<E, F, Call, R>>
where
    E: Event,
    F: AsyncFn(&mut E::With<'_>) -> R + Send + Sync + 'static,
    Call: for<'a> Fn(&'a F, &'a mut E::With<'_>) -> BoxFuture<'a, R> + Send + Sync + 'static,
{
    OnEvent::new(Later { handler, call, form: PhantomData })
}

impl<Form: 'static, F: EventHandler<Form>> AgentHook for OnEvent<Now<F, Form>> {
    fn name(&self) -> String {
        F::KIND.name().to_owned()
    }

    fn events(&self) -> EventMask {
        F::KIND.into()
    }

    fn sync_events(&self) -> EventMask {
        F::KIND.into()
    }

    fn answers(&self) -> EventMask {
        if F::DECIDES { F::KIND.into() } else { EventMask::NONE }
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.handler.handler.handle(event)
    }
}

impl<E, F, Call, R> AgentHook for OnEvent<Later<E, F, Call, R>>
where
    E: Event,
    F: AsyncFn(&mut E::With<'_>) -> R + Send + Sync + 'static,
    R: IntoFlow + 'static,
    Call: for<'a> Fn(&'a F, &'a mut E::With<'_>) -> BoxFuture<'a, R> + Send + Sync + 'static,
{
    fn name(&self) -> String {
        E::KIND.name().to_owned()
    }

    fn events(&self) -> EventMask {
        E::KIND.into()
    }

    fn answers(&self) -> EventMask {
        if R::DECIDES { E::KIND.into() } else { EventMask::NONE }
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let Later { handler, call, .. } = &self.handler;
        match E::of(event) {
            Some(event) => call(handler, event).await.into_flow(),
            None => Ok(Flow::Continue),
        }
    }
}

impl<H> fmt::Debug for OnEvent<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnEvent").finish_non_exhaustive()
    }
}
