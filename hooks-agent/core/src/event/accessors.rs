//! Methods that events share.

/// The methods of every event: its agent and its call.
macro_rules! of_a_call {
    () => {
        /// Returns the agent.
        #[must_use]
        pub fn agent(&self) -> &'a dyn Agent {
            self.agent
        }

        /// Returns the context of the call.
        #[must_use]
        pub fn context(&self) -> &'a CallContext {
            self.cx
        }
    };
}
pub(crate) use of_a_call;

/// The methods of every event, and what sets whose hook receives it.
macro_rules! of_an_event {
    () => {
        $crate::event::of_a_call!();

        /// Sets the context: the same call, as the hook that receives the event sees it.
        pub(crate) fn set_context(&mut self, cx: &'a CallContext) {
            self.cx = cx;
        }
    };
}
pub(super) use of_an_event;

/// The methods of an event whose `input` is sent to the model.
macro_rules! model_input {
    () => {
        of_an_event!();

        /// Returns the name of the agent's model.
        #[must_use]
        pub fn model_name(&self) -> &str {
            &self.input.model
        }

        /// Returns how many tokens the request and its answer may have together, if the model
        /// [knows](crate::model::ChatModel::context_window).
        #[must_use]
        pub fn context_window(&self) -> Option<u64> {
            self.input.context_window
        }

        /// Returns the messages, without the system message. Before a summary, the last message
        /// asks for the summary.
        #[must_use]
        pub fn messages(&self) -> &Messages {
            &self.input.messages
        }

        /// Returns a mutable reference to the messages.
        pub fn messages_mut(&mut self) -> &mut Messages {
            &mut self.input.messages
        }

        /// Replaces the messages.
        pub fn set_messages(&mut self, messages: impl Into<Messages>) {
            self.input.messages = messages.into();
        }

        /// Returns the system message. Each round starts with the system message of the call.
        #[must_use]
        pub fn system_message(&self) -> Option<&Msg> {
            self.input.system.as_deref()
        }

        /// Replaces the system message for this round; `None` removes it.
        pub fn set_system_message(&mut self, system: impl Into<Option<Msg>>) {
            self.input.system = system.into().map(Arc::new);
        }

        /// Appends text to the system message for this round.
        pub fn append_system(&mut self, text: impl Into<String>) {
            self.append_system_block(ContentBlock::text(text));
        }

        /// Appends a block to the system message for this round.
        pub fn append_system_block(&mut self, block: ContentBlock) {
            system::append(&mut self.input.system, block);
        }

        /// Returns the options of the model, with the changes of earlier hooks.
        #[must_use]
        pub fn options(&self) -> &ModelOptions {
            &self.input.options
        }

        /// Returns a mutable reference to the options of the model.
        pub fn options_mut(&mut self) -> &mut ModelOptions {
            Arc::make_mut(&mut self.input.options)
        }
    };
}
pub(super) use model_input;
