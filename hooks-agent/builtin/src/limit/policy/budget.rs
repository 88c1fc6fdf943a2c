//! Options of [`Budget`].

use std::collections::HashSet;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::budget::{Budget, BudgetBuilder, PriceTable};
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
    other_models: Option<Price>,
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelPrice {
    /// The name of the model.
    model: String,
    /// What a million input tokens cost, in millionths.
    input: u64,
    /// What a million output tokens cost, in millionths.
    output: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Price {
    /// What a million input tokens cost, in millionths.
    input: u64,
    /// What a million output tokens cost, in millionths.
    output: u64,
}

impl Options {
    /// Returns the index of a price whose model has another one.
    fn priced_twice(&self) -> Option<usize> {
        let prices = self.prices.as_deref().unwrap_or_default();
        let mut known = HashSet::new();
        prices.iter().position(|price| !known.insert(price.model.as_str()))
    }

    fn prices(&mut self) -> Option<PriceTable> {
        let (prices, others) = (self.prices.take(), self.other_models.take());
        if prices.is_none() && others.is_none() {
            return None;
        }
        let table = prices.into_iter().flatten().fold(PriceTable::new(), |table, price| {
            table.model(price.model, price.input, price.output)
        });
        Some(set(table, others, |table, price| table.other_models(price.input, price.output)))
    }
}

impl HookOptions for Options {
    const USE: &'static str = "budget";

    fn into_hook(mut self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        if let Some(index) = self.priced_twice() {
            let at = format!("prices[{index}].model");
            return Err(OptionError::at(at, "expected one price for each model"));
        }
        let prices = self.prices();
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
