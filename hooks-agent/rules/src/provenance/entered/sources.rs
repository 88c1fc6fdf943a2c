//! Collects what entered a call, and where from.

use std::collections::HashMap;
use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{Msg, Role, ToolUse};

use crate::provenance::entered::choice::Choice;
use crate::provenance::entered::folded::Folded;
use crate::provenance::entered::read::Read;
use crate::provenance::entered::user::Known;
use crate::provenance::kept::{Kept, digest, each_scalar, kept, texts};
use crate::provenance::labels::Labels;
use crate::provenance::reading::fold::folded;
use crate::provenance::reading::needle::Needle;
use crate::provenance::reading::text::Text;

/// What a hook keeps of a call: texts that are in no message of its thread, and those that are folded already.
#[derive(Default)]
pub(crate) struct OfCall {
    /// Texts that others wrote.
    foreign: Mutex<Vec<Foreign>>,
    folded: Folded,
    /// The tool calls that may run, by their ids.
    pub(crate) cleared: Mutex<HashMap<String, Cleared>>,
    /// What was collected last, and of what.
    last: Mutex<Option<(Entered, Arc<Sources>)>>,
    /// What is known of these texts of the user and the texts of others among them.
    known: Mutex<Option<(Vec<usize>, Arc<Known>)>>,
}

/// What entered a call: the addresses of its messages, how many texts came by other doors, and what is kept.
#[derive(PartialEq)]
struct Entered {
    messages: Vec<usize>,
    kept: Kept,
}

/// A tool call that may run.
#[derive(Clone)]
pub(crate) struct Cleared {
    /// Its digest.
    pub(crate) call: String,
    /// What its arguments were traced in, if it changes something.
    pub(crate) sources: Option<Arc<Sources>>,
}

/// A text that others wrote and that is in no message.
#[derive(Clone)]
struct Foreign {
    tool: String,
    text: Arc<Text>,
    /// Whether it describes the tool.
    is_description: bool,
}

