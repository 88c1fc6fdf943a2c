//! A question that waits for a decision.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::digest;
use crate::identity::User;
use crate::message::{Asker, DecisionKind, NotApprover, Note, PendingCall, PendingReason};
use crate::run_id::RunId;
use crate::store::key::ThreadKey;
use crate::store::people::decision::Decided;

/// A tool call that waits for a decision of a person, with what the person must know of it.
///
/// As JSON, it is what a web page needs to ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The id of the question, unique in the store. A part of it is of the [digest](Self::digest), so
    /// a decision is about the tool call that was shown.
    pub id: Arc<str>,
    /// The name of the agent that was called.
    pub agent: Arc<str>,
    /// The thread.
    pub thread: Arc<str>,
    /// The call that asks.
    pub run: RunId,
    /// The [id](PendingCall::id) of the tool call: for one of a sub-agent, the path to it.
    pub call_id: String,
    /// The names of the sub-agents on the way to the tool call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The name of the tool.
    pub tool: String,
    /// The [identity](crate::tool::Tool#method.identity) of the tool, if it is known: another tool of the name does
    /// not run by a decision about this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Arc<str>>,
    /// The arguments of the tool call.
    pub arguments: Value,
    /// The text for the person.
    pub description: String,
    /// The decisions that are allowed.
    pub allowed: Vec<DecisionKind>,
    /// The JSON schema of the arguments; `null` if it is not known.
    pub schema: Value,
    /// Why it waits.
    pub why: PendingReason,
    /// The name of the event hook that asks, if one does: the first of [`askers`](Self::askers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// All who ask, and why: a decision that lets the tool call run answers these and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub askers: Vec<Asker>,
    /// What hooks [tell](crate::call::CallContext::tell_people) people of the tool call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The id of the user of the call that asks, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Arc<str>>,
    /// Whether the program has not authenticated the user by this call: it goes on with a thread of the user, or
    /// uses a name that is not verified.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unverified: bool,
    /// Since when it waits, in milliseconds since 1970 by the store's clock.
    pub since: u64,
    /// How long it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Duration>,
    /// When it expires, in milliseconds since 1970 by the store's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The SHA-256 of the agent, the thread, the tool call, the tool, its arguments and those who ask, in
    /// hexadecimal.
    pub digest: String,
    /// The decision, if there is one that was not applied yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Whether it waits no longer: its decision was applied, or it was given up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
}

impl Waiting {
    /// Creates the question about a tool call that waits. A store sets [`since`](Self::since) and
    /// [`expires`](Self::expires).
    #[must_use]
    pub fn new(key: &ThreadKey, run: RunId, pending: &PendingCall) -> Self {
        let PendingCall { id, call, identity, agents, why, asked_by, askers, question, notes } =
            pending;
        let text = match (question, why) {
            (Some(question), _) => question.description.clone(),
            (None, PendingReason::Permission(text)) => text.clone(),
            (None, _) => String::new(),
        };
        let question = question.as_deref();
        let mut waiting = Self {
            id: "".into(),
            agent: key.agent().into(),
            thread: key.thread().into(),
            run,
            call_id: id.clone(),
            agents: agents.clone(),
            tool: call.name.clone(),
            identity: identity.clone(),
            arguments: call.input.clone(),
            description: text,
            allowed: question.map_or(DecisionKind::ALL.to_vec(), |it| it.allowed.clone()),
            schema: question.map(|it| it.schema.clone()).unwrap_or_default(),
            why: why.clone(),
            asked_by: asked_by.clone(),
            askers: askers.clone(),
            notes: notes.clone(),
            user: None,
            is_unverified: false,
            since: 0,
            expires_after: question.and_then(|it| it.expires_after),
            expires: None,
            digest: String::new(),
            decided: None,
            is_closed: false,
        };
        waiting.digest = waiting.digest_now();
        let random = uuid::Uuid::new_v4().simple().to_string();
        waiting.set_id(&random[..20]);
        waiting
    }

    /// Sets the user of the call that asks.
    #[must_use]
    pub fn of_user(mut self, id: Option<Arc<str>>) -> Self {
        let unique = self.id.split_once('.').map_or("", |(unique, _)| unique).to_owned();
        self.user = id;
        self.digest = self.digest_now();
        self.set_id(&unique);
        self
    }

    /// Returns whether the call that asks has a user whom the program has authenticated.
    #[must_use]
    pub fn has_known_user(&self) -> bool {
        self.user.as_deref().is_some_and(|user| !user.is_empty()) && !self.is_unverified
    }

    /// Checks that a user may answer it: all who ask now let this user.
    ///
    /// # Errors
    /// [`NotApprover`] says why the user may not.
    pub fn check_approver(&self, user: Option<&User>) -> Result<(), NotApprover> {
        // A second run of what may have run is decided by who could let it run.
        let all = self.why == PendingReason::UnknownOutcome;
        Asker::check_approver(&self.askers, user, self.user.as_deref(), all)
    }

    /// Sets the id: what it begins with, and the digest.
    pub(crate) fn set_id(&mut self, unique: &str) {
        self.id = format!("{unique}.{}", &self.digest[..32]).into();
    }

    /// Returns whether the digest and the id are those of the tool call as it is here.
    #[must_use]
    pub fn is_as_shown(&self) -> bool {
        let digest = self.digest_now();
        let shown = self.id.rsplit_once('.').map_or("", |(_, shown)| shown);
        digest == self.digest && !shown.is_empty() && digest.starts_with(shown)
    }

    /// Returns whether another question asks the same about the same tool call.
    pub(crate) fn is_same_question(&self, other: &Self) -> bool {
        self.call_id == other.call_id
            && self.tool == other.tool
            && self.identity == other.identity
            && self.arguments == other.arguments
            && self.description == other.description
            && self.allowed == other.allowed
            && self.why == other.why
            && self.askers == other.askers
    }

    /// Returns those who were shown to ask.
    pub(crate) fn shown_askers(&self) -> Vec<Asker> {
        Asker::shown(&self.askers, &self.why, self.asked_by.as_deref())
    }

    fn digest_now(&self) -> String {
        let run = self.run.to_string();
        let mut parts = vec![&*self.agent, &*self.thread, &*run, &*self.call_id, &*self.tool];
        // Questions of earlier versions list nobody.
        for Asker { hook, reason, .. } in &self.askers {
            parts.extend([
                if hook.is_some() { "hook" } else { "tool" },
                hook.as_deref().unwrap_or_default(),
            ]);
            parts.push(reason);
        }
        // Who may answer, and thus who asks, is a part of what was shown.
        let approvers: Vec<_> =
            self.askers.iter().filter_map(|asker| asker.approvers.as_ref()).collect();
        let approvers = serde_json::to_string(&approvers).unwrap_or_default();
        if self.askers.iter().any(|asker| asker.approvers.is_some()) {
            parts.extend([&*approvers, self.user.as_deref().unwrap_or_default()]);
        }
        // What answers may be remembered for is a part of it too.
        let remembered: Vec<_> =
            self.askers.iter().map(|asker| (&asker.remembered_by, &asker.topic)).collect();
        let remembered_json = serde_json::to_string(&remembered).unwrap_or_default();
        if remembered.iter().any(|(by, topic)| by.is_some() || topic.is_some()) {
            parts.extend(["remembered", &*remembered_json]);
        }
        if let Some(identity) = &self.identity {
            parts.extend(["identity", &**identity]);
        }
        digest(&parts, &self.arguments)
    }
}
