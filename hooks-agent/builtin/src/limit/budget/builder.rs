//! The builder of `Budget`: limits of tokens and money, prices, and warnings.

use std::sync::Arc;
use std::time::SystemTime;

use crate::limit::budget::days::Days;
use crate::limit::budget::error::BudgetError;
use crate::limit::budget::hook::Budget;
use crate::limit::budget::ledger::Ledger;
use crate::limit::budget::settings::Settings;
use crate::limit::budget::spent::{BudgetScope, BudgetUnit, BudgetWarning, Cap};
use crate::limit::exit::Exit;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::model::PriceTable;

/// Builds a [`Budget`].
#[must_use]
pub struct BudgetBuilder {
    limits: Vec<(BudgetScope, BudgetUnit, u64)>,
    fraction: f64,
    settings: Settings,
    ledger: Ledger,
}

impl Budget {
    /// Starts a budget. At least one limit is required.
    pub fn builder() -> BudgetBuilder {
        BudgetBuilder::new()
    }
}

impl BudgetBuilder {
    fn new() -> Self {
        let ledger = Ledger {
            name: "Budget".to_owned(),
            counts_sub_agents: true,
            days: Days::new(SystemTime::now),
            day_key: None,
        };
        Self { limits: Vec::new(), fraction: 0.8, settings: Settings::default(), ledger }
    }

    /// Sets how many tokens a run may spend: a call of the agent, with the calls that resume it.
    pub fn run_tokens(self, limit: u64) -> Self {
        self.limit(BudgetScope::Run, BudgetUnit::Tokens, limit)
    }

    /// Sets how much money a run may spend, in millionths.
    pub fn run_money(self, limit: u64) -> Self {
        self.limit(BudgetScope::Run, BudgetUnit::Money, limit)
    }

    /// Sets how many tokens a thread may spend, over all its calls.
    pub fn thread_tokens(self, limit: u64) -> Self {
        self.limit(BudgetScope::Thread, BudgetUnit::Tokens, limit)
    }

    /// Sets how much money a thread may spend, in millionths.
    pub fn thread_money(self, limit: u64) -> Self {
        self.limit(BudgetScope::Thread, BudgetUnit::Money, limit)
    }

    /// Sets how many tokens a day in UTC may spend, over all agents with the hook or a clone of it.
    pub fn day_tokens(self, limit: u64) -> Self {
        self.limit(BudgetScope::Day, BudgetUnit::Tokens, limit)
    }

    /// Sets how much money a day in UTC may spend, in millionths.
    pub fn day_money(self, limit: u64) -> Self {
        self.limit(BudgetScope::Day, BudgetUnit::Money, limit)
    }

    fn limit(mut self, scope: BudgetScope, unit: BudgetUnit, limit: u64) -> Self {
        self.limits.retain(|(other, of, _)| (*other, *of) != (scope, unit));
        self.limits.push((scope, unit, limit));
        self
    }

    /// Sets what tokens cost. Required for a limit of money.
    pub fn prices(mut self, prices: PriceTable) -> Self {
        self.settings.prices = Some(prices);
        self
    }

    /// Sets what happens once the budget is spent: [`Exit::End`], the default, or [`Exit::Error`].
    pub fn exit(mut self, exit: Exit) -> Self {
        self.settings.exit = exit;
        self
    }

    /// Sets the text of the reply once the budget is spent, for [`Exit::End`]. The default names the
    /// limit, what is spent and of how much, which is nothing for customers.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.settings.text = Some(text.into());
        self
    }

    /// Sets the fraction of each limit at which the budget warns, 0 to 1. The default is 0.8.
    pub fn warn_at(mut self, fraction: f64) -> Self {
        self.fraction = fraction;
        self
    }

    /// Sets a closure that receives each warning, which is also reported through `tracing`. A panic
    /// of it is ignored.
    pub fn on_warning(mut self, warned: impl Fn(&BudgetWarning) + Send + Sync + 'static) -> Self {
        self.settings.on_warning = Some(Arc::new(warned));
        self
    }

    /// Sets a closure that returns whose day a call spends, such as the user's. Without one, all
    /// calls spend the same. A call for which it panics is refused. Beyond
    /// [`most_keys`](Self::most_keys) in a day, all others share one budget.
    pub fn day_of(mut self, key: impl Fn(&CallContext) -> String + Send + Sync + 'static) -> Self {
        self.ledger.day_key = Some(Arc::new(key));
        self
    }

    /// Sets how many keys of [`day_of`](Self::day_of) have a sum of their own in a day. The default is
    /// 100 000. All others share one.
    pub fn most_keys(mut self, count: usize) -> Self {
        self.ledger.days.most_keys = count;
        self
    }

    /// Sets whether sub-agents spend from the run and the thread of the agent that has the hook. That is the
    /// default. If not, each sub-agent has a budget of its own. A budget that the sub-agent itself has is
    /// another one in either case.
    pub fn counting_sub_agents(mut self, counting: bool) -> Self {
        self.ledger.counts_sub_agents = counting;
        self
    }

    /// Sets the name of the thread value with what was spent. The default is `Budget`. Two budgets
    /// on one agent need different names.
    pub fn counter(mut self, name: impl Into<String>) -> Self {
        self.ledger.name = name.into();
        self
    }

    /// Sets the clock that says which day it is. The default is that of the system. If it jumps
    /// backwards, the latest day that it showed goes on.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.ledger.days.set_clock(clock);
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`BudgetError`].
    pub fn build(self) -> Result<Budget, BudgetError> {
        let Self { limits, fraction, mut settings, ledger } = self;
        if limits.is_empty() {
            return Err(BudgetError::NoLimit);
        }
        settings.limits_money = limits.iter().any(|(_, unit, _)| *unit == BudgetUnit::Money);
        if settings.limits_money && settings.prices.is_none() {
            return Err(BudgetError::NoPrices);
        }
        if !(0.0..=1.0).contains(&fraction) {
            return Err(BudgetError::InvalidFraction);
        }
        if settings.exit == Exit::Continue {
            return Err(BudgetError::InvalidExit);
        }
        if settings.text.is_some() && settings.exit != Exit::End {
            return Err(BudgetError::UnusedText);
        }
        let cap =
            |(scope, unit, limit)| Cap { scope, unit, limit, warns_at: part(limit, fraction) };
        settings.caps = limits.into_iter().map(cap).collect();
        Ok(Budget::new(settings, ledger))
    }
}

/// Returns the fraction of a limit, at least 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a warning may come a little early or late; the cast saturates"
)]
fn part(limit: u64, fraction: f64) -> u64 {
    ((limit as f64 * fraction).ceil() as u64).clamp(1, limit.max(1))
}

impl std::fmt::Debug for BudgetBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.ledger.name;
        f.debug_struct("BudgetBuilder")
            .field("limits", &self.limits)
            .field("counter", name)
            .finish_non_exhaustive()
    }
}
