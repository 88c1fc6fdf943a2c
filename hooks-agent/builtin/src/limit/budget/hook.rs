//! A limit of tokens and money.

use std::fmt;
use std::sync::Arc;

use hooks_core::{HookResult, HookRole};

use crate::limit::budget::account::Account;
use crate::limit::budget::error::SpendingError;
use crate::limit::budget::ledger::Ledger;
use crate::limit::budget::settings::Settings;
use crate::limit::budget::spent::{BudgetReport, Spent};
use crate::limit::exit::Exit;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::PreCall;
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ModelAnswer;

/// Limits the tokens and the money that model calls of a run, a thread and a day spend.
///
/// Before each model call it checks what is spent. It does not know what the next call will cost,
/// so the calls in flight may go beyond the limit: one call of a plain agent, several of parallel
/// sub-agents or of threads that share a day. It counts what the provider reports; what is not
/// reported, or does not end, is estimated as a token for each four characters, and marked as an
/// estimate. It does not count what tools cost, nor model calls that a hook makes by itself.
///
/// | setting | default | |
/// |---|---|---|
/// | [`run_tokens`](crate::limit::BudgetBuilder::run_tokens), [`run_money`](crate::limit::BudgetBuilder::run_money) | none | what a run may spend |
/// | [`thread_tokens`](crate::limit::BudgetBuilder::thread_tokens), [`thread_money`](crate::limit::BudgetBuilder::thread_money) | none | what a thread may spend |
/// | [`day_tokens`](crate::limit::BudgetBuilder::day_tokens), [`day_money`](crate::limit::BudgetBuilder::day_money) | none | what a day may spend |
/// | [`prices`](crate::limit::BudgetBuilder::prices) | none | what tokens cost; required for money |
/// | [`exit`](crate::limit::BudgetBuilder::exit) | [`Exit::End`] | what happens once it is spent |
/// | [`text`](crate::limit::BudgetBuilder::text) | names the limit | what the reply says then |
/// | [`warn_at`](crate::limit::BudgetBuilder::warn_at), [`on_warning`](crate::limit::BudgetBuilder::on_warning) | 0.8 | when it warns, once for each limit |
/// | [`day_of`](crate::limit::BudgetBuilder::day_of) | one for all | whose day a call spends |
/// | [`counting_sub_agents`](crate::limit::BudgetBuilder::counting_sub_agents) | `true` | whether sub-agents spend from this budget |
/// | [`counter`](crate::limit::BudgetBuilder::counter) | `Budget` | the name of the thread value |
/// | [`clock`](crate::limit::BudgetBuilder::clock) | of the system | which day it is |
///
/// Money is counted in millionths, as whole numbers; each model call is rounded up. A model without
/// a price is refused if money is limited. What a run and a thread spent is a [thread
/// value](CallContext::thread_value); what a day spent is in memory, shared by clones, and starts
/// at 0 in each process.
///
/// In a store, an estimate of each request is written with the thread before the model reads it; if the
/// process ends before the answer, the next call on the thread charges it.
///
/// It runs at priority [200](Budget::PRIORITY), inside of hooks that retry: each attempt is checked
/// and counted. An attempt that the provider refuses costs nothing. A hook outside of it that
/// answers in place of the model, such as a cache, costs nothing; one inside of it is counted. It
/// runs in sub-agents and in nested calls.
///
/// # Errors
/// [`BudgetExceeded`](crate::limit::BudgetExceeded) with [`Exit::Error`],
/// [`UnknownPrice`](crate::limit::UnknownPrice). A call fails if what it spent cannot be read.
///
/// ```
/// use hooks_agent::builtin::limit::{Budget, PriceTable};
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
/// use hooks_agent::message::Usage;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("large", |_| {
///     ScriptedAnswer::from("Done.").costing(Usage::new(1_000, 100))
/// });
/// // 3 and 15 dollars for a million tokens; a cent for each thread.
/// let prices = PriceTable::new().model("large", 3_000_000, 15_000_000);
/// let budget = Budget::builder().thread_money(10_000).prices(prices).build()?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(budget).build()?;
/// for _ in 0..3 {
///     assert_eq!(agent.call("Go").await?.text(), "Done.");
/// }
/// let reply = agent.call("Go").await?;
/// assert_eq!(reply.text(), "Budget of the thread is spent: 0.013500 of 0.010000");
/// assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Budget {
    settings: Arc<Settings>,
    ledger: Ledger,
}

impl Budget {
    /// The default priority: inside of hooks that retry.
    pub const PRIORITY: i32 = 200;

    pub(super) fn new(settings: Settings, ledger: Ledger) -> Self {
        Self { settings: Arc::new(settings), ledger }
    }

    /// Returns what the run and the thread of the call, and the day, have spent; in a sub-agent, those of the
    /// call that counts for it.
    ///
    /// # Errors
    /// The error of the thread value, or of the closure that names whose day it is.
    pub fn report(&self, cx: &CallContext) -> Result<BudgetReport, SpendingError> {
        let day_key = self.ledger.day_key(cx)?;
        Ok(self.ledger.report(self.ledger.nearest(cx), &day_key)?)
    }

    /// Returns what today has spent under this key; the key is empty without
    /// [`day_of`](crate::limit::BudgetBuilder::day_of).
    #[must_use]
    pub fn spent_today(&self, key: &str) -> Spent {
        self.ledger.days.spent(key)
    }
}

#[agent_hook(priority = Self::PRIORITY,
    role = HookRole::Limits,
    inherit,
    always,
    counter = |hook: &Self| Some(hook.ledger.name.clone())
)]
impl Budget {
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        self.ledger.begin(event)?;
        Ok(())
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = call.context().clone();
        let day_key = self.ledger.day_key(&cx).map_err(|error| next.fail(error))?;
        let report = self.ledger.report(&cx, &day_key).map_err(|error| next.fail(error))?;
        if let Some(exceeded) = self.settings.exceeded(&report) {
            if self.settings.exit == Exit::Error {
                return Err(next.fail(exceeded));
            }
            let reason = GenerateReason::LimitReached;
            let text = self.settings.text.clone().unwrap_or_else(|| exceeded.to_string());
            return Ok(ModelAnswer::in_place("Budget", text, reason));
        }
        self.settings.check_price(call.model_name()).map_err(|error| next.fail(error))?;
        let (model, request) = (call.model_name().to_owned(), call.request().clone());
        let (settings, ledger) = (self.settings.clone(), self.ledger.clone());
        let mut account = Account::new(settings, ledger, cx, day_key, model, request);
        if let Err(unknown) = account.open().await {
            account.close();
            return Err(next.fail(unknown));
        }
        match next.run(call.into_request()).await {
            // A hook answered in place of the model.
            Ok(answer) if answer.reason().is_some() => {
                account.close();
                Ok(answer)
            }
            Ok(answer) => {
                let price = self.settings.check_price(answer.model());
                let answer = account.settle(answer);
                price.map(|()| answer).map_err(|error| next.fail(error))
            }
            Err(error) => {
                account.fail(&error);
                Err(error)
            }
        }
    }
}

/// The settings, and nothing of who spent what.
impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("caps", &self.settings.caps)
            .field("exit", &self.settings.exit)
            .field("counter", &self.ledger.name)
            .field("days", &self.ledger.days)
            .finish_non_exhaustive()
    }
}
