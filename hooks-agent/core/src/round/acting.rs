//! The step that runs a tool.

use std::sync::Arc;

use serde_json::Value;

use crate::memory::Confirmed;
use crate::message::{ToolResult, ToolUse};
use crate::round::control::Control;

/// The input of a tool call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ActingInput {
    /// The tool call to run, shared with the answer of the model: [`call_mut`](Self::call_mut) changes it.
    /// Its id has no effect: the result answers the model's tool call.
    pub call: Arc<ToolUse>,
    /// The decision of hooks.
    pub control: Control,
    /// The id of the model's tool call.
    id: Arc<str>,
    /// Whether a person edited the arguments.
    pub(crate) is_edited: bool,
    /// The tool call as the hooks found it, if people let it run.
    begun: Option<Arc<ToolUse>>,
}

impl ActingInput {
    /// Creates the input of a tool call of the model.
    #[must_use]
    pub fn new(call: impl Into<Arc<ToolUse>>) -> Self {
        let call = call.into();
        Self {
            id: call.id.as_str().into(),
            call,
            control: Control::default(),
            is_edited: false,
            begun: None,
        }
    }

    /// Returns a mutable reference to the tool call.
    pub fn call_mut(&mut self) -> &mut ToolUse {
        Arc::make_mut(&mut self.call)
    }

    /// Sets the arguments that a person gave.
    pub(crate) fn edited(mut self, arguments: Value) -> Self {
        let call = self.call_mut();
        call.input = arguments;
        call.invalid_input = None;
        self.is_edited = true;
        self
    }

    /// Notes the tool call that people let run as hooks find it.
    pub(crate) fn begin(&mut self) {
        self.begun = Some(self.call.clone());
    }

    /// Returns whether the tool call is as it began by this confirmation, and no hook has changed it yet: what hooks
    /// make of it is compared with what was shown when all of them have seen it.
    pub(crate) fn is_begun_by(&self, confirmed: &Confirmed) -> bool {
        let Some(begun) = &self.begun else { return false };
        let is_its = match &confirmed.edited {
            Some(edited) => self.is_edited && *edited == begun.input,
            None => !self.is_edited,
        };
        is_its && begun.name == self.call.name && begun.input == self.call.input
    }

    /// Returns the output with this result, for a hook that answers instead of the tool.
    #[must_use]
    pub fn answered(&self, result: ToolResult) -> Acted {
        Acted { control: self.control.clone(), ..Acted::new(self.call.clone(), result) }
    }

    /// Returns the id of the model's tool call.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the model's tool call, the tool call with this id, and the decision of hooks.
    pub(crate) fn into_call(self) -> (Arc<str>, Arc<ToolUse>, Control) {
        let Self { mut call, control, id, .. } = self;
        if *call.id != *id {
            Arc::make_mut(&mut call).id = String::from(&*id);
        }
        (id, call, control)
    }
}

/// The output of a tool call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Acted {
    /// The tool call that ran, or was to run.
    pub call: Arc<ToolUse>,
    /// The result, or `None` if the tool did not run: the tool call waits for a result.
    pub result: Option<ToolResult>,
    /// The decision of hooks.
    pub control: Control,
    /// Whether the tool ran, in contrast to a result by a hook.
    pub(crate) has_run: bool,
    /// The hook of the event before the tool call that supplied the result.
    pub(crate) answered_by: Option<Box<str>>,
}

impl Acted {
    /// Creates the output of a tool call that has a result.
    #[must_use]
    pub fn new(call: impl Into<Arc<ToolUse>>, result: ToolResult) -> Self {
        let (call, result) = (call.into(), Some(result));
        Self { call, result, control: Control::default(), has_run: false, answered_by: None }
    }

    /// Creates the output of a tool call that did not run.
    pub(crate) fn waiting(call: Arc<ToolUse>, control: Control) -> Self {
        Self { call, result: None, control, has_run: false, answered_by: None }
    }
}
