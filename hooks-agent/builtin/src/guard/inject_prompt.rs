//! Text that is added to the system prompt.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::HookResult;

use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventKind, EventMask, PreCall, PreReasoning, PreSummary};
use hooks_agent_core::hook::priority;
use hooks_agent_core::message::{ContentBlock, Msg, Role};

/// Where [`InjectPrompt`] adds its text to the system prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Before the rest of the prompt.
    #[default]
    Front,
    /// After the rest of the prompt.
    Back,
}

/// Adds a text to the system prompt.
///
/// The text is in the prompt once: a prompt that has it already, as whole sentences or lines, stays
/// as it is. So clones of the hook, and hooks of the agent and of its class, add it once.
///
/// It does not enforce anything: a model may ignore what its prompt says. What must not happen is
/// refused by a hook of the tool call.
///
/// | setting | default |
/// |---|---|
/// | the text, or [a closure](InjectPrompt::from_fn) of the context | required |
/// | [`position`](InjectPrompt::position) | [`Position::Front`] |
/// | [`once_per_call`](InjectPrompt::once_per_call) | each round, and the summary |
///
/// Its priority is [`priority::PREPROCESSING`], so that hooks that review the prompt later, such as
/// logs, see it. Of two at the front, the later one comes first in the prompt. It is not inherited:
/// an agent that is a tool has a prompt of its own;
/// [`inherited(true)`](hooks_agent_core::hook::AgentHookExt::inherited) adds it there too.
///
/// ```
/// use hooks_agent::builtin::guard::{InjectPrompt, Position};
/// use hooks_agent::prelude::*;
///
/// struct User(&'static str);
///
/// # futures::executor::block_on(async {
/// let user = InjectPrompt::from_fn(|cx| Some(format!("The user is {}.", cx.get::<User>()?.0)));
/// let model = ScriptedModel::new("echo", |request| request.messages[0].text());
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .system_prompt("You help.")
///     .hook(InjectPrompt::new("Be brief."))
///     .hook(user.position(Position::Back).named("user"))
///     .build()?;
/// let ada = CallOptions::new().value(User("Ada"));
/// let reply = agent.call_with(ada, "What is your prompt?").await?;
/// assert_eq!(reply.text(), "Be brief.\nYou help.\nThe user is Ada.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[doc(alias = "PromptInjectionHook")]
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct InjectPrompt {
    text: Text,
    position: Position,
    is_once: bool,
}

#[derive(Clone)]
enum Text {
    Fixed(Arc<str>),
    Of(Arc<OfContext>),
}

type OfContext = dyn Fn(&CallContext) -> Option<String> + Send + Sync;

impl InjectPrompt {
    /// Creates a hook that adds this text. An empty text adds nothing.
    pub fn new(text: impl Into<String>) -> Self {
        Self::of(Text::Fixed(text.into().into()))
    }

    /// Creates a hook that adds what the closure returns for the call; `None` adds nothing. If the
    /// closure panics, the call fails.
    pub fn from_fn(text: impl Fn(&CallContext) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::of(Text::Of(Arc::new(text)))
    }

    fn of(text: Text) -> Self {
        Self { text, position: Position::default(), is_once: false }
    }

    /// Sets where the text is added.
    pub fn position(mut self, position: Position) -> Self {
        self.position = position;
        self
    }

    /// Adds the text at the start of the call, to the system message that each round begins with. The
    /// closure runs once for each call. Other kinds of agents than
    /// [`ReActAgent`](hooks_agent_core::react::ReActAgent) have no rounds, but calls.
    pub fn once_per_call(mut self) -> Self {
        self.is_once = true;
        self
    }

    /// Returns the system message with the text, or `None` if it stays as it is.
    fn added(&self, cx: &CallContext, system: Option<&Msg>) -> HookResult<Option<Msg>> {
        let text = match &self.text {
            Text::Fixed(text) => Cow::Borrowed(&**text),
            Text::Of(text) => {
                let text = catch_unwind(AssertUnwindSafe(|| text(cx)));
                let text = text.map_err(|_| "the closure of the prompt panicked")?;
                Cow::Owned(text.unwrap_or_default())
            }
        };
        let block = ContentBlock::text(&*text);
        let Some(system) = system else {
            let is_empty = text.trim().is_empty();
            let msg = || Msg::from_blocks(Role::System, "system", vec![block]);
            return Ok((!is_empty).then(msg));
        };
        if text.trim().is_empty() || has_passage(&system.text(), text.trim()) {
            return Ok(None);
        }
        let mut system = system.clone();
        match self.position {
            Position::Front => system.content.insert(0, block),
            Position::Back => system.content.push(block),
        }
        Ok(Some(system))
    }
}

#[agent_hook(priority = priority::PREPROCESSING, always, events = self.events_of())]
impl InjectPrompt {
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        let system = event.system_message();
        if let Some(added) = self.added(event.context(), system.as_deref())? {
            event.set_system_message(added);
        }
        Ok(())
    }

    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        if let Some(added) = self.added(event.context(), event.system_message())? {
            event.set_system_message(added);
        }
        Ok(())
    }

    fn pre_summary(&self, event: &mut PreSummary<'_>) -> HookResult {
        if let Some(added) = self.added(event.context(), event.system_message())? {
            event.set_system_message(added);
        }
        Ok(())
    }

    /// Returns the events at which the prompt is added.
    fn events_of(&self) -> EventMask {
        if self.is_once {
            return EventKind::PreCall.into();
        }
        EventMask::of(&[EventKind::PreReasoning, EventKind::PreSummary])
    }
}

/// Returns whether the prompt has the text as whole sentences or lines: "Never delete" is not a
/// sentence of "Never delete without a question."
fn has_passage(prompt: &str, text: &str) -> bool {
    prompt.match_indices(text).any(|(at, _)| {
        let (before, after) = (&prompt[..at], &prompt[at + text.len()..]);
        let left = before.trim_end();
        let starts = left.is_empty() || left.ends_with(ends_sentence);
        let starts = starts || before[left.len()..].contains('\n');
        let right = after.trim_start();
        let space = &after[..after.len() - right.len()];
        let ends = right.is_empty() || space.contains('\n');
        let is_sentence = text.ends_with(ends_sentence) && (!space.is_empty() || is_wide(text));
        starts && (ends || is_sentence || after.starts_with(ends_sentence))
    })
}

fn ends_sentence(char: char) -> bool {
    matches!(char, '.' | '!' | '?' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}')
}

/// Returns whether no space follows the last sentence, as in Chinese.
fn is_wide(text: &str) -> bool {
    text.chars().next_back().is_some_and(|last| last > '\u{2fff}')
}

impl fmt::Debug for InjectPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InjectPrompt")
            .field("position", &self.position)
            .field("is_once", &self.is_once)
            .finish_non_exhaustive()
    }
}
