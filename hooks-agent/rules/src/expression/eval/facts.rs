//! Gives the names of expressions their values in a tool call.

use std::cell::OnceCell;
use std::rc::Rc;

use hooks_agent_core::call::User;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value as Json;

use crate::expression::check::node::Fact;
use crate::expression::values::fault::{Fault, Steps};
use crate::expression::values::value::{Map, Value};
use crate::past::Past;

/// What the names of expressions stand for in a tool call.
pub(crate) struct Facts<'a> {
    pub(crate) args: &'a Json,
    pub(crate) tool: &'a str,
    pub(crate) server: &'a str,
    /// The agents down to the one that calls the tool.
    pub(crate) agents: &'a [&'a str],
    pub(crate) user: Option<&'a User>,
    pub(crate) now: Now<'a>,
    pub(crate) thread: &'a str,
    /// `None` if it is not known.
    pub(crate) past: Option<&'a Past>,
    /// `None` if it is not known.
    pub(crate) round: Option<usize>,
    /// Finds where an argument came from, by its path.
    pub(crate) origins: &'a dyn Fn(&str) -> Result<Vec<&'static str>, String>,
}

/// The time of the tool call, in the zone of the rules.
pub(crate) struct Now<'a> {
    zone: &'a TimeZone,
    time: OnceCell<Rc<Zoned>>,
}

impl<'a> Now<'a> {
    pub(crate) fn new(zone: &'a TimeZone) -> Self {
        Self { zone, time: OnceCell::new() }
    }

    /// Returns the time, which stays the same for all rules.
    fn get(&self) -> Rc<Zoned> {
        let now = || Rc::new(Timestamp::now().to_zoned(self.zone.clone()));
        self.time.get_or_init(now).clone()
    }
}

impl<'a> Facts<'a> {
    pub(crate) fn value(&'a self, fact: Fact, steps: &Steps) -> Result<Value<'a>, Fault> {
        Ok(match fact {
            Fact::Args => match self.args {
                Json::Object(args) => Value::Map(Map::Json(args)),
                _ => return Err(Fault::new("the arguments are no object")),
            },
            Fact::Tool => Value::text(self.tool),
            Fact::Server => Value::text(self.server),
            Fact::AgentName => Value::text(self.agents.last().copied().unwrap_or_default()),
            Fact::AgentPath => listed(steps, self.agents.iter().map(|name| Value::text(name)))?,
            Fact::UserId => Value::text(self.user.map_or("", User::id)),
            Fact::UserRoles => {
                let roles = self.known_user()?.into_iter().flat_map(User::roles);
                listed(steps, roles.map(Value::text))?
            }
            Fact::UserAttributes => match self.known_user()? {
                Some(user) => Value::Map(Map::Json(user.attributes())),
                None => Value::Map(Map::Made(Rc::from([]))),
            },
            Fact::Now => Value::Time(self.now.get()),
            Fact::ThreadId => Value::text(self.thread),
            Fact::Counts => {
                let past = self.known_past()?;
                steps.take(past.counts().count())?;
                let counts = past.counts();
                let counts = counts.map(|(tool, count)| (Value::text(tool), int(count)));
                Value::Map(Map::Made(counts.collect()))
            }
            Fact::Depth => int(self.agents.len() - 1),
            Fact::Round => {
                let round = self
                    .round
                    .ok_or(Fault::new("the round of a call that was resumed is not known"))?;
                int(round)
            }
        })
    }

    /// Returns how often a tool has finished in the thread.
    pub(crate) fn count(&self, tool: &str) -> Result<Value<'a>, Fault> {
        Ok(int(self.known_past()?.count(tool)))
    }

    /// Returns the last call of a tool that has finished in the thread, or null.
    pub(crate) fn last(&self, tool: &str) -> Result<Value<'a>, Fault> {
        let Some(last) = self.known_past()?.last(tool) else { return Ok(Value::Null) };
        let age = last.age(self.now.get().timestamp()).ok_or(Fault::new("the clock went back"))?;
        // Large ones are not kept, so that reading them fails.
        let args = last.args.as_ref().map(|args| ("args", Value::of_json(args)));
        let fields = [
            ("outcome", Value::text(last.outcome.name())),
            ("size", int(last.size)),
            ("age", Value::Span(age)),
        ];
        let fields = args.into_iter().chain(fields);
        let fields = fields.map(|(name, value)| (Value::text(name), value));
        Ok(Value::Map(Map::Made(fields.collect())))
    }

    /// Returns where an argument came from.
    pub(crate) fn origin(&self, path: &str) -> Result<Value<'a>, Fault> {
        let origins = (self.origins)(path).map_err(Fault::new)?;
        Ok(Value::list(origins.into_iter().map(Value::text)))
    }

    /// Returns the user, unless nothing but the id is known.
    fn known_user(&self) -> Result<Option<&'a User>, Fault> {
        match self.user {
            Some(user) if !user.is_known() => {
                Err(Fault::new("the roles of the user are not known"))
            }
            user => Ok(user),
        }
    }

    fn known_past(&self) -> Result<&'a Past, Fault> {
        self.past.ok_or(Fault::new("what ran in the thread is not known"))
    }
}

fn int<'a>(number: usize) -> Value<'a> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Makes a list, which takes a step for each item.
fn listed<'a>(steps: &Steps, items: impl Iterator<Item = Value<'a>>) -> Result<Value<'a>, Fault> {
    let items: Vec<_> = items.collect();
    steps.take(items.len())?;
    Ok(Value::list(items))
}
