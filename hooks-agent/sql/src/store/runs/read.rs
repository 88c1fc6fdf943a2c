//! Reads runs.

use std::collections::{BTreeMap, HashMap};

use hooks_agent_core::call::{ParseRunIdError, RunId};
use hooks_agent_core::store::{
    KeptRun, RunCursor, RunFilter, RunPage, RunSums, RunTotal, StoreError, SummedTotal,
};

use crate::database::{Access, Columns, Statement, signed, unsigned};
use crate::store::runs::differences::{DAY, Series, totals_of};
use crate::store::runs::filter::list;
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(super) async fn page_of_runs(&self, filter: &RunFilter) -> Result<RunPage, StoreError> {
        let Some(statement) = list::<D>(self.name(), filter)? else {
            return Ok(RunPage::default());
        };
        let rows = self.fetch(Access::Read, statement).await?;
        let most = filter.page_size() as usize;
        let mut summaries = Vec::with_capacity(rows.len().min(most));
        for row in rows.iter().take(most) {
            summaries.push(row.text(0)?);
        }
        let next = match rows.get(most.saturating_sub(1)) {
            Some(last) if rows.len() > most => {
                Some(RunCursor { started: unsigned(last.int(1)?), run: run_id(&last.text(2)?)? })
            }
            _ => None,
        };
        Ok(RunPage::new(summaries, next))
    }

    pub(super) async fn one_run(&self, run: RunId) -> Result<Option<KeptRun>, StoreError> {
        let read = Statement::new(D::RUN).bind(self.name()).bind(run.to_string());
        Ok(self.runs_by(read).await?.pop())
    }

    pub(super) async fn runs_below(&self, run: RunId) -> Result<Vec<KeptRun>, StoreError> {
        let most = i64::from(RunFilter::LARGEST_PAGE);
        let read = Statement::new(D::BELOW).bind(self.name()).bind(run.to_string()).bind(most);
        self.runs_by(read).await
    }

    async fn runs_by(&self, read: Statement<'_>) -> Result<Vec<KeptRun>, StoreError> {
        self.fetch(Access::Read, read).await?.iter().map(kept_run).collect()
    }

    pub(super) async fn sums_of_runs(
        &self,
        sums: &RunSums,
    ) -> Result<Vec<SummedTotal>, StoreError> {
        let first = sums.first_hour()?;
        let is_nothing = sums.kind.as_ref().is_some_and(|kind| kind.contains('\0'));
        if is_nothing || sums.until <= first {
            return Ok(Vec::new());
        }
        // Sums of days, for those that are part of one step, and of hours for the rest.
        let is_of_days = first.is_multiple_of(DAY) && sums.step.is_multiple_of(DAY);
        let last_day = if is_of_days { sums.until - sums.until % DAY } else { first };
        let kind = sums.kind.as_deref();
        let read = Statement::new(D::SUMS)
            .bind(self.name())
            .bind(signed(first))
            .bind(signed(last_day))
            .bind(signed(sums.until))
            .bind(signed(sums.step))
            .bind(kind);
        let rows = self.fetch(Access::Read, read.unnamed()).await?;
        // After the sums: whatever these count is among them.
        let series = self.series_of(kind).await?;
        let mut totals: BTreeMap<(u64, &Series), u64> = BTreeMap::new();
        for row in rows {
            if let Some(series) = series.get(&row.int(1)?) {
                totals.insert((unsigned(row.int(0)?), series), unsigned(row.int(2)?));
            }
        }
        let total = |((at, (kind, name, metric)), value): ((u64, &Series), u64)| {
            SummedTotal::new(at, RunTotal::new(kind.clone(), name.clone(), metric.clone(), value))
        };
        Ok(totals.into_iter().map(total).collect())
    }

    /// Returns the kinds, names and metrics of what is counted.
    async fn series_of(&self, kind: Option<&str>) -> Result<HashMap<i64, Series>, StoreError> {
        let read = Statement::new(D::SERIES).bind(self.name()).bind(kind);
        let mut series = HashMap::new();
        for row in self.fetch(Access::Read, read).await? {
            let names = (row.text(1)?.into(), row.text(2)?.into(), row.text(3)?.into());
            series.insert(row.int(0)?, names);
        }
        Ok(series)
    }
}

/// Reads a row of [`RUN`](crate::store::RunStatements::RUN).
fn kept_run(row: &impl Columns) -> Result<KeptRun, StoreError> {
    let id = run_id(&row.text(0)?)?;
    let started = unsigned(row.int(6)?);
    let mut run = KeptRun::new(id, row.text(2)?, row.text(3)?, started);
    run.parent = row.text_or_null(1)?.map(|parent| run_id(&parent)).transpose()?;
    run.user = row.text_or_null(4)?.map(Into::into);
    run.state = row.text(5)?.into();
    run.ended = row.int_or_null(7)?.map(unsigned);
    run.summary = row.text(8)?;
    run.entries = row.text(9)?;
    run.totals = totals_of(&row.text(10)?)?;
    run.text = row.text_or_null(11)?.unwrap_or_default();
    Ok(run)
}

fn run_id(text: &str) -> Result<RunId, StoreError> {
    text.parse().map_err(|error: ParseRunIdError| StoreError::Unreadable {
        what: "the id of a run".to_owned(),
        source: error.into(),
    })
}
