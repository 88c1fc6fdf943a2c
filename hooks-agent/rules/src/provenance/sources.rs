//! What entered a call, and where from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};

use crate::provenance::address::{Address, Form, each_address, words_beside};
use crate::provenance::choice::{Choice, Said};
use crate::provenance::fold::{folded, with_apart_sentences};
use crate::provenance::kept::{Kept, digest, each_scalar, kept, texts};
use crate::provenance::labels::Labels;
use crate::provenance::needle::{Needle, numbers};
use crate::provenance::text::Text;

/// What a hook keeps of a call: texts that are in no message of its thread, and those that are folded already.
#[derive(Default)]
pub(super) struct OfCall {
    /// Texts that others wrote.
    foreign: Mutex<Vec<Foreign>>,
    folded: Mutex<HashMap<usize, FoldedMsg>>,
    /// The tool calls that may run, by their ids.
    pub(super) cleared: Mutex<HashMap<String, Cleared>>,
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
pub(super) struct Cleared {
    /// Its digest.
    pub(super) call: String,
    /// What its arguments were traced in, if it changes something.
    pub(super) sources: Option<Arc<Sources>>,
}

/// A message, which is kept so that no other one has its address, and its texts: of results, one after the other.
type FoldedMsg = (Arc<Msg>, Vec<Arc<Text>>);

/// A text that others wrote and that is in no message.
#[derive(Clone)]
struct Foreign {
    tool: String,
    text: Arc<Text>,
    /// Whether it describes the tool.
    is_description: bool,
}

impl OfCall {
    pub(super) fn add_foreign(&self, tool: &str, text: &str, is_description: bool) {
        let (tool, text) = (tool.to_owned(), Arc::new(Text::new(folded(text))));
        lock(&self.foreign).push(Foreign { tool, text, is_description });
    }

