//! An event, from its bytes to its answer.

use std::fmt;
use std::io::{BufReader, Read};

use hooks_agent_policy::command::{CommandEvent, Input};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::decided::Decided;
use crate::dialect::agents::{CLAUDE, CONTRACT};
use crate::dialect::answer::{Answer, said};
use crate::dialect::table::{Event, Kind};
use crate::dialect::{Dialect, PARENT};
use crate::guard::Guard;
use crate::thread::GuestThread;

/// Why the settings stay as they are.
const SETTINGS: &str =
    "a guard watches this session: settings that change in the middle of it are not taken";

/// How many tool calls of a turn are remembered as decided about.
const MOST_ANSWERED: usize = 1_000;

/// An event of an agent, as hooks decide about it.
#[derive(Debug)]
pub struct Received {
    dialect: Dialect,
    event: &'static Event,
    input: Input,
    /// The calls of a batch.
    calls: Vec<Input>,
}

/// An event that cannot be read, with what is known of it.
#[derive(Debug)]
pub struct Unread {
    dialect: Option<Dialect>,
    event: Option<&'static Event>,
    name: Option<String>,
    reason: String,
}

impl Received {
    /// Reads an event. `agent` is whose it should be, and `event` which one it should be, if that is known: an event
    /// that is another one is refused, but one of an agent that reads the settings of `agent`, which is answered in its
    /// own form.
    ///
    /// # Errors
    /// [`Unread`]: [`Unread::answer`] blocks it.
    pub fn read(bytes: &[u8], agent: Option<Dialect>, event: Option<&str>) -> Result<Self, Unread> {
        let fields = match serde_json::from_slice::<Map<String, Value>>(bytes) {
            Ok(fields) => fields,
            Err(error) => {
                let reason = format!("the event cannot be read, {}", place_of(&error));
                return Err(Unread::named(bytes, agent, event, reason));
            }
        };
        let found = Dialect::of(&fields);
        let dialect = match (agent, found) {
            (Some(agent), Some(found)) if agent != found => {
                let is_of_reader = agent.0.read_by.contains(&found.name());
                if !is_of_reader {
                    let reason = format!(
                        "the event is one of {}, and the guard was started for {}",
                        found.agent(),
                        agent.agent()
                    );
                    let name = (found.0.name_of)(&fields);
                    return Err(Unread::of(Some(found), name, reason));
                }
                Some(found)
            }
            (agent, found) => found.or(agent),
        };
        let is_of_reader = agent.is_some() && dialect != agent;
        let known = dialect.unwrap_or(Dialect(CLAUDE));
        let told = (known.0.name_of)(&fields);
        let name = match (event, told) {
            // A reader has its own names.
            (Some(event), Some(told)) if !is_of_reader && told != event => {
                let reason = format!(
                    "the event is `{}`, and the guard was started for `{event}`",
                    told.escape_debug()
                );
                // Where nothing is decided nothing is refused either.
                let is_noted = known.event(event).is_some_and(|event| event.kind == Kind::Noted);
                let name = if is_noted { told } else { event.to_owned() };
                return Err(Unread::of(Some(known), Some(name), reason));
            }
            (_, Some(told)) => told,
            (Some(event), None) => event.to_owned(),
            (None, None) => {
                let reason = "the event has no `hook_event_name`".to_owned();
                return Err(Unread::of(dialect, None, reason));
            }
        };
        let Some(event) = known.event(&name) else {
            let near = name.parse::<CommandEvent>().err().and_then(|unknown| unknown.near());
            let near = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            let reason = format!(
                "`hooks-agent guard` does not serve the event `{}`{near}",
                name.escape_debug()
            );
            return Err(Unread::of(dialect, Some(name), reason));
        };
        let unread = |reason| Unread {
            dialect: Some(known),
            event: Some(event),
            name: Some(name.clone()),
            reason,
        };
        if event.kind == Kind::Noted {
            return Ok(Self {
                dialect: known,
                event,
                input: Input::new(event.name),
                calls: Vec::new(),
            });
        }
        let input = (known.0.read)(event, &fields).map_err(unread)?;
        let calls = match event.kind {
            Kind::Batch => calls_of(&input, &fields).map_err(unread)?,
            _ => Vec::new(),
        };
        Ok(Self { dialect: known, event, input, calls })
    }

    /// Returns whose event it is.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the event, with the names of the contract of commands.
    #[must_use]
    pub const fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the answer, if no hook is asked: nothing need be opened for it.
    #[must_use]
    pub fn without_hooks(&self) -> Option<Answer> {
        match self.event.kind {
            Kind::Noted => Some(self.write(Decided::Passes)),
            Kind::Settings => Some(self.write(Decided::Blocks(SETTINGS.to_owned()))),
            _ => None,
        }
    }

    /// Returns the session of which that of a sub-agent is a part, if it has one of its own.
    #[must_use]
    pub fn parent_session(&self) -> Option<&str> {
        self.input.other.get(PARENT)?.as_str()
    }

