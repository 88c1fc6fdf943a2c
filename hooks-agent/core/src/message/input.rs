//! The error of invalid messages, and the checks that every message passes on its way into memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::identity::NotApprover;
use crate::message::block::{ToolResult, ToolUse};
use crate::message::messages::Messages;
use crate::message::msg::{Msg, Role};
use crate::message::pending::open_calls;

/// The error of invalid messages: their tool results do not match the tool calls of the thread, or
/// one of them is a system message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Tool calls wait for results.
    #[error(
        "tool calls wait for results: {}; give them, call without messages to run the tools, or turn \
         `recover_pending` on", .ids.join(", ")
    )]
    MissingResults {
        /// The ids of the tool calls.
        ids: Vec<String>,
    },
    /// Tool calls wait for a decision of a person.
    #[error(
        "a person decides about tool calls first, by `CallOptions::decide` or `Store::decide`; the ids of \
         the questions: {}", .questions.join(", ")
    )]
    Undecided {
        /// The ids of the tool calls.
        ids: Vec<String>,
        /// The ids of the questions about them.
        questions: Vec<Arc<str>>,
    },
    /// Some results are missing, and there are other messages than results.
    #[error(
        "results are missing for: {}; messages beside results can be taken only once all calls are \
         answered", .ids.join(", ")
    )]
    PartialResults {
        /// The ids of the tool calls without results.
        ids: Vec<String>,
    },
    /// Two results are for the same tool call.
    #[error("two results of the tool call `{id}`, one is allowed")]
    DuplicateResult {
        /// The id of the tool call.
        id: String,
    },
    /// Two tool calls have the same id, and the first has no result before the second.
    #[error("two tool calls of the id `{id}` at once: their results cannot be told apart")]
    DuplicateCall {
        /// The id of the tool calls.
        id: String,
    },
    /// A message stands between a tool call and its result, which providers refuse.
    #[error(
        "the result of the tool call `{id}` comes after another message: results follow their tool \
         calls directly"
    )]
    LateResult {
        /// The id of the tool call.
        id: String,
    },
    /// Results are for unknown tool calls.
    #[error(
        "results of unknown tool calls: {}; expected: {}", .ids.join(", "), .expected.join(", ")
    )]
    UnknownResults {
        /// The ids of the results.
        ids: Vec<String>,
        /// The ids of the tool calls that wait.
        expected: Vec<String>,
    },
    /// A hook asks about tool calls that the answer does not have.
    #[error("the answer has no tool calls of the ids: {}", .ids.join(", "))]
    UnknownCalls {
        /// The ids.
        ids: Vec<String>,
    },
    /// The user of the call may not answer what it confirms or answers.
    #[error("the tool call `{id}` waits for somebody else: {reason}")]
    NotApprover {
        /// The id of the tool call.
        id: String,
        /// Why.
        reason: NotApprover,
    },
    /// Confirmed tool calls do not wait.
    #[error(
        "confirmed tool calls do not wait: {}; {}", .ids.join(", "), waiting(expected)
    )]
    UnknownConfirmations {
        /// The confirmed ids.
        ids: Vec<String>,
        /// The ids of the tool calls that wait.
        expected: Vec<String>,
    },
    /// A block is in a message of the wrong role: tool calls belong to messages of the model, results
    /// to messages of tools or the user.
    #[error("a {block} does not belong in a message of role {role:?}")]
    MisplacedBlock {
        /// The kind of block.
        block: &'static str,
        /// The role of the message.
        role: Role,
    },
    /// A hook replaced the answer of the model by a message of another role.
    #[error("an answer has role Assistant, not {role:?}: create it by `Msg::assistant`")]
    NotAnAnswer {
        /// The role of the message.
        role: Role,
    },
    /// The call is for [unfinished](crate::call::CallOptions::only_unfinished) threads alone.
    #[error(
        "nothing is left to do on the thread `{thread}`: another call has finished it; for one more \
         answer, resume without `only_unfinished`"
    )]
    NothingToResume {
        /// The id of the thread.
        thread: String,
    },
    /// The thread is in a store outside of the process.
    #[error(
        "the thread `{thread}` is in a store: write it by `store.import(..)`, remove it by \
         `agent.forget(..)`"
    )]
    InStore {
        /// The id of the thread.
        thread: String,
    },
    /// One of the messages is a system message.
    #[error(
        "a system message is no part of a conversation, use `system_prompt` or the system message of \
         the event"
    )]
    SystemMessage,
}

fn waiting(ids: &[String]) -> String {
    match ids {
        [] => "no tool call waits".to_owned(),
        ids => format!("those that wait: {}", ids.join(", ")),
    }
}

