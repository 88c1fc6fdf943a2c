//! Messages of users for a call that runs.

use std::sync::Arc;

use crate::agent::Agent;
use crate::call::CallOptions;
use crate::error::{AgentError, InputError};
use crate::message::{ContentBlock, Messages, Role};
use crate::react::agent::ReActAgent;
use crate::run_id::RunId;
use crate::store::{Steered, StoreError, ThreadKey};

impl ReActAgent {
    /// Returns whether calls take what users [say while they run](Self::steer).
    #[must_use]
    pub fn is_steered(&self) -> bool {
        self.core.is_steered
    }

    /// Says something to the call that runs on a thread, in this process or in another one: the call takes it
    /// before it asks the model next, never between a tool call and its result. A call whose answer is complete
    /// takes what came meanwhile, and goes on. If none runs, the next call takes it before its own messages. What
    /// is said is lost by no end of a process, and taken once.
    ///
    /// Of the options, the thread and the user count; the thread must exist, and be the user's. Several messages
    /// are put there one by one. Guards of the input screen each by the door
    /// [`Steering`](crate::call::Door::Steering); a blocked one is dropped, with a
    /// [warning](crate::stream::AgentEventKind::Warning). A store has the text until the call has taken it.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::Steered;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     let said = request.messages.iter().filter(|msg| msg.role == Role::User).count();
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         None if said == 1 => "Which one?".into(),
    /// #         _ => request.last_text().into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("clerk").model(model).steering(true).build()?;
    /// agent.call("Pay the baker").await?;
    /// // Nobody runs: the next call takes it first.
    /// let steered = agent.steer(CallOptions::new(), "The one at the corner").await?;
    /// assert_eq!(steered, Steered::Waiting);
    /// agent.call("And hurry").await?;
    /// let history = agent.threads().history("default").await?;
    /// assert_eq!(history.get(2).unwrap().text(), "The one at the corner");
    /// assert_eq!(history.get(3).unwrap().text(), "And hurry");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StoreError::NoInbox`] if the agent is not built with
    /// [`steering`](crate::react::ReActAgentBuilder::steering), or its store has no inboxes;
    /// [`StoreError::UnknownThread`]; [`StoreError::OtherUser`]; [`AgentError::Input`] for a message that is
    /// not one of a user, or has tool calls or results.
    pub async fn steer(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> Result<Steered, AgentError> {
        if !self.core.is_steered {
            return Err(StoreError::NoInbox.into());
        }
        let messages = messages.into();
        InputError::check_appended(&[], &messages)?;
        for message in &messages {
            InputError::check_message(message)?;
            let role = message.role;
            let is_thought = |block: &ContentBlock| {
                matches!(
                    block,
                    ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. }
                )
            };
            if role != Role::User || message.content.iter().any(is_thought) {
                let block = if role == Role::User { "thought" } else { "message" };
                return Err(InputError::MisplacedBlock { block, role }.into());
            }
        }
        let (thread, claim) = options.steering();
        let key = ThreadKey::new(self.name(), thread).map_err(StoreError::from)?;
        let mut steered = Steered::Waiting;
        for message in messages {
            let once: Arc<str> = RunId::random().to_string().into();
            let message = Arc::unwrap_or_clone(message);
            steered = self.store().steer(&key, &claim, once, message).await?;
        }
        Ok(steered)
    }
}
