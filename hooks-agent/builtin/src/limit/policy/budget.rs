//! Options of [`Budget`].

use hooks_agent_core::options::{
    HookOptions, ModelPrice, OptionError, OtherPrice, RegisteredHook, price_table, set,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::budget::{Budget, BudgetBuilder};
use crate::limit::policy::at_limit::AtLimit;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Limits tokens, and money in millionths. At least one limit is required; those of money need
/// prices.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tokens of a run.
    run_tokens: Option<u64>,
    /// The money of a run.
    run_money: Option<u64>,
    /// The tokens of a thread.
    thread_tokens: Option<u64>,
    /// The money of a thread.
    thread_money: Option<u64>,
    /// The tokens of a day in UTC.
    day_tokens: Option<u64>,
    /// The money of a day in UTC.
    day_money: Option<u64>,
    /// What models cost.
    prices: Option<Vec<ModelPrice>>,
    /// What all other models cost. Default: a model without a price is refused.
    other_models: Option<OtherPrice>,
    /// What happens at a limit. Default: end.
    exit: Option<AtLimit>,
    /// What the reply says once the budget is spent. Default: it names the limit.
    text: Option<String>,
    /// The fraction of a limit at which the budget warns. Default: 0.8.
    warn_at: Option<f64>,
    /// Whether sub-agents spend from the outermost agent. Default: true.
    counting_sub_agents: Option<bool>,
    /// The name of what was spent, if another budget is there.
    counter: Option<String>,
}

impl HookOptions for Options {
    const USE: &'static str = "budget";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let prices = price_table(self.prices, self.other_models)?;
        let budget = set(Budget::builder(), self.run_tokens, BudgetBuilder::run_tokens);
        let budget = set(budget, self.run_money, BudgetBuilder::run_money);
        let budget = set(budget, self.thread_tokens, BudgetBuilder::thread_tokens);
        let budget = set(budget, self.thread_money, BudgetBuilder::thread_money);
        let budget = set(budget, self.day_tokens, BudgetBuilder::day_tokens);
        let budget = set(budget, self.day_money, BudgetBuilder::day_money);
        let budget = set(budget, prices, BudgetBuilder::prices);
        let budget = set(budget, self.exit, |budget, exit| budget.exit(exit.into()));
        let budget = set(budget, self.text, BudgetBuilder::text);
        let budget = set(budget, self.warn_at, BudgetBuilder::warn_at);
        let counting = BudgetBuilder::counting_sub_agents;
        let budget = set(budget, self.counting_sub_agents, counting);
        let budget = set(budget, self.counter, BudgetBuilder::counter);
        Ok(Box::new(budget.build()?))
    }
}
