//! Answers that stream.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use futures::channel::oneshot;
use futures::{Stream, StreamExt, stream};
use hooks_agent_core::model::{ChatStream, ModelAnswer};
use serde_json::Value;

use crate::model::answer::chain::{Chain, Released};
use crate::model::answer::chat::{ReadChat, WriteChat};
use crate::model::answer::decide::Decisions;
use crate::model::answer::events;
use crate::model::answer::frames::Frames;
use crate::model::answer::messages::{ReadMessages, WriteMessages};
use crate::model::answer::piece::{Mark, TextKind, WriteEvents};
use crate::model::answer::responses::{ReadResponses, WriteResponses};
use crate::model::guarded::{Outcome, Session};
use crate::model::refusal::Form;
use crate::model::request::Conversations;

/// The answer to a request, and who guards it.
pub(crate) struct Answer {
    pub(crate) form: Form,
    pub(crate) session: Session,
    /// The answer as hooks that redact leave it, if there are such hooks.
    pub(crate) screened: Option<(ModelAnswer, oneshot::Sender<ChatStream>)>,
    pub(crate) conversations: Arc<Conversations>,
}

/// An answer on its way.
struct Streaming {
    chain: Chain,
    writer: Box<dyn WriteEvents>,
    decisions: Decisions,
    answer: About,
    frames: Frames,
    /// What waits for the whole reply, if hooks look at that.
    kept: Option<VecDeque<Released>>,
    is_over: bool,
}

/// What is known of the answer.
struct About {
    form: Form,
    conversations: Arc<Conversations>,
    response: Option<String>,
}

/// Returns the events of an answer as hooks leave them: as soon as they release them, and no later ones once the answer
/// has failed.
pub(crate) fn streamed<E: std::error::Error + Send + Sync + 'static>(
    answer: Answer,
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let Answer { form, session, screened, conversations } = answer;
    let screens_reply = session.guard.screens_replies(&session.input("Stop"));
    let is_read = screened.is_some() || screens_reply;
    let pieces = match form {
        Form::Chat => events::pieces(bytes, ReadChat::new(is_read)),
        Form::Responses => events::pieces(bytes, ReadResponses::new(is_read)),
        Form::Messages => events::pieces(bytes, ReadMessages::new(is_read)),
    };
    let writer: Box<dyn WriteEvents> = match form {
        Form::Chat => Box::new(WriteChat::new()),
        Form::Responses => Box::new(WriteResponses::new(is_read)),
        Form::Messages => Box::new(WriteMessages::default()),
    };
    let chain = match screened {
        Some((screened, feed)) => Chain::through(Box::pin(screened), feed, pieces),
        None => Chain::unchanged(pieces),
    };
    let streaming = Streaming {
        chain,
        writer,
        decisions: Decisions::new(session),
        answer: About { form, conversations, response: None },
        frames: Frames::default(),
        kept: screens_reply.then(VecDeque::new),
        is_over: false,
    };
    stream::unfold(streaming, async |mut streaming| {
        let bytes = streaming.next().await?;
        Some((bytes, streaming))
    })
}

impl Streaming {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            let Some(released) = self.chain.next().await else {
                self.fail("the answer has no end");
                break;
            };
            match released {
                Err(reason) => self.fail(&reason),
                Ok(released) => self.take(released).await,
            }
            if let Some(bytes) = self.frames.take() {
                return Some(bytes);
            }
        }
        self.frames.take()
    }

    /// Ends the answer as one that failed.
    fn fail(&mut self, reason: &str) {
        self.is_over = true;
        self.kept = None;
        self.writer.failed(reason, &mut self.frames);
    }

    async fn take(&mut self, released: Released) {
        let is_last = matches!(released, Released::Mark(Mark::End(_)));
        if matches!(released, Released::Mark(Mark::Failed(_))) {
            self.kept = None;
        }
        match &mut self.kept {
            Some(kept) if !is_last => kept.push_back(released),
            Some(_) => match self.screen_reply().await {
                Ok(kept) => {
                    for released in kept {
                        self.write(released).await;
                    }
                    self.write(released).await;
                }
                Err(reason) => self.fail(&reason),
            },
            None => self.write(released).await,
        }
    }

    /// Has hooks check the whole reply, and returns what was kept as they leave it.
    async fn screen_reply(&mut self) -> Result<VecDeque<Released>, String> {
        let mut kept = self.kept.take().unwrap_or_default();
        let texts = kept.iter().filter_map(|released| match released {
            Released::Text(TextKind::Said, text) => Some(text.as_str()),
            _ => None,
        });
        let said: String = texts.collect();
        if said.is_empty() {
            return Ok(kept);
        }
        match self.decisions.session().reply(said).await {
            Outcome::Same => Ok(kept),
            Outcome::Blocked(reason) => Err(format!("the answer was blocked: {reason}")),
            Outcome::Changed(changed) => {
                // The first text is all of it.
                let mut changed = Some(changed);
                kept.retain_mut(|released| match released {
                    Released::Text(TextKind::Said, text) => changed.take().is_some_and(|all| {
                        (*all).clone_into(text);
                        true
                    }),
                    _ => true,
                });
                Ok(kept)
            }
        }
    }

    async fn write(&mut self, released: Released) {
        match released {
            Released::Text(kind, text) if !text.is_empty() => {
                self.writer.text(kind, text, &mut self.frames);
            }
            Released::Text(..) => {}
            Released::Signature(signature) => self.writer.signature(signature, &mut self.frames),
            Released::Pass(event) => self.writer.event(event, &mut self.frames),
            Released::Mark(Mark::Event(event)) => {
                self.note_response(&event);
                self.writer.event(event, &mut self.frames);
            }
            Released::Mark(Mark::Slot(event)) => self.writer.slot(event),
            Released::Mark(Mark::Held(held)) => {
                let fate = self.decisions.fate(&held).await;
                self.writer.held(*held, fate, &mut self.frames);
            }
            Released::Mark(Mark::Failed(error)) => {
                self.is_over = true;
                self.writer.event(error, &mut self.frames);
            }
            Released::Mark(Mark::End(event)) => self.end(event).await,
        }
    }

    /// Ends the answer, once hooks have seen its end.
    async fn end(&mut self, event: Value) {
        while let Some(released) = self.chain.next().await {
            match released {
                Ok(Released::Pass(event)) => self.writer.event(event, &mut self.frames),
                Ok(_) => {}
                Err(reason) => return self.fail(&reason),
            }
        }
        if let Err(refused) = self.decisions.end().await {
            return self.fail(&refused.0);
        }
        self.is_over = true;
        self.note_response(&event);
        if let Some(id) = &self.answer.response {
            let unanswered = self.decisions.unanswered();
            self.answer.conversations.note(id, self.decisions.session(), unanswered);
        }
        self.writer.end(event, &mut self.frames);
    }

    /// Notes whose response it is, before the agent can go on with it.
    fn note_response(&mut self, event: &Value) {
        let id = event["response"]["id"].as_str().filter(|_| self.answer.form == Form::Responses);
        if let Some(id) = id.filter(|id| self.answer.response.as_deref() != Some(*id)) {
            self.answer.response = Some(id.to_owned());
            self.answer.conversations.note(id, self.decisions.session(), Vec::new());
        }
    }
}
