//! The hook that asks a model whether a rubric is met.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_core::{HookResult, HookRole};

use crate::guard::judge::ask::{Ruling, Subject};
use crate::guard::judge::held::Held;
use crate::guard::judge::settings::Settings;
use crate::guard::judge::tools::{Passed, Tools};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, Flow, PreActing, PreCall};
use hooks_agent_core::hook::{
    AroundMask, HookModel, ModelCall, NextModel, NextTool, TextBlocked, ToolCall,
};
use hooks_agent_core::message::{Msg, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatModel, ModelAnswer};
use hooks_agent_core::tool::ToolError;

/// Asks a model of its own whether input, tool calls or answers meet a rubric, and refuses what does not.
///
/// The model reads the rubric, which the program writes, and one JSON object with what it judges. It gives a score
/// from 0 to 1 and a reason; a score below the threshold refuses.
///
/// | setting | default |
/// |---|---|
/// | the model, the rubric | |
/// | [`input`](Self::input) | no, unless it is chosen |
/// | [`tool_calls`](Self::tool_calls), [`tools`](Self::tools) | no, unless they are chosen |
/// | [`answers`](Self::answers) | yes, unless something else is chosen |
/// | [`threshold`](Self::threshold) | 0.5 |
/// | [`send_back`](Self::send_back) | 0 |
/// | [`timeout`](Self::timeout) | 30 seconds |
/// | [`count_usage`](Self::count_usage) | yes: its tokens are in the usage of the call |
///
/// - **Input** is judged before the call begins. If it is refused, the call fails with [`TextBlocked`], and memory
///   stays as it was.
/// - **Tool calls** are judged before they run, and again if their arguments have changed since. The model reads why
///   one is refused. A call that a hook further in changes after that does not run.
/// - **Answers** are held back until they are judged: each text of the model, with its thoughts and tool calls. A
///   refused answer is sent back, or the call fails with [`TextBlocked`]. It is in no stream, memory, reply or later
///   request. The stream of an answer that passes begins when the model has ended it.
///
/// **It fails closed.** What cannot be judged is refused, with a reason that says so: an error of the model, a timeout,
/// a panic, a verdict that is not one JSON object, a score that is no number from 0 to 1. Such an answer is not sent
/// back.
///
/// The reason of the model is cut to one line of 200 characters; what it quotes of what it judged, 16 characters and
/// more, is left out. Its calls are those of a [`HookModel`]: no limit and no hook sees them.
///
/// What a text says to the judge is data, but a model may believe it all the same: do not rely on a judge alone. Images,
/// audio, files and thoughts are not judged, nor what hooks write in place of a model or make of its answer.
///
/// Its priority is [`PRIORITY`](Self::PRIORITY): after hooks that redact, so that it reads the input without what they
/// remove, and the answer as the model wrote it. It is inherited. Several judges of an agent need
/// [names](hooks_agent_core::hook::AgentHookExt::named). With [`send_back`](Self::send_back), it does not run in shadow.
///
/// ```
/// use hooks_agent::builtin::guard::Judge;
/// use hooks_agent::hook::TextBlocked;
/// use hooks_agent::prelude::*;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// // A judge that asks for short answers.
/// let small = ScriptedModel::new("small", |request| match request.last_text().len() {
///     0..80 => r#"{"score": 1.0, "reason": "It is short."}"#,
///     _ => r#"{"score": 0.1, "reason": "It is long."}"#,
/// });
/// let judge = Judge::new(small, "The answer has one sentence.").send_back(1);
/// let model = ScriptedModel::new("polite", |request| match request.last_text().as_str() {
///     "May I?" => "Yes, and let me tell you at length why I am so very glad that you ask me that.",
///     _ => "Yes.",
/// });
/// let agent = ReActAgent::builder("assistant").model(model).hook(judge).build()?;
/// assert_eq!(agent.call("May I?").await?.text(), "Yes.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Judge {
    settings: Arc<Settings>,
}

