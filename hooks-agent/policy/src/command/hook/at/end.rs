//! The end of a call, where nothing waits for commands.

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventKind, Settled};
use hooks_agent_core::message::GenerateReason;
use tokio::runtime::Handle;

use crate::command::contract::{CommandEvent, Input};
use crate::command::hook::command_hooks::{CommandHooks, Host};
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    /// Starts the commands of the end of a call.
    pub(crate) fn settled(&self, event: &Settled<'_>) {
        let (cx, kind) = (event.context(), Some(EventKind::Settled));
        let own = CommandEvent::Own(EventKind::Settled);
        match event.outcome() {
            CallOutcome::Finished(Some(GenerateReason::PermissionAsking)) => {
                let notification = CommandEvent::Notification;
                let mut input = input::of_call(notification, kind, cx);
                let text = format!("{} waits for permission to use a tool", cx.agent_name());
                (input.message, input.notification_type) = (Some(text), Some(PROMPT.to_owned()));
                self.host().start(notification, Some(PROMPT.to_owned()), input);
            }
            CallOutcome::Failed(error) => {
                let mut input = input::of_call(CommandEvent::StopFailure, kind, cx);
                input.error = Some(error.to_string());
                self.host().start(CommandEvent::StopFailure, None, input);
            }
            _ => {}
        }
        let mut input = input::of_call(own, kind, cx);
        if let Some(hooks) = &mut input.hooks {
            hooks.outcome = Some(event.outcome().name().to_owned());
        }
        self.host().start(own, Some(cx.agent_name().to_owned()), input);
    }
}

const PROMPT: &str = "permission_prompt";

impl Host {
    /// Starts the commands of an event and does not wait for them.
    fn start(&self, event: CommandEvent, subject: Option<String>, input: Input) {
        if !self.commands().listen_to(event) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            tracing::warn!(
                target: "hooks_agent::command",
                %event, "commands did not start, because there is no tokio runtime"
            );
            return;
        };
        let (commands, input) = (self.commands().clone(), self.placed(input));
        runtime.spawn(async move {
            let occasion = Occasion { event, subject: subject.as_deref(), tool: None };
            commands.run(&CallContext::default(), occasion, input).await;
        });
    }

    /// Starts the commands of `SessionEnd`, unless they were run before.
    pub(crate) fn start_session_end(&self) {
        if self.end() {
            self.start(CommandEvent::SessionEnd, Some(OTHER.to_owned()), session_end());
        }
    }

    /// Runs the commands of `SessionEnd`, unless they were run before.
    pub(crate) async fn run_session_end(&self) {
        if self.end() {
            let event = CommandEvent::SessionEnd;
            let occasion = Occasion { event, subject: Some(OTHER), tool: None };
            let input = self.placed(session_end());
            self.commands().run(&CallContext::default(), occasion, input).await;
        }
    }
}

const OTHER: &str = "other";

fn session_end() -> Input {
    let mut input = Input::new(CommandEvent::SessionEnd);
    input.reason = Some(OTHER.to_owned());
    input
}