    /// Has it count as one of this session: the outermost one of those that it is a part of.
    pub fn count_with(&mut self, session: impl Into<String>) {
        self.input.session_id = session.into();
        for call in &mut self.calls {
            call.session_id.clone_from(&self.input.session_id);
        }
    }

    /// Runs the hooks of the guard, with what they kept with the thread, and returns the answer.
    pub async fn answer(&self, guard: &Guard, thread: &mut GuestThread) -> Answer {
        let decided = match self.event.kind {
            Kind::Noted => Decided::Passes,
            Kind::Settings => Decided::Blocks(SETTINGS.to_owned()),
            Kind::Batch => self.batch(guard, thread).await,
            kind => {
                let has_batches = || self.dialect.0.events.iter().any(|it| it.kind == Kind::Batch);
                if let (Kind::Result, Some(id)) = (kind, &self.input.tool_use_id)
                    && has_batches()
                {
                    // One that is forgotten is decided about again.
                    while thread.answered.len() >= MOST_ANSWERED {
                        thread.answered.pop_first();
                    }
                    thread.answered.insert(id.clone());
                }
                self.begin_or_go_on(thread);
                match self.input.hook_event_name.parse() {
                    Ok(event) => guard.decided(event, &self.input, thread).await,
                    Err(_) => undecided(kind, unchecked(kind)),
                }
            }
        };
        self.write(decided)
    }

    /// Notes whether a prompt goes on with its run: an agent may write one for each result of a tool.
    fn begin_or_go_on(&self, thread: &mut GuestThread) {
        match self.event.kind {
            Kind::Prompt if self.dialect.0.repeats_prompts => {
                thread.goes_on = thread.is_in_turn;
                thread.is_in_turn = true;
            }
            Kind::Stop => thread.is_in_turn = false,
            _ => {}
        }
    }

    /// Ends the run if hooks would keep something of a result from the model that no event could change: that of a tool
    /// call which failed.
    async fn batch(&self, guard: &Guard, thread: &mut GuestThread) -> Decided {
        for call in &self.calls {
            // A sub-agent has batches of the same session.
            if call.tool_use_id.as_ref().is_some_and(|id| thread.answered.remove(id)) {
                continue;
            }
            match guard.decided(CommandEvent::PostToolUse, call, thread).await {
                Decided::Passes => {}
                Decided::Withholds(reason) | Decided::Ends(reason, _) => {
                    return Decided::ends(reason);
                }
                _ => {
                    let reason = "the result of a tool call that failed has something that a hook removes, and \
                                  this agent takes no other result of it";
                    return Decided::ends(reason);
                }
            }
        }
        Decided::Passes
    }

    /// Returns the answer of a guard that failed.
    #[must_use]
    pub fn unchecked(&self) -> Answer {
        self.undecided(unchecked(self.event.kind))
    }

    /// Returns the answer if nothing can be decided about it, for this reason.
    #[must_use]
    pub fn undecided(&self, reason: &str) -> Answer {
        self.write(undecided(self.event.kind, reason))
    }

    fn write(&self, decided: Decided) -> Answer {
        (self.dialect.0.write)(self.event, decided.taken_by(self.event), &self.input)
    }
}

impl Unread {
    fn of(dialect: Option<Dialect>, name: Option<String>, reason: String) -> Self {
        // Without a sign of another agent it is one that takes the contract, whole or in part.
        let any = [Dialect(CLAUDE), Dialect(CONTRACT)];
        let found = dialect
            .as_slice()
            .iter()
            .chain(dialect.is_none().then_some(&any).into_iter().flatten());
        let mut found =
            found.filter_map(|dialect| Some((*dialect, dialect.event(name.as_deref()?)?)));
        match found.next() {
            Some((dialect, event)) => {
                Self { dialect: Some(dialect), event: Some(event), name, reason }
            }
            None => Self { dialect, event: None, name, reason },
        }
    }

    /// Creates what is known of an event by its first bytes and by what the guard was started for.
    #[must_use]
    pub fn named(
        bytes: impl Read,
        agent: Option<Dialect>,
        event: Option<&str>,
        reason: impl Into<String>,
    ) -> Self {
        let read = signs_in(bytes);
        let found = Dialect::of(&read);
        let dialect = found.or(agent);
        let told = (dialect.unwrap_or(Dialect(CLAUDE)).0.name_of)(&read);
        let started = event.map(str::to_owned);
        // What is cut may tell another event than it is. One of a reader has its own names.
        let is_of_reader = agent.is_some() && dialect != agent;
        let name = if is_of_reader { told.or(started) } else { started.or(told) };
        Self::of(dialect, name, reason.into())
    }