/// What the hook keeps of a call.
#[derive(Default)]
struct InCall {
    sent_back: AtomicU32,
    passed: Passed,
}

impl Judge {
    /// The default priority: after hooks that redact, before those that ask people.
    pub const PRIORITY: i32 = 15;

    /// Has this model judge by this rubric: what is good, and what is not.
    pub fn new(model: impl ChatModel + 'static, rubric: impl Into<String>) -> Self {
        Self { settings: Arc::new(Settings::new(HookModel::new(model), rubric.into())) }
    }

    /// Judges what the caller gives: the texts of its messages, and results of tools that it brings.
    pub fn input(mut self) -> Self {
        self.set().input = true;
        self
    }

    /// Judges the calls of all tools.
    pub fn tool_calls(mut self) -> Self {
        self.set().tools = Tools::All;
        self
    }

    /// Judges the calls of these tools. In a name, `*` stands for any text.
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.set().tools.add(names.into_iter().map(Into::into));
        self
    }

    /// Judges answers, beside what else is chosen.
    pub fn answers(mut self) -> Self {
        self.set().choose_answers();
        self
    }

    /// Sets the least score that passes: a number below 0 or above 1 is taken as 0 or 1, and nothing passes one
    /// that is no number.
    pub fn threshold(mut self, score: f64) -> Self {
        self.set().threshold = score.clamp(0.0, 1.0);
        self
    }

    /// Sets how often, in a call, the model answers again with the reason why its answer was refused. It does not read
    /// the refused answer. Its tokens count, and limits count each time.
    pub fn send_back(mut self, times: u32) -> Self {
        self.set().send_back = times;
        self
    }

    /// Sets the longest time of a verdict. It requires a Tokio runtime with time; without one, everything is refused.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let settings = self.set();
        settings.model = settings.model.clone().timeout(timeout);
        settings.timeout = timeout;
        self
    }

    /// Sets whether the tokens of the judge are in the [usage](CallContext::usage) of the call.
    pub fn count_usage(mut self, count: bool) -> Self {
        let settings = self.set();
        settings.model = settings.model.clone().count_usage(count);
        self
    }

    fn set(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    fn in_call(&self, cx: &CallContext) -> Arc<InCall> {
        cx.hook_state(Arc::as_ptr(&self.settings).addr())
    }

    /// Returns whether an answer goes back to the model once more.
    fn sends_back(&self, cx: &CallContext) -> bool {
        let most = self.settings.send_back;
        let add = |times: u32| (times < most).then(|| times + 1);
        let sent_back = &self.in_call(cx).sent_back;
        sent_back.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

#[agent_hook(
    priority = Self::PRIORITY,
    role = HookRole::Guards,
    inherit,
    always,
    events = self.events_of(),
    around = self.around_of(),
    // It refuses, and answers nothing.
    answers = EventMask::NONE,
    answers_around = AroundMask::NONE,
    tool_names = |hook: &Self| hook.settings.tools.names(),
    not_in_shadow = |hook: &Self| {
        let again = hook.settings.judges_answers() && hook.settings.send_back > 0;
        again.then(|| "it calls models again, and a real call runs once".to_owned())
    }
)]
impl Judge {
    async fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        let cx = event.context();
        if cx.is_replaying() {
            return Ok(());
        }
        match self.settings.judge(cx, Subject::Input(event.messages())).await {
            Ruling::Passes => Ok(()),
            Ruling::Fails(why) | Ruling::Unjudged(why) => Err(TextBlocked::new(why).into()),
            Ruling::Interrupted => Err(interrupted(cx).await.into()),
        }
    }

    async fn pre_acting(&self, event: &mut PreActing<'_>) -> HookResult<Flow> {
        let (cx, call) = (event.context(), event.tool_use());
        if !self.settings.judges_call(call) || cx.is_replaying() {
            return Ok(Flow::Continue);
        }
        match self.settings.judge(cx, Subject::ToolCall(call)).await {
            Ruling::Passes => {
                self.in_call(cx).passed.add(call);
                Ok(Flow::Continue)
            }
            Ruling::Fails(why) | Ruling::Unjudged(why) => Ok(event.refuse(why)),
            Ruling::Interrupted => Err(interrupted(cx).await.into()),
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (cx, running) = (call.context(), call.tool_use());
        if cx.is_replaying() {
            return next.run(call.into_tool_use()).await;
        }
        let in_call = self.in_call(cx);
        if self.settings.judges_call(running) && !in_call.passed.has(running) {
            match self.settings.judge(cx, Subject::ToolCall(running)).await {
                Ruling::Passes => in_call.passed.add(running),
                Ruling::Fails(why) | Ruling::Unjudged(why) => {
                    return Ok(ToolResult::error(running, why));
                }
                Ruling::Interrupted => return Err(ToolError::Interrupted),
            }
        }
        // A hook further in may change it again.
        let settings = self.settings.clone();
        let check = move |running: &ToolUse| {
            let may_run = !settings.judges_call(running) || in_call.passed.has(running);
            may_run
                .then_some(())
                .ok_or_else(|| "it differs from the call that was judged".to_owned())
        };
        next.run_checked(call.into_tool_use(), check).await
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = call.context().clone();
        let request = call.into_request();
        if cx.is_replaying() {
            return next.run(request).await;
        }
        let mut asked = request.clone();
        loop {
            let answer = next.run(asked).await?;
            // A hook answers in place of a model, such as a limit.
            if answer.reason().is_some() {
                return Ok(answer);
            }
            let held = Held::read(answer).await?;
            let subject = Subject::Answer(&held.text);
            let ruling = if held.is_too_long {
                self.settings.unjudged(&cx, subject, "it is too long")
            } else {
                self.settings.judge(&cx, subject).await
            };
            let why = match ruling {
                Ruling::Passes => return Ok(held.give_on()),
                Ruling::Interrupted => return Err(interrupted(&cx).await),
                Ruling::Fails(why) if self.sends_back(&cx) => why,
                Ruling::Fails(why) | Ruling::Unjudged(why) => {
                    cx.add_usage(held.usage);
                    return Err(next.fail(TextBlocked::new(why)));
                }
            };
            // The agent counts the tokens of an answer that it reads.
            cx.add_usage(held.usage);
            asked = request.clone();
            asked.messages.push(Msg::user(format!(
                "[Note: nobody has seen the answer that you gave: {why}. Answer again, so that it does.]"
            )));
        }
    }

    fn events_of(&self) -> EventMask {
        let mut events = EventMask::NONE;
        if self.settings.input {
            events = events | EventKind::PreCall.into();
        }
        if self.settings.judges_tools() {
            events = events | EventKind::PreActing.into();
        }
        events
    }

    fn around_of(&self) -> AroundMask {
        let mut around = AroundMask::NONE;
        if self.settings.judges_answers() {
            around = around | AroundMask::MODEL_CALL;
        }
        if self.settings.judges_tools() {
            around = around | AroundMask::TOOL_CALL;
        }
        around
    }
}

/// Waits for the end of a call that is interrupted: nothing of what was not judged goes on.
async fn interrupted(cx: &CallContext) -> AgentError {
    cx.checkpoint().await.err().unwrap_or(AgentError::Interrupted)
}

/// Shows no rubric.
impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &*self.settings;
        f.debug_struct("Judge")
            .field("model", &settings.model.name())
            .field("input", &settings.input)
            .field("tools", &settings.tools)
            .field("answers", &settings.judges_answers())
            .field("threshold", &settings.threshold)
            .field("send_back", &settings.send_back)
            .field("timeout", &settings.timeout)
            .finish_non_exhaustive()
    }
}
