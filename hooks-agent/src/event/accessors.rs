//! What events have in common.

/// The methods that every event has: of which agent and of which call it is.
macro_rules! of_a_call {
    () => {
        /// The agent.
        #[must_use]
        pub fn agent(&self) -> &'a dyn Agent {
            self.agent
        }

        /// The call of the agent.
        #[must_use]
        pub fn context(&self) -> &'a CallContext {
            self.cx
        }
    };
}
pub(super) use of_a_call;

/// The methods of an event whose `input` goes to the model.
macro_rules! model_input {
    () => {
        of_a_call!();

        /// The name of the agent's model.
        #[must_use]
        pub fn model_name(&self) -> &str {
            &self.input.model
        }

        /// The conversation, without the instructions; before a summary the last message asks for it.
        #[must_use]
        pub fn messages(&self) -> &Messages {
            &self.input.messages
        }

        /// The conversation, to be changed.
        pub fn messages_mut(&mut self) -> &mut Messages {
            &mut self.input.messages
        }

        /// Puts another conversation in its place.
        pub fn set_messages(&mut self, messages: impl Into<Messages>) {
            self.input.messages = messages.into();
        }

        /// The instructions. Each round starts from those that the call began with.
        #[must_use]
        pub fn system_message(&self) -> Option<&Msg> {
            self.input.system.as_deref()
        }

        /// Puts other instructions in their place, for this round; `None` takes them away.
        pub fn set_system_message(&mut self, system: impl Into<Option<Msg>>) {
            self.input.system = system.into().map(Arc::new);
        }

        /// Adds to the instructions, for this round.
        pub fn append_system(&mut self, text: impl Into<String>) {
            self.append_system_block(ContentBlock::text(text));
        }

        /// Adds a block to the instructions, for this round.
        pub fn append_system_block(&mut self, block: ContentBlock) {
            system::append(&mut self.input.system, block);
        }

        /// How the model is to answer, with what earlier hooks changed.
        #[must_use]
        pub fn options(&self) -> &ModelOptions {
            &self.input.options
        }

        /// How the model is to answer, to be changed.
        pub fn options_mut(&mut self) -> &mut ModelOptions {
            Arc::make_mut(&mut self.input.options)
        }
    };
}
pub(super) use model_input;