    /// Returns the texts of a message in their usual form.
    fn folded(&self, msg: &Arc<Msg>) -> Vec<Arc<Text>> {
        let key = Arc::as_ptr(msg).addr();
        if let Some((_, texts)) = lock(&self.folded).get(&key) {
            return texts.clone();
        }
        let text = |text: &str| Arc::new(Text::new(folded(text)));
        let folded: Vec<_> = match msg.role {
            Role::Tool => msg.tool_results().map(|result| text(&text_of(result))).collect(),
            Role::User => texts(msg).map(|it| text(&with_apart_sentences(it))).collect(),
            _ => texts(msg).map(text).collect(),
        };
        lock(&self.folded).insert(key, (msg.clone(), folded.clone()));
        folded
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what a result says.
fn text_of(result: &ToolResult) -> String {
    let output = &result.output;
    let mut text = unescaped(output.as_str()).into_owned();
    for block in output.blocks() {
        if let ContentBlock::Text { text: more } = block {
            text.push('\n');
            text.push_str(&unescaped(more));
        }
    }
    text
}

/// Returns a text that has JSON in it without escapes of letters, and with blanks for those of blanks: as a model reads it.
/// Those that structure the JSON stay.
fn unescaped(text: &str) -> Cow<'_, str> {
    let is_json = text.trim_start().starts_with(['{', '[']) || text.contains("{\"");
    if !is_json || !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at..];
        let length = match escape.as_bytes().get(1) {
            Some(b'n' | b't' | b'r') => {
                plain.push(' ');
                2
            }
            Some(b'/') => {
                plain.push('/');
                2
            }
            Some(b'u') => {
                let code = escape.get(2..6).and_then(|code| u32::from_str_radix(code, 16).ok());
                match code
                    .and_then(char::from_u32)
                    .filter(|it| *it >= ' ' && !matches!(it, '"' | '\\'))
                {
                    Some(char) => {
                        plain.push(char);
                        6
                    }
                    None => {
                        plain.push_str("\\u");
                        2
                    }
                }
            }
            _ => {
                let end = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                plain.push_str(&escape[..end]);
                end
            }
        };
        rest = &escape[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A text that a tool returned, or that others wrote.
pub(super) struct Read {
    pub(super) text: Arc<Text>,
    pub(super) tool: String,
    /// The texts and numbers in the arguments of its call.
    arguments: Vec<String>,
    /// Whether others cannot write it.
    pub(super) is_trusted: bool,
    /// Whether it describes a tool: it speaks of what the tool does anyway.
    pub(super) is_description: bool,
    is_named: OnceLock<bool>,
    choice: OnceLock<Choice>,
}

impl Read {
    fn new(tool: &str, text: Arc<Text>, arguments: Vec<String>, is_trusted: bool) -> Self {
        Self {
            text,
            tool: tool.to_owned(),
            arguments,
            is_trusted,
            is_description: false,
            is_named: OnceLock::new(),
            choice: OnceLock::new(),
        }
    }

    /// Whether the arguments of its own call have a value: what a tool repeats, it does not bring.
    pub(super) fn repeats(&self, needle: &Needle) -> bool {
        let own = self.arguments.iter().map(|argument| folded(argument));
        own.into_iter().any(|own| {
            own.contains(&needle.text)
                || needle.places_in(&own).is_ok_and(|places| !places.is_empty())
        })
    }

    /// Returns the longest text among the arguments of its call, which says most.
    fn longest(&self) -> Option<&String> {
        let texts = self.arguments.iter().filter(|it| it.chars().count() >= 3);
        texts.max_by_key(|argument| argument.len())
    }

    /// Whether it was read by a URL.
    pub(super) fn is_of_url(&self) -> bool {
        self.longest().is_some_and(|argument| Needle::new(argument, "").form() == Some(Form::Url))
    }

    /// Says what it is: `read_file` (`bill.txt`).
    pub(super) fn shown(&self) -> String {
        if self.is_description {
            return format!("the description of `{}`", self.tool);
        }
        match self.arguments.first() {
            Some(argument) => format!("`{}` (`{}`)", self.tool, shortened(argument)),
            None => format!("`{}`", self.tool),
        }
    }
}

/// Returns a value as a reason shows it.
pub(super) fn shortened(value: &str) -> String {
    const MOST: usize = 60;
    let value = hooks_agent_core::message::visible(value).replace(['\n', '`'], " ");
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    }
}

/// What entered a call, and where from.
pub(crate) struct Sources {
    pub(super) user: Arc<Known>,
    /// The instructions of the agent.
    system: Vec<Arc<Text>>,
    pub(super) reads: Vec<Read>,
    pub(super) kept: Kept,
    /// How much was read, in bytes.
    pub(super) length: usize,
}

/// What is known of what the user said.
#[derive(Default)]
pub(super) struct Known {
    pub(super) texts: Vec<Arc<Text>>,
    pub(super) said: Said,
    /// The addresses that the user wrote.
    pub(super) given: Vec<Address>,
}

/// A passage that a hook puts into what the user said is no shorter, in bytes.
const LEAST_PASSAGE: usize = 24;

impl Known {
    /// Takes what others wrote out of the texts, as a hook may have put it there, and notes what is left.
    fn of(mut texts: Vec<Arc<Text>>, foreign: &[Arc<Text>]) -> Self {
        for text in &mut texts {
            for other in foreign.iter().map(|other| other.folded.trim()) {
                if other.len() >= LEAST_PASSAGE && text.folded.contains(other) {
                    *text = Arc::new(Text::new(text.folded.replace(other, "\n")));
                }
            }
        }
        let (mut said, mut given) = (Said::default(), Vec::new());
        for text in &texts {
            let words = words_beside(&text.folded);
            let words = words.into_iter().filter(|word| word.chars().count() >= 3);
            said.words.extend(words.map(str::to_owned));
            let is_large = |it: &String| it.split('.').next().is_some_and(|whole| whole.len() >= 2);
            said.numbers.extend(numbers(&text.folded).filter(is_large));
            each_address(&text.folded, None, |address, _| given.push(address));
        }
        Self { texts, said, given }
    }
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
    pub(super) fn of(
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
                reads.push(Read { is_description: *is_description, ..read });
                foreign.extend((!is_trusted && !is_description).then(|| text.clone()));
            }
            add(level, kept, labels, &mut reads, &mut user);
        }
        let system = system.map(|system| of_call.folded(system)).unwrap_or_default();
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
    pub(super) fn is_said(&self, needle: &Needle) -> bool {
        self.user.texts.iter().any(|text| needle.is_named_in(&text.folded))
    }

    /// Whether the instructions of the agent have a value.
    pub(super) fn is_instructed(&self, needle: &Needle) -> bool {
        self.system.iter().any(|text| needle.is_named_in(&text.folded))
    }

    /// Whether the user named what was read: wrote the longest text among the arguments of the call that returned it,
    /// which says most.
    pub(super) fn is_named(&self, read: &Read) -> bool {
        *read.is_named.get_or_init(|| {
            read.longest().is_some_and(|argument| self.is_said(&Needle::new(argument, "")))
        })
    }

    /// Returns which records of a text the user's words choose.
    pub(super) fn choice<'r>(&self, read: &'r Read) -> &'r Choice {
        read.choice.get_or_init(|| Choice::of(&read.text, &self.user.said))
    }

    /// Returns what others may have written.
    pub(super) fn untrusted(&self) -> impl Iterator<Item = &Read> {
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
                for (result, text) in msg.tool_results().zip(level.of_call.folded(msg)) {
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
                for (own, text) in texts(msg).zip(level.of_call.folded(msg)) {
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
