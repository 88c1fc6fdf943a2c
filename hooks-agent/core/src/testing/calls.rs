//! A tool that notes its inputs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_core::BoxError;
use serde_json::{Value, json};

use crate::message::ToolOutput;
use crate::testing::diff::diff_values;
use crate::tool::{Tool, ToolContext, ToolFuture};

/// A tool that notes its inputs and answers each call with the next answer of a list.
///
/// A call without an answer fails with an error that says so, which the model reads. The schema
/// accepts any object. A clone shares the answers and the inputs, so that a test keeps one and gives
/// one to the agent; [`Script`](crate::testing::Script) has an example.
#[derive(Clone, Debug)]
pub struct Calls {
    name: Arc<str>,
    schema: Arc<Value>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The answers that are left.
    answers: VecDeque<Result<ToolOutput, String>>,
    inputs: Vec<Value>,
}

impl Calls {
    /// Creates a tool of this name without answers.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let schema = Arc::new(json!({ "type": "object" }));
        Self { name: name.into(), schema, state: Arc::default() }
    }

    /// Appends an answer with this output.
    #[must_use]
    pub fn answers(self, output: impl Into<ToolOutput>) -> Self {
        self.lock().answers.push_back(Ok(output.into()));
        self
    }

    /// Appends an answer that is an error.
    #[must_use]
    pub fn fails(self, reason: impl Into<String>) -> Self {
        self.lock().answers.push_back(Err(reason.into()));
        self
    }

    /// Returns the inputs until now, oldest first.
    #[must_use]
    pub fn inputs(&self) -> Vec<Value> {
        self.lock().inputs.clone()
    }

    /// Asserts that the tool was called with these inputs, in order, and no others.
    ///
    /// # Panics
    /// Panics with the difference if it was not.
    #[track_caller]
    pub fn assert_called_with(&self, inputs: impl IntoIterator<Item = Value>) {
        let (expected, found): (Vec<_>, _) = (inputs.into_iter().collect(), self.inputs());
        let difference = || diff_values(&expected, &found);
        assert!(
            expected == found,
            "tool `{}` was called with other inputs (- expected, + called):\n{}",
            self.name,
            difference()
        );
    }

    fn answer(&self, input: Value) -> Result<ToolOutput, BoxError> {
        let mut state = self.lock();
        state.inputs.push(input);
        let number = state.inputs.len();
        match state.answers.pop_front() {
            Some(answer) => Ok(answer?),
            None => Err(format!("tool `{}` has no answer {number}, add one", self.name).into()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[diagnostic::do_not_recommend]
impl Tool for Calls {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        "Notes its input."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        let answer = self.answer(cx.tool_use().input.clone());
        Box::pin(async move { answer })
    }
}
