//! The desk: the questions of a thread, which people see and decide while its call waits.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hooks_agent_core::store::{Decided, Reviewed, Verdict, Waiting, review};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use restate_sdk::service::{IntoServiceDefinition, ServiceDefinition};
use serde::{Deserialize, Serialize};

use crate::questions::decision_signal;
use crate::service::agents::retries;
use crate::verdict::SignedVerdict;

/// The name of the object.
pub(crate) const DESK: &str = "AgentDesk";

/// The state that has the questions.
const QUESTIONS: &str = "questions";

/// The longest delay of an expiry: a hundred years. The engine refuses delays that its clock cannot hold.
const LONGEST: Duration = Duration::from_hours(100 * 366 * 24);

/// How many closed questions the desk knows, so that a second decision is refused as such.
const MOST_CLOSED: usize = 64;

/// The virtual object with the questions of a thread, by the name `AgentDesk`: it has the same key as
/// the object that runs the call, and is served beside it. A call that asks needs it.
///
/// `waiting` and `decide` are those of [`Agents`](crate::Agents). What a call tells the desk, callers from
/// outside cannot.
///
/// A decision is [checked](review) here, all of a list or none: one at a time, so that of two people one
/// wins. A question expires here too, by the same clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Desk;

/// The questions of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) invocation: String,
    pub(crate) questions: Vec<Waiting>,
}

/// A question at the desk.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question {
    /// The invocation that waits.
    invocation: String,
    question: Waiting,
}

impl Desk {
    /// Returns the object with its options: callers reach it through the object that runs the call.
    pub(crate) fn into_definition(self) -> ServiceDefinition {
        self.into_service_definition().options(retries().ingress_private(true))
    }
}

#[restate_sdk::object(name = "AgentDesk", client_visibility = "pub(crate)")]
impl Desk {
    #[handler(ingress_private)]
    async fn ask(&self, ctx: ObjectContext<'_>, asked: Json<Asked>) -> Result<(), HandlerError> {
        let Asked { invocation, questions } = asked.into_inner();
        let mut known = questions_of(ctx.get(QUESTIONS).await?);
        let now = now(&ctx).await?;
        for mut question in questions {
            if known.iter().any(|known| known.question.id == question.id) {
                continue;
            }
            question.since = now;
            question.expires = question.expires_after.map(|after| {
                now.saturating_add(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
            });
            if let Some(after) = question.expires_after {
                let expire = RequestTarget::object(DESK, ctx.key(), "expire");
                let _ = ctx
                    .request::<_, ()>(expire, Json(question.id.clone()))
                    .send_after(after.min(LONGEST));
            }
            known.push(Question { invocation: invocation.clone(), question });
        }
        ctx.set(QUESTIONS, Json(known));
        Ok(())
    }

    #[handler]
    async fn decide(
        &self,
        ctx: ObjectContext<'_>,
        verdicts: Json<Vec<SignedVerdict>>,
    ) -> Result<(), HandlerError> {
        let verdicts: Vec<Verdict> = verdicts.into_inner().into_iter().map(Verdict::from).collect();
        let mut known = questions_of(ctx.get(QUESTIONS).await?);
        let now = now(&ctx).await?;
        let questions: Vec<_> = known.iter().map(|known| known.question.clone()).collect();
        let reviewed = review(&questions, &verdicts, now)
            .map_err(|error| TerminalError::new_with_code(409, error.to_string()))?;
        for (verdict, Reviewed { decided, .. }) in verdicts.into_iter().zip(reviewed) {
            let Some(known) = known.iter_mut().find(|known| known.question.id == verdict.id) else {
                continue;
            };
            known.question.decided = Some(decided);
            tell(&ctx, &known.invocation, verdict);
        }
        ctx.set(QUESTIONS, Json(known));
        Ok(())
    }

    #[handler(ingress_private)]
    async fn expire(&self, ctx: ObjectContext<'_>, id: Json<Arc<str>>) -> Result<(), HandlerError> {
        let id = id.into_inner();
        let mut known = questions_of(ctx.get(QUESTIONS).await?);
        let now = now(&ctx).await?;
        let open = |known: &&mut Question| {
            let Waiting { id: known, decided, is_closed, .. } = &known.question;
            *known == id && decided.is_none() && !is_closed
        };
        if let Some(expired) = known.iter_mut().find(open) {
            let verdict = Verdict::expired(id);
            let by = verdict.by.as_ref().map(|by| by.id().into());
            expired.question.decided = Some(Decided::new(verdict.decision.clone(), by, now));
            tell(&ctx, &expired.invocation, verdict);
            ctx.set(QUESTIONS, Json(known));
        }
        Ok(())
    }

    #[handler(ingress_private)]
    async fn close(
        &self,
        ctx: ObjectContext<'_>,
        ids: Json<Vec<Arc<str>>>,
    ) -> Result<(), HandlerError> {
        let ids = ids.into_inner();
        let mut known = questions_of(ctx.get(QUESTIONS).await?);
        for known in known.iter_mut().filter(|known| ids.contains(&known.question.id)) {
            known.question.is_closed = true;
        }
        known.retain(|known| !known.question.is_closed || known.question.decided.is_some());
        let closed = known.iter().filter(|known| known.question.is_closed).count();
        let mut excess = closed.saturating_sub(MOST_CLOSED);
        known.retain(|known| {
            let is_dropped = known.question.is_closed && excess > 0;
            excess -= usize::from(is_dropped);
            !is_dropped
        });
        ctx.set(QUESTIONS, Json(known));
        Ok(())
    }

    #[handler]
    async fn waiting(
        &self,
        ctx: SharedObjectContext<'_>,
    ) -> Result<Json<Vec<Waiting>>, HandlerError> {
        let known = questions_of(ctx.get(QUESTIONS).await?);
        let questions = known.into_iter().map(|known| known.question);
        let waits = |question: &Waiting| question.decided.is_none() && !question.is_closed;
        Ok(Json(questions.filter(waits).collect()))
    }
}

/// Tells a call what was decided.
fn tell(ctx: &ObjectContext<'_>, invocation: &str, verdict: Verdict) {
    let waits = ctx.invocation_handle(invocation.to_owned());
    waits.signal(decision_signal(&verdict.id)).resolve(Json(SignedVerdict::from(verdict)));
}

fn questions_of(state: Option<Json<Vec<Question>>>) -> Vec<Question> {
    state.map(Json::into_inner).unwrap_or_default()
}

/// Returns the time in milliseconds since 1970, the same in each run of the handler.
async fn now(ctx: &ObjectContext<'_>) -> Result<u64, TerminalError> {
    let now = async || {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let since = since.unwrap_or(Duration::ZERO).as_millis();
        Ok(u64::try_from(since).unwrap_or(u64::MAX))
    };
    ctx.run(now).name("now").await
}
