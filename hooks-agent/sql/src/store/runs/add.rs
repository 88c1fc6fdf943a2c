//! Adds runs.

use std::collections::BTreeMap;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunTotal, StoreError, text_words};

use crate::database::{Access, Columns, DatabaseError, List, Statement, signed, unsigned};
use crate::store::connections::Connections;
use crate::store::runs::differences::{Differences, counted, totals_json, totals_of};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

/// How many bytes of content a statement writes, unless one run has more.
const MOST_BYTES: usize = 4 << 20;

/// A run with what is made of it before anything is written.
pub(super) struct RunRow<'a> {
    id: String,
    parent: String,
    run: &'a KeptRun,
    words: String,
    counted: Vec<RunTotal>,
    totals: String,
}

impl<'a> RunRow<'a> {
    fn of(run: &'a KeptRun) -> Result<Self, StoreError> {
        run.check()?;
        let counted = counted(run);
        Ok(Self {
            id: run.run.to_string(),
            parent: run.parent.map(|parent| parent.to_string()).unwrap_or_default(),
            run,
            words: text_words(&run.text),
            totals: totals_json(&counted)?,
            counted,
        })
    }

    fn length(&self) -> usize {
        self.run.summary.len() + self.run.entries.len() + self.totals.len() + self.words.len()
    }
}

/// Returns what is written of runs, of each id the last one.
pub(super) fn run_rows(runs: &[KeptRun]) -> Result<Vec<RunRow<'_>>, StoreError> {
    let mut last: BTreeMap<RunId, RunRow<'_>> = BTreeMap::new();
    for run in runs {
        last.insert(run.run, RunRow::of(run)?);
    }
    Ok(last.into_values().collect())
}

impl<D: Statements> SqlStore<D> {
    /// Adds runs; those alone that are there, if none is new.
    pub(super) async fn add_runs(
        &self,
        rows: &[RunRow<'_>],
        has_new: bool,
    ) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let added = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            let added = self.add_in(&mut step, rows, has_new).await?;
            match added {
                Ok(()) => step.commit().await?,
                Err(_) => step.rollback().await?,
            }
            Ok(added)
        });
        let added = added.await;
        conn.done(added)?
    }

    /// Adds runs in a transaction. The inner error is why it is given up.
    async fn add_in(
        &self,
        step: &mut D::Connection,
        rows: &[RunRow<'_>],
        has_new: bool,
    ) -> Result<Result<(), StoreError>, DatabaseError> {
        self.lock_runs(step).await?;
        let before = self.before(step, rows).await?;
        let is_there = |row: &&RunRow<'_>| before.iter().any(|(id, ..)| *id == row.id);
        let rows: Vec<_> = rows.iter().filter(|row| has_new || is_there(row)).collect();
        if rows.is_empty() {
            return Ok(Ok(()));
        }
        let differences = match differences(&before, &rows) {
            Ok(differences) => differences,
            Err(error) => return Ok(Err(error)),
        };
        let keep = Statement::new(D::KEEP_RUNS).bind(self.name()).bind(run_columns(&rows));
        D::execute(step, keep).await?;
        let mut rest = &*rows;
        while !rest.is_empty() {
            let (part, others) = rest.split_at(part_of(rest));
            self.keep_content(step, part).await?;
            rest = others;
        }
        if !differences.is_empty() {
            let series = Statement::new(D::KEEP_SERIES).bind(self.name());
            D::execute(step, series.bind(differences.series())).await?;
            let totals = Statement::new(D::ADD_TOTALS).bind(self.name());
            D::execute(step, totals.bind(differences.columns())).await?;
        }
        Ok(Ok(()))
    }

    /// Locks the runs of the namespace until the transaction ends: what is counted of one is what it was before.
    pub(crate) async fn lock_runs(&self, step: &mut D::Connection) -> Result<(), DatabaseError> {
        // No quota has such a name.
        let name = format!("{}\u{1}\u{1}runs", self.name());
        let lock = Statement::new(D::LOCK_QUOTAS).bind(List::texts([name]));
        D::fetch(step, lock).await.map(drop)
    }

    /// Returns the ids of those of the runs that are there, when they began and what they count for.
    async fn before(
        &self,
        step: &mut D::Connection,
        rows: &[RunRow<'_>],
    ) -> Result<Vec<(String, u64, String)>, DatabaseError> {
        let ids = List::texts(rows.iter().map(|row| &*row.id));
        let before = Statement::new(D::COUNTED).bind(self.name()).bind(ids);
        let rows = D::fetch(step, before).await?;
        rows.iter().map(|row| Ok((row.text(0)?, unsigned(row.int(1)?), row.text(2)?))).collect()
    }

    async fn keep_content(
        &self,
        step: &mut D::Connection,
        rows: &[&RunRow<'_>],
    ) -> Result<(), DatabaseError> {
        let contents = Statement::new(D::KEEP_CONTENTS).bind(self.name()).bind(vec![
            List::texts(rows.iter().map(|row| &*row.id)),
            List::texts(rows.iter().map(|row| &*row.run.summary)),
            List::texts(rows.iter().map(|row| &*row.run.entries)),
            List::texts(rows.iter().map(|row| &*row.totals)),
        ]);
        D::execute(step, contents).await?;
        let words = Statement::new(D::KEEP_WORDS).bind(self.name()).bind(vec![
            List::texts(rows.iter().map(|row| &*row.id)),
            List::texts(rows.iter().map(|row| &*row.words)),
        ]);
        D::execute(step, words).await?;
        Ok(())
    }
}

/// Returns what changes in sums: what the runs count for now, without what they did before.
fn differences(
    before: &[(String, u64, String)],
    rows: &[&RunRow<'_>],
) -> Result<Differences, StoreError> {
    let mut differences = Differences::default();
    for (_, started, totals) in before {
        differences.count(*started, &totals_of(totals)?, true);
    }
    for row in rows {
        differences.count(row.run.started, &row.counted, false);
    }
    Ok(differences.only_changes())
}

fn run_columns<'a>(rows: &'a [&RunRow<'_>]) -> Vec<List<'a>> {
    let runs = || rows.iter().map(|row| row.run);
    vec![
        List::texts(rows.iter().map(|row| &*row.id)),
        List::texts(rows.iter().map(|row| &*row.parent)),
        List::texts(runs().map(|run| &*run.agent)),
        List::texts(runs().map(|run| &*run.thread)),
        List::texts(runs().map(|run| run.user.as_deref().unwrap_or_default())),
        List::texts(runs().map(|run| &*run.state)),
        List::ints(runs().map(|run| signed(run.started))),
        List::Ints(runs().map(|run| run.ended.map(signed)).collect()),
    ]
}

/// Returns how many of the runs one statement writes: one at least.
fn part_of(rows: &[&RunRow<'_>]) -> usize {
    let mut bytes = 0;
    let fits = rows.iter().take_while(|row| {
        bytes += row.length();
        bytes <= MOST_BYTES
    });
    fits.count().max(1)
}