    /// Returns why. It has no content of the event but the names of fields.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the answer that blocks it, in the form of its agent, or in all forms if that is not known.
    #[must_use]
    pub fn answer(&self) -> Answer {
        match (self.dialect, self.event) {
            (Some(dialect), Some(event)) => {
                let decided = undecided(event.kind, unchecked(event.kind));
                (dialect.0.write)(event, decided.taken_by(event), &Input::new(event.name))
            }
            (Some(dialect), None) => (dialect.0.refuse)(&self.reason),
            (None, _) => everything(self.name.as_deref(), &self.reason),
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unread {}

/// Says what a guard could not check.
const fn unchecked(kind: Kind) -> &'static str {
    match kind {
        Kind::Prompt => "the guard could not check the prompt",
        Kind::Tool => "the guard could not check the tool call",
        Kind::Result => "the guard could not check the result",
        Kind::Batch => "the guard could not check the results",
        Kind::Stop | Kind::SubagentStop => "the guard could not check the end of the turn",
        Kind::Start | Kind::Settings | Kind::Noted => "the guard could not check this event",
    }
}

/// Returns what is made of an event about which nothing can be decided.
fn undecided(kind: Kind, reason: &str) -> Decided {
    let reason = reason.to_owned();
    match kind {
        Kind::Start => Decided::Warns(reason),
        Kind::Prompt | Kind::Settings => Decided::Blocks(reason),
        Kind::Tool => Decided::Denies(reason),
        Kind::Result => Decided::Withholds(reason),
        // At the end of a turn a block would send the model on, again and again.
        Kind::Batch | Kind::Stop | Kind::SubagentStop => Decided::ends(reason),
        Kind::Noted => Decided::Passes,
    }
}

/// Blocks an event of nobody knows whom: in every form that agents read.
fn everything(event: Option<&str>, reason: &str) -> Answer {
    let reason = said(reason);
    Answer {
        json: Some(json!({
            "cancel": true,
            "continue": false,
            "stopReason": reason,
            "decision": "block",
            "deny": reason,
            "errorMessage": reason,
            "reason": reason,
            "permission": "deny",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
            "hookSpecificOutput": {
                "hookEventName": event.unwrap_or("PreToolUse"),
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            },
        })),
        error: Some(reason.clone()),
        code: 2,
    }
}

/// Returns the calls of a batch, as events of their results.
fn calls_of(input: &Input, fields: &Map<String, Value>) -> Result<Vec<Input>, String> {
    let Some(Value::Array(calls)) = fields.get("tool_calls") else {
        return Err("the event has no array `tool_calls`".to_owned());
    };
    let call = |call: &Value| {
        let name = call["tool_name"].as_str().filter(|name| !name.is_empty());
        let mut of_call = input.clone();
        CommandEvent::PostToolUse.name().clone_into(&mut of_call.hook_event_name);
        of_call.tool_name = Some(name.ok_or("a call of the event has no `tool_name`")?.to_owned());
        of_call.tool_use_id = call["tool_use_id"].as_str().map(str::to_owned);
        of_call.tool_input = call.get("tool_input").cloned();
        let response = call.get("tool_response");
        of_call.tool_response =
            Some(response.ok_or("a call of the event has no `tool_response`")?.clone());
        Ok(of_call)
    };
    calls.iter().map(call).collect()
}

/// Says where a text is no JSON, without a word of it.
fn place_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let reason = match text {
        "recursion limit exceeded" => "expected at most 127 arrays and objects in each other",
        _ if error.is_data() => "expected a JSON object",
        text => {
            return format!(
                "at line {}, column {}: expected JSON: {text}",
                error.line().max(1),
                error.column().max(1)
            );
        }
    };
    format!("at line {}, column {}: {reason}", error.line().max(1), error.column().max(1))
}

/// Returns what tells an event of which the rest cannot be read: nested too deeply, too long, or no JSON behind it.
/// Keeps nothing of the rest in memory.
fn signs_in(from: impl Read) -> Map<String, Value> {
    let mut signs = Map::new();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(from));
    // What is behind the last sign need not be read.
    let _ = json.deserialize_map(Signs(&mut signs));
    signs
}

/// The fields that tell whose event it is, and which one.
const SIGNS: [&str; 13] = [
    "agent_action_name",
    "clineVersion",
    "conversation_id",
    "generation_id",
    "hook",
    "hook_event_name",
    "hookName",
    "hooks",
    "sessionId",
    "timestamp",
    "toolArgs",
    "transcript_path",
    "turn_id",
];

/// Takes the signs out of the fields of an event.
struct Signs<'a>(&'a mut Map<String, Value>);

impl<'de> Visitor<'de> for Signs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<(), M::Error> {
        while let Some(field) = fields.next_key::<String>()? {
            if SIGNS.contains(&field.as_str()) {
                let Sign(value) = fields.next_value()?;
                self.0.insert(field, value);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A text; of anything else, that it is there.
struct Sign(Value);

impl<'de> Deserialize<'de> for Sign {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text)
    }
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Sign;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Sign, E> {
        // A sign is short.
        Ok(Sign(text.get(..4096).unwrap_or(text).into()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sign, E> {
        Ok(Sign(Value::Null))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Sign, E> {
        Ok(Sign(Value::Null))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Sign, E> {
        Ok(Sign(Value::Null))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Sign, E> {
        Ok(Sign(Value::Null))
    }

    fn visit_unit<E>(self) -> Result<Sign, E> {
        Ok(Sign(Value::Null))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut values: S) -> Result<Sign, S::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Sign(Value::Null))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<Sign, M::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Sign(Value::Null))
    }
}
