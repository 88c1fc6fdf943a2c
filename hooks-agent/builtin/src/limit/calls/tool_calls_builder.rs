//! The builder of `ToolCallLimit`.

use crate::limit::calls::counts::{Counter, Limits};
use crate::limit::calls::error::CallLimitError;
use crate::limit::calls::limit_style::LimitStyle;
use crate::limit::calls::tool_calls::ToolCallLimit;
use crate::limit::exit::Exit;

/// Builds a [`ToolCallLimit`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ToolCallLimitBuilder {
    limit: ToolCallLimit,
    exit: Option<Exit>,
}

impl ToolCallLimit {
    /// Starts a limit of the calls of all tools together.
    pub fn all() -> ToolCallLimitBuilder {
        ToolCallLimitBuilder::new(None)
    }

    /// Starts a limit of the calls of the tool of this name.
    pub fn of(tool: impl Into<String>) -> ToolCallLimitBuilder {
        ToolCallLimitBuilder::new(Some(tool.into()))
    }
}

impl ToolCallLimitBuilder {
    fn new(tool: Option<String>) -> Self {
        let counter = Counter::new(ToolCallLimit::name_for(tool.as_deref()));
        let (limits, style) = (Limits::default(), LimitStyle::default());
        let limit =
            ToolCallLimit { tool, limits, exit: Exit::Continue, text: None, style, counter };
        Self { limit, exit: None }
    }

    /// Sets how many tool calls a thread may make, over all its calls. Those that are refused do
    /// not count.
    pub fn thread(mut self, limit: u64) -> Self {
        self.limit.limits.thread = Some(limit);
        self
    }

    /// Sets how many tool calls a run may make: a call of the agent, with the calls that resume it.
    /// Those that are refused count.
    pub fn run(mut self, limit: u64) -> Self {
        self.limit.limits.run = Some(limit);
        self
    }

    /// Sets what happens to tool calls beyond the limit.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = Some(exit);
        self
    }

    /// Sets the text of the reply beyond the limit, for [`Exit::End`]. The default names the limit. What
    /// the model reads in place of results stays.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.limit.text = Some(text.into());
        self
    }

    /// Sets when the limit is enforced.
    pub fn style(mut self, style: LimitStyle) -> Self {
        self.limit.style = style;
        self
    }

    /// Sets whether tool calls of sub-agents count in the thread and the run of the agent that has the hook.
    /// If not, each sub-agent has counts of its own. A limit that the sub-agent itself has counts apart in
    /// either case.
    pub fn counting_sub_agents(mut self, counting: bool) -> Self {
        self.limit.counter.counts_sub_agents = counting;
        self
    }

    /// Sets the name of the thread value with the counts. The default is the name of the hook. Two
    /// limits of the same tools on one agent need different names.
    pub fn counter(mut self, name: impl Into<String>) -> Self {
        self.limit.counter.name = name.into();
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`CallLimitError::NoLimit`] without a limit, [`CallLimitError::RunAboveThread`] if the run
    /// may make more tool calls than the thread, [`CallLimitError::InvalidExit`] for
    /// [`Exit::Continue`] with [`LimitStyle::NextModelCall`], [`CallLimitError::UnusedText`] for a text
    /// without [`Exit::End`].
    pub fn build(self) -> Result<ToolCallLimit, CallLimitError> {
        let Self { mut limit, exit } = self;
        match limit.limits {
            Limits { thread: None, run: None } => return Err(CallLimitError::NoLimit),
            Limits { thread: Some(thread), run: Some(run) } if run > thread => {
                return Err(CallLimitError::RunAboveThread { run, thread });
            }
            Limits { .. } => {}
        }
        limit.exit = match (limit.style, exit) {
            (LimitStyle::NextModelCall, Some(exit @ Exit::Continue)) => {
                return Err(CallLimitError::InvalidExit { exit });
            }
            (LimitStyle::NextModelCall, None) => Exit::End,
            (LimitStyle::BeforeExecution, None) => Exit::Continue,
            (_, Some(exit)) => exit,
        };
        if limit.text.is_some() && limit.exit != Exit::End {
            return Err(CallLimitError::UnusedText { exit: limit.exit });
        }
        Ok(limit)
    }
}
