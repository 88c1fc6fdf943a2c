//! Numbers of many things.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::totals::counts::Counts;
use crate::totals::metric::Metric;

/// What numbers are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    /// All runs.
    All,
    /// Runs of this state.
    State,
    Agent,
    User,
    Model,
    Tool,
    Hook,
}

impl Of {
    const ALL: [Self; 7] =
        [Self::All, Self::State, Self::Agent, Self::User, Self::Model, Self::Tool, Self::Hook];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::State => "state",
            Self::Agent => "agent",
            Self::User => "user",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Hook => "hook",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name)
    }
}

/// Numbers, by what they are of and its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals(BTreeMap<(Of, Arc<str>), Counts>);

impl Totals {
    pub(crate) fn of(&mut self, of: Of, name: Arc<str>) -> &mut Counts {
        self.0.entry((of, name)).or_default()
    }

    /// Returns those of all runs.
    pub(crate) fn all(&self) -> Counts {
        self.0.get(&(Of::All, "".into())).cloned().unwrap_or_default()
    }

    /// Adds others.
    pub(crate) fn add(&mut self, others: &Self) {
        for ((of, name), counts) in &others.0 {
            let own = self.of(*of, name.clone());
            for (metric, number) in counts.iter() {
                own.add(metric.clone(), number);
            }
        }
    }

    /// Returns the numbers of things of one kind, by name.
    pub(crate) fn each(&self, of: Of) -> impl Iterator<Item = (&Arc<str>, &Counts)> {
        let of_kind =
            self.0.range((of, Arc::from(""))..).take_while(move |((kind, _), _)| *kind == of);
        of_kind.map(|((_, name), counts)| (name, counts))
    }

    /// Returns all numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Of, &Arc<str>, &Metric, u64)> {
        self.0.iter().flat_map(|((of, name), counts)| {
            counts.iter().map(move |(metric, number)| (*of, name, metric, number))
        })
    }
}