impl InputError {
    /// Checks that each result belongs to a different one of the tool calls.
    pub(crate) fn check_results(calls: &[ToolUse], results: &[&ToolResult]) -> Result<(), Self> {
        let mut seen = HashSet::new();
        if let Some(result) = results.iter().find(|result| !seen.insert(&result.id)) {
            return Err(Self::DuplicateResult { id: result.id.clone() });
        }
        let expected: HashSet<_> = calls.iter().map(|call| &call.id).collect();
        let unknown = results.iter().filter(|result| !expected.contains(&result.id));
        let ids: Vec<_> = unknown.map(|result| result.id.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let expected = calls.iter().map(|call| call.id.clone()).collect();
        Err(Self::UnknownResults { ids, expected })
    }

    /// Checks that the blocks of a message belong to its role.
    pub(crate) fn check_message(msg: &Msg) -> Result<(), Self> {
        let misplaced = |block| Err(Self::MisplacedBlock { block, role: msg.role });
        match msg.role {
            Role::System => Err(Self::SystemMessage),
            Role::Assistant if msg.tool_results().next().is_some() => misplaced("tool result"),
            Role::User | Role::Tool if msg.tool_uses().next().is_some() => misplaced("tool call"),
            _ => Ok(()),
        }
    }

    /// Checks the answer of a model as hooks left it.
    pub(crate) fn check_answer(msg: &Msg) -> Result<(), Self> {
        match msg.role {
            Role::Assistant => Self::check_message(msg),
            role => Err(Self::NotAnAnswer { role }),
        }
    }

    /// Checks messages that follow the tool calls `open`: their results belong to these or to their
    /// own tool calls, and their own tool calls have results, directly behind them.
    pub(crate) fn check_appended(open: &[ToolUse], messages: &Messages) -> Result<(), Self> {
        for msg in messages {
            Self::check_message(msg)?;
        }
        let has_tools =
            |msg: &Msg| msg.tool_uses().next().is_some() || msg.tool_results().next().is_some();
        if !messages.iter().any(has_tools) {
            return Ok(());
        }
        let mut known: HashMap<&str, Known> =
            open.iter().map(|call| (call.id.as_str(), Known::Open)).collect();
        let (mut own, mut last, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for msg in messages {
            if msg.tool_results().next().is_none() {
                for id in last.drain(..) {
                    known.entry(id).and_modify(Known::pass);
                }
            }
            for result in msg.tool_results() {
                match known.get_mut(result.id.as_str()) {
                    None => unknown.push(result.id.clone()),
                    Some(call) => call.answer(&result.id)?,
                }
            }
            for call in msg.tool_uses() {
                // Results of the tool calls `open` are moved to the front.
                let is_open = || open.iter().any(|open| open.id == call.id);
                let before = known.insert(&call.id, Known::Open);
                if before.is_some_and(|before| before != Known::Answered || is_open()) {
                    return Err(Self::DuplicateCall { id: call.id.clone() });
                }
                own.push(call.id.as_str());
                last.push(call.id.as_str());
            }
        }
        if !unknown.is_empty() {
            let expected = open.iter().map(|call| call.id.clone()).collect();
            return Err(Self::UnknownResults { ids: unknown, expected });
        }
        own.retain(|id| known.get(id) != Some(&Known::Answered));
        if own.is_empty() {
            return Ok(());
        }
        Err(Self::MissingResults { ids: own.into_iter().map(str::to_owned).collect() })
    }

    /// Checks a whole conversation, as memory has it: each tool call has one result directly after it,
    /// except that the last tool calls may wait for theirs, and each block is in a message of its role.
    ///
    /// # Errors
    /// The first violation: [`MissingResults`](Self::MissingResults),
    /// [`LateResult`](Self::LateResult), [`DuplicateResult`](Self::DuplicateResult),
    /// [`UnknownResults`](Self::UnknownResults), [`DuplicateCall`](Self::DuplicateCall),
    /// [`MisplacedBlock`](Self::MisplacedBlock) or [`SystemMessage`](Self::SystemMessage).
    ///
    /// ```
    /// use hooks_agent::error::InputError;
    /// use hooks_agent::message::{Messages, Msg, ToolResult, ToolUse};
    /// use serde_json::json;
    ///
    /// let call = ToolUse::new("1", "read", json!({}));
    /// let orphan = Messages::from(Msg::tool_result(ToolResult::success(&call, "text")));
    /// let error = InputError::check_history(&orphan).unwrap_err();
    /// assert!(matches!(error, InputError::UnknownResults { .. }));
    /// ```
    pub fn check_history(messages: &Messages) -> Result<(), Self> {
        match Self::check_appended(&[], messages) {
            Err(Self::MissingResults { ids }) => {
                let open = open_calls(messages);
                let waits = |id: &String| open.iter().any(|call| call.id == *id);
                if ids.iter().all(waits) { Ok(()) } else { Err(Self::MissingResults { ids }) }
            }
            checked => checked,
        }
    }

    /// Checks that the messages have a result of each tool call.
    pub(crate) fn check_answered(calls: &[ToolUse], messages: &Messages) -> Result<(), Self> {
        let results = messages.iter().flat_map(Msg::tool_results);
        let answered: HashSet<_> = results.map(|result| &result.id).collect();
        let open = calls.iter().filter(|call| !answered.contains(&call.id));
        let ids: Vec<_> = open.map(|call| call.id.clone()).collect();
        if ids.is_empty() { Ok(()) } else { Err(Self::MissingResults { ids }) }
    }
}

/// What a check knows of a tool call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Open,
    /// A message came that is no result.
    Late,
    Answered,
}

impl Known {
    fn pass(&mut self) {
        if *self == Self::Open {
            *self = Self::Late;
        }
    }

    fn answer(&mut self, id: &str) -> Result<(), InputError> {
        match std::mem::replace(self, Self::Answered) {
            Self::Open => Ok(()),
            Self::Late => Err(InputError::LateResult { id: id.to_owned() }),
            Self::Answered => Err(InputError::DuplicateResult { id: id.to_owned() }),
        }
    }
}
