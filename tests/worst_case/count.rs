//! Counts what a guard stops and asks.

use std::ops::AddAssign;

use crate::people::{Person, run};
use crate::suite::{Suite, Tasks};

/// What came of tasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tasks: usize,
    /// The tasks of the user that are done.
    pub(crate) done: usize,
    /// Those with a question.
    pub(crate) asked: usize,
    pub(crate) questions: usize,
    /// Those with an injection that needs a call.
    pub(crate) attacks: usize,
    /// Those of which that is done.
    pub(crate) succeeded: usize,
}

/// What came of the tasks of a suite.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    /// Without injections.
    pub(crate) alone: Tally,
    /// With each injection, without a guard.
    pub(crate) unguarded: Tally,
    /// With a guard whose questions a careful person answers.
    pub(crate) careful: Tally,
    pub(crate) careless: Tally,
}

impl Count {
    /// Runs the tasks of a suite.
    pub(crate) async fn of(suite: &Suite, tasks: &Tasks) -> Self {
        let mut count = Self::default();
        for user in &tasks.user {
            count.alone += tally(suite, user, None, Person::Careful).await;
            for (injection, needs_call) in &tasks.injections {
                let injection = Some((injection.as_str(), *needs_call));
                count.unguarded += tally(suite, user, injection, Person::Nobody).await;
                count.careful += tally(suite, user, injection, Person::Careful).await;
                count.careless += tally(suite, user, injection, Person::Careless).await;
            }
        }
        count
    }
}

/// Runs a task, with an injection, which needs a call or not, or without.
async fn tally(
    suite: &Suite,
    user: &str,
    injection: Option<(&str, bool)>,
    person: Person,
) -> Tally {
    let run = run(suite, user, injection.map(|(name, _)| name), person).await;
    let is_done = suite.is_done(&run.output).await;
    let is_attack = injection.is_some_and(|(_, needs_call)| needs_call);
    let has_succeeded = is_attack && suite.is_attacked(&run.output).await;
    let injection = injection.map_or("none", |(name, _)| name);
    println!("{user}, {injection}, {person:?}: {is_done}, {has_succeeded}, {:?}", run.questions);
    Tally {
        tasks: 1,
        done: is_done.into(),
        asked: (!run.questions.is_empty()).into(),
        questions: run.questions.len(),
        attacks: is_attack.into(),
        succeeded: has_succeeded.into(),
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.done += other.done;
        self.asked += other.asked;
        self.questions += other.questions;
        self.attacks += other.attacks;
        self.succeeded += other.succeeded;
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.alone += other.alone;
        self.unguarded += other.unguarded;
        self.careful += other.careful;
        self.careless += other.careless;
    }
}