impl OfCall {
    pub(crate) fn add_foreign(&self, tool: &str, text: &str, is_description: bool) {
        let (tool, text) = (tool.to_owned(), Arc::new(Text::new(folded(text))));
        lock(&self.foreign).push(Foreign { tool, text, is_description });
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What entered a call, and where from.
pub(crate) struct Sources {
    pub(crate) user: Arc<Known>,
    /// The instructions of the agent.
    system: Vec<Arc<Text>>,
    pub(crate) reads: Vec<Read>,
    pub(crate) kept: Kept,
    /// How much was read, in bytes.
    pub(crate) length: usize,
}

/// A call, or one that it is part of, with what its thread says.
struct Level {
    of_call: Arc<OfCall>,
    /// Without what tool calls that run now return, which the model did not know.
    messages: Vec<Arc<Msg>>,
    foreign: Vec<Foreign>,
    is_outermost: bool,
}

impl Level {
    fn of(cx: &CallContext, of_call: Arc<OfCall>, is_running: bool) -> Self {
        let messages = cx.memory().map(|memory| memory.messages()).unwrap_or_default();
        let mut messages: Vec<_> = messages.shared().cloned().collect();
        let is_call =
            |msg: &Arc<Msg>| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
        if is_running && let Some(end) = messages.iter().rposition(is_call) {
            messages.truncate(end);
        }
        let foreign = lock(&of_call.foreign).clone();
        Self { of_call, messages, foreign, is_outermost: cx.parent().is_none() }
    }
}

impl Sources {
    /// Collects what entered a call: into its thread, and into those of the agents that it works for. What those say
    /// to a sub-agent is not what the user says. If tool calls of the last answer run already, their results are left
    /// out.
    ///
    /// # Errors
    /// The error if what is kept with the thread cannot be read.
    pub(crate) fn of(
        system: Option<&Arc<Msg>>,
        cx: &CallContext,
        is_running: bool,
        labels: &Labels,
        state: impl Fn(&CallContext) -> Arc<OfCall>,
    ) -> Result<Arc<Self>, ThreadValueError> {
        let kept = kept(cx)?;
        let of_call = state(cx);
        let calls = successors(Some(cx), |cx| cx.parent()).enumerate();
        let levels = calls.map(|(depth, cx)| Level::of(cx, state(cx), is_running || depth > 0));
        let levels: Vec<_> = levels.collect();
        let mut messages = Vec::new();
        for level in &levels {
            let read = level.messages.iter().filter(|msg| msg.role != Role::Assistant);
            messages.extend(read.map(|msg| Arc::as_ptr(msg).addr()));
            messages.push(level.foreign.len());
        }
        let entered = Entered { messages, kept };
        if let Some((_, sources)) =
            lock(&of_call.last).as_ref().filter(|(last, _)| *last == entered)
        {
            return Ok(sources.clone());
        }
        let sources = Arc::new(Self::collect(system, &of_call, &levels, &entered.kept, labels));
        *lock(&of_call.last) = Some((entered, sources.clone()));
        Ok(sources)
    }

    fn collect(
        system: Option<&Arc<Msg>>,
        of_call: &OfCall,
        levels: &[Level],
        kept: &Kept,
        labels: &Labels,
    ) -> Self {
        let (mut reads, mut user, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
        for level in levels {
            for Foreign { tool, text, is_description } in &level.foreign {
                let is_trusted = !labels.is_untrusted(tool) && !is_description;
                let read = Read::new(tool, text.clone(), Vec::new(), is_trusted);
                reads.push(if *is_description { read.describing() } else { read });
                foreign.extend((!is_trusted && !is_description).then(|| text.clone()));
            }
            add(level, kept, labels, &mut reads, &mut user);
        }
        let system = system.map(|system| of_call.folded.of(system)).unwrap_or_default();
        let length = reads.iter().map(|read| read.text.folded.len()).sum();
        let texts = user.iter().chain(&foreign).map(|text| Arc::as_ptr(text).addr());
        let texts: Vec<_> = texts.collect();
        let mut known = lock(&of_call.known);
        let user = match known.as_ref().filter(|(of, _)| *of == texts) {
            Some((_, known)) => known.clone(),
            None => Arc::new(Known::of(user, &foreign)),
        };
        *known = Some((texts, user.clone()));
        Self { user, system, reads, kept: kept.clone(), length }
    }

    /// Whether the user wrote a value.
    pub(crate) fn is_said(&self, needle: &Needle) -> bool {
        self.user.has_said(needle)
    }

    /// Whether the instructions of the agent have a value.
    pub(crate) fn is_instructed(&self, needle: &Needle) -> bool {
        self.system.iter().any(|text| needle.is_named_in(&text.folded))
    }

    /// Whether the user named what was read.
    pub(crate) fn is_named(&self, read: &Read) -> bool {
        read.is_named_by(&self.user)
    }

    /// Returns which records of a text the user's words choose.
    pub(crate) fn choice<'r>(&self, read: &'r Read) -> &'r Choice {
        read.choice(&self.user)
    }

    /// Returns what others may have written.
    pub(crate) fn untrusted(&self) -> impl Iterator<Item = &Read> {
        self.reads.iter().filter(|read| !read.is_trusted)
    }
}

/// Adds what the messages of a level say.
fn add(
    level: &Level,
    kept: &Kept,
    labels: &Labels,
    reads: &mut Vec<Read>,
    user: &mut Vec<Arc<Text>>,
) {
    let mut calls: HashMap<&str, &ToolUse> = HashMap::new();
    for msg in &level.messages {
        match msg.role {
            Role::Assistant => calls.extend(msg.tool_uses().map(|call| (&*call.id, call))),
            Role::Tool => {
                for (result, text) in msg.tool_results().zip(level.of_call.folded.of(msg)) {
                    let ran = result.ran.as_deref().or(calls.get(&*result.id).copied());
                    let tool = ran.map_or(&*result.name, |call| &*call.name);
                    let mut arguments = Vec::new();
                    if let Some(call) = ran {
                        each_scalar(&call.input, &mut |value| arguments.push(value));
                    }
                    reads.push(Read::new(tool, text, arguments, !labels.is_untrusted(tool)));
                }
            }
            Role::User | Role::System => {
                for (own, text) in texts(msg).zip(level.of_call.folded.of(msg)) {
                    let is_user = msg.role == Role::User;
                    let is_said = is_user && kept.said.contains(&digest(&[own]));
                    if is_said {
                        user.push(text);
                    } else if !is_user || level.is_outermost {
                        reads.push(Read::new("a message", text, Vec::new(), false));
                    }
                    // The task of a sub-agent is neither: its parts stand elsewhere.
                }
            }
        }
    }
}
