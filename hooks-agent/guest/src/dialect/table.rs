//! The table of a dialect: its events, a function that reads them, and one that writes answers.

use hooks_agent_policy::command::{CommandEvent, Input};
use serde_json::{Map, Value};

use crate::decided::Decided;
use crate::dialect::answer::Answer;

/// An agent, as it was seen to behave.
pub(super) struct Table {
    /// The word for it on the command line.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) agent: &'static str,
    /// The version that was watched.
    pub(super) version: &'static str,
    pub(super) events: &'static [Event],
    /// Returns whether an event is of this agent, by what no other agent writes.
    pub(super) is_of: fn(&Map<String, Value>) -> bool,
    /// Returns the name of the event, if it says so.
    pub(super) name_of: fn(&Map<String, Value>) -> Option<String>,
    /// Reads an event, or says which field that the decision needs is missing or of another type.
    pub(super) read: fn(&Event, &Map<String, Value>) -> Result<Input, String>,
    /// Writes what the event [takes](Event::takes).
    pub(super) write: fn(&Event, Decided, &Input) -> Answer,
    /// Stops what an event that is not known is about, as far as this agent can be stopped.
    pub(super) refuse: fn(&str) -> Answer,
    /// Whether it writes a prompt again for each result of a tool.
    pub(super) repeats_prompts: bool,
    /// The agents that read the settings of this one, and fire its hooks in their own form.
    pub(super) read_by: &'static [&'static str],
    /// When it goes on without its guard, whatever the guard answers.
    pub(super) gaps: &'static [&'static str],
}

/// An event of an agent.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What the agent can be told at it.
    pub(super) takes: &'static [Form],
}

impl Event {
    /// An event at which nothing is decided.
    pub(super) const fn noted(name: &'static str) -> Self {
        Self { name, kind: Kind::Noted, takes: &[] }
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A session begins.
    Start,
    /// A person wrote something.
    Prompt,
    /// A tool is about to run.
    Tool,
    /// A tool has run.
    Result,
    /// All tools of one answer have run, also those that failed.
    Batch,
    /// A turn ends.
    Stop,
    /// The turn of a sub-agent ends.
    SubagentStop,
    /// The settings changed in mid-session.
    Settings,
    /// Nothing is decided.
    Noted,
}

impl Kind {
    /// Returns the event of the contract of commands, whose hooks decide.
    pub(super) const fn event(self) -> Option<CommandEvent> {
        match self {
            Self::Start => Some(CommandEvent::SessionStart),
            Self::Prompt => Some(CommandEvent::UserPromptSubmit),
            Self::Tool => Some(CommandEvent::PreToolUse),
            Self::Result | Self::Batch => Some(CommandEvent::PostToolUse),
            Self::Stop => Some(CommandEvent::Stop),
            Self::SubagentStop => Some(CommandEvent::SubagentStop),
            Self::Settings | Self::Noted => None,
        }
    }

    /// Returns all that hooks may make of such an event, the mildest first.
    pub(super) const fn forms(self) -> &'static [Form] {
        match self {
            Self::Start => &[Form::Adds],
            Self::Prompt | Self::Settings => &[Form::Blocks],
            Self::Tool => &[Form::Rewrites, Form::Asks, Form::Denies, Form::Ends],
            Self::Result => &[Form::Replaces, Form::Withholds, Form::Ends],
            Self::Batch => &[Form::Ends],
            Self::Stop | Self::SubagentStop => &[Form::GoesOn],
            Self::Noted => &[],
        }
    }
}

/// The forms of [`Decided`], without what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Adds,
    Warns,
    Blocks,
    Denies,
    Asks,
    Rewrites,
    Replaces,
    Withholds,
    GoesOn,
    Ends,
}

impl Form {
    /// Names the form, for people.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Adds => "text that hooks add for the model",
            Self::Warns => "a warning",
            Self::Blocks => "a prompt that is blocked",
            Self::Denies => "a tool call that is denied",
            Self::Asks => "a question to a person",
            Self::Rewrites => "other arguments",
            Self::Replaces => "another result",
            Self::Withholds => "a result that is withheld",
            Self::GoesOn => "that the model goes on",
            Self::Ends => "the end of the run",
        }
    }

    /// Returns what is stricter, the mildest first.
    const fn stricter(self) -> &'static [Self] {
        match self {
            Self::Asks | Self::Rewrites => &[Self::Denies, Self::Ends],
            Self::Denies | Self::Blocks | Self::Withholds => &[Self::Ends],
            Self::Replaces => &[Self::Withholds, Self::Ends],
            // A limit is a refusal where the run cannot be ended.
            Self::Ends => &[Self::Denies, Self::Withholds, Self::Blocks],
            Self::Adds | Self::Warns | Self::GoesOn => &[],
        }
    }

    /// Returns the form itself if it is taken, else the next stricter one that is.
    pub(super) fn taken_by(self, event: &Event) -> Option<Self> {
        std::iter::once(self)
            .chain(self.stricter().iter().copied())
            .find(|form| event.takes.contains(form))
    }
}

impl Decided {
    pub(super) const fn form(&self) -> Option<Form> {
        match self {
            Self::Passes => None,
            Self::Adds(_) => Some(Form::Adds),
            Self::Warns(_) => Some(Form::Warns),
            Self::Blocks(_) => Some(Form::Blocks),
            Self::Denies(_) => Some(Form::Denies),
            Self::Asks(_) => Some(Form::Asks),
            Self::Rewrites(_) => Some(Form::Rewrites),
            Self::Replaces(_) => Some(Form::Replaces),
            Self::Withholds(_) => Some(Form::Withholds),
            Self::GoesOn(_) => Some(Form::GoesOn),
            Self::Ends(..) => Some(Form::Ends),
        }
    }

    /// Returns what the agent can be told at this event: this, or the next stricter thing. What cannot be told at all
    /// passes.
    pub(super) fn taken_by(self, event: &Event) -> Self {
        let Some(form) = self.form() else { return self };
        match form.taken_by(event) {
            None => Self::Passes,
            Some(same) if same == form => match self {
                // Not every agent takes a result beside it.
                Self::Ends(reason, result) if event.takes.contains(&Form::Replaces) => {
                    Self::Ends(reason, result)
                }
                Self::Ends(reason, _) => Self::ends(reason),
                same => same,
            },
            Some(Form::Denies) => Self::Denies(self.reason()),
            Some(Form::Withholds) => Self::Withholds(self.reason()),
            Some(Form::Blocks) => Self::Blocks(self.reason()),
            Some(_) => Self::ends(self.reason()),
        }
    }

    /// Says why, for an agent that takes something stricter alone.
    fn reason(self) -> String {
        match self {
            Self::Asks(why) => format!("{why}\n\nNobody is asked in this agent, so it is denied."),
            Self::Rewrites(_) => {
                "a hook changes the arguments of this call, and this agent takes no others: leave out what \
                 it removes"
                    .to_owned()
            }
            Self::Replaces(_) => "a hook removes or changes something in it".to_owned(),
            Self::Passes => String::new(),
            Self::Adds(text)
            | Self::Warns(text)
            | Self::Blocks(text)
            | Self::Denies(text)
            | Self::Withholds(text)
            | Self::GoesOn(text)
            | Self::Ends(text, _) => text,
        }
    }
}
