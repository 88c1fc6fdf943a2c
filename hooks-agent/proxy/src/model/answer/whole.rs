//! Answers that come at once.

use futures::{StreamExt, stream};
use serde_json::Value;

use crate::model::answer::chain::{Chain, Released};
use crate::model::answer::decide::Decisions;
use crate::model::answer::piece::{Fate, Held, Malformed, Mark, Piece, TextKind};
use crate::model::answer::scrub::scrub;
use crate::model::answer::stream::Answer;
use crate::model::answer::{chat, messages, responses};
use crate::model::guarded::Outcome;
use crate::model::refusal::{Form, Refusal};

/// A part of an answer.
#[derive(Debug)]
pub(crate) enum Part {
    /// A text at a place, and the place of its signature.
    Text { kind: TextKind, at: String, signature: Option<String> },
    /// What is decided about.
    Held { at: String, held: Box<Held> },
    /// What only the provider reads.
    Kept(String),
}

impl Part {
    pub(crate) fn text(kind: TextKind, at: String) -> Self {
        Self::Text { kind, at, signature: None }
    }

    pub(crate) fn held(at: String, held: Held) -> Self {
        Self::Held { at, held: Box::new(held) }
    }
}

/// A call or a result, with what became of it.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) at: String,
    pub(crate) held: Held,
    pub(crate) fate: Fate,
}

/// Returns an answer as hooks leave it.
pub(crate) async fn whole(answer: Answer, bytes: &[u8]) -> Result<Value, Refusal> {
    let unread = || Refusal::unreachable("the answer of the upstream cannot be read");
    let mut body: Value = serde_json::from_slice(bytes).map_err(|_| unread())?;
    let form = answer.form;
    let parts = match form {
        Form::Chat => chat::parts(&body),
        Form::Responses => responses::parts(&body),
        Form::Messages => messages::parts(&body),
    };
    let parts = parts.map_err(|Malformed| unread())?;
    let mut decisions = Decisions::new(answer.session.clone());
    let session = answer.session.clone();
    if let Some((screened, feed)) = answer.screened {
        let pieces = stream::iter(pieces_of(&parts, &body).into_iter().map(Ok)).boxed();
        let chain = Chain::through(Box::pin(screened), feed, pieces);
        redact(&mut body, &parts, chain).await?;
        scrub_rest(&mut body, &parts);
    }
    if session.guard.screens_replies(&session.input("Stop")) {
        screen_reply(&mut body, &parts, &decisions).await?;
        scrub_rest(&mut body, &parts);
    }
    let mut settled = Vec::new();
    for part in parts {
        let Part::Held { at, held } = part else { continue };
        let fate = decisions.fate(&held).await;
        settled.push(Settled { at, held: *held, fate });
    }
    match form {
        Form::Chat => chat::settle(&mut body, settled),
        Form::Responses => responses::settle(&mut body, settled),
        Form::Messages => messages::settle(&mut body, settled),
    }
    decisions.end().await?;
    if let Some(id) = body["id"].as_str().filter(|_| form == Form::Responses) {
        answer.conversations.note(id, &session, decisions.unanswered());
    }
    Ok(body)
}

/// Returns the texts, with a mark after each.
fn pieces_of(parts: &[Part], body: &Value) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in parts {
        let Part::Text { kind, at, signature } = part else { continue };
        let text_at = |at: &str| body.pointer(at).and_then(Value::as_str).map(str::to_owned);
        pieces.push(Piece::Text(*kind, text_at(at).unwrap_or_default()));
        let signature = signature.as_deref().and_then(text_at);
        pieces.extend(signature.map(Piece::Signature));
        pieces.push(Piece::Mark(Mark::Event(Value::Null)));
    }
    pieces.push(Piece::Mark(Mark::End(Value::Null)));
    pieces
}

/// Writes the texts as hooks release them.
async fn redact(body: &mut Value, parts: &[Part], mut chain: Chain) -> Result<(), Refusal> {
    let mut texts = parts.iter().filter(|part| matches!(part, Part::Text { .. }));
    let (mut text, mut signed) = (String::new(), None);
    let mut written = Vec::new();
    let mut has_ended = false;
    while let Some(released) = chain.next().await {
        match released.map_err(Refusal::blocked)? {
            Released::Text(_, more) => text.push_str(&more),
            Released::Signature(signature) => signed = Some(signature),
            Released::Mark(Mark::End(_)) => has_ended = true,
            Released::Mark(_) | Released::Pass(_) => {
                let Some(Part::Text { at, signature, .. }) = texts.next() else { break };
                written.push((at.clone(), Value::from(std::mem::take(&mut text))));
                let signature = signature.clone().filter(|at| body.pointer(at).is_some());
                written.extend(signature.map(|at| (at, signed.take().unwrap_or_default().into())));
            }
        }
    }
    if !has_ended || texts.next().is_some() {
        return Err(Refusal::blocked("a hook could not check the answer"));
    }
    write(body, written);
    Ok(())
}

/// Takes out what hooks have not read.
fn scrub_rest(body: &mut Value, parts: &[Part]) {
    // What they have read is out of the way meanwhile.
    let places = parts.iter().flat_map(|part| match part {
        Part::Text { at, signature, .. } => [Some(at), signature.as_ref()],
        Part::Held { at, .. } | Part::Kept(at) => [Some(at), None],
    });
    let taken: Vec<_> = places
        .flatten()
        .filter_map(|at| Some((at.clone(), body.pointer_mut(at)?.take())))
        .collect();
    scrub(body);
    write(body, taken);
}

fn write(body: &mut Value, values: Vec<(String, Value)>) {
    for (at, value) in values {
        if let Some(place) = body.pointer_mut(&at) {
            *place = value;
        }
    }
}

/// Has hooks check the whole reply.
async fn screen_reply(
    body: &mut Value,
    parts: &[Part],
    decisions: &Decisions,
) -> Result<(), Refusal> {
    let places: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { kind: TextKind::Said, at, .. } => Some(at),
            _ => None,
        })
        .collect();
    let texts = places.iter().filter_map(|at| body.pointer(at)?.as_str());
    let said: String = texts.collect();
    if said.is_empty() {
        return Ok(());
    }
    match decisions.session().reply(said).await {
        Outcome::Same => Ok(()),
        Outcome::Blocked(reason) => Err(Refusal::blocked(&*reason)),
        Outcome::Changed(changed) => {
            // The first text is all of it.
            for (index, at) in places.into_iter().enumerate() {
                if let Some(text) = body.pointer_mut(at) {
                    *text = if index == 0 { Value::from(&*changed) } else { "".into() };
                }
            }
            Ok(())
        }
    }
}
