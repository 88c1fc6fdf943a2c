//! Prices of tokens, by model.

mod file;

use std::collections::HashMap;

use crate::usage::Usage;

pub use file::PriceError;

/// What the tokens of each model cost, in millionths of a currency of your choice.
///
/// Prices are those of a million tokens, as providers list them. At 3 dollars for a million tokens
/// of input, the price is `3_000_000`, which is 3 millionths of a dollar for each token. There are
/// no prices built in, because they change.
///
/// ```
/// use hooks_agent::model::PriceTable;
///
/// let prices = PriceTable::new().model("large", 3_000_000, 15_000_000);
/// assert_eq!(prices.cost("large", 1_000, 100), Some(4_500));
/// assert_eq!(prices.cost("another", 1_000, 100), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct PriceTable {
    models: HashMap<String, Price>,
    default: Option<Price>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Price {
    input: u64,
    output: u64,
    /// Of tokens that the provider had in its cache, and that it put there; as input without them.
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
}

impl Price {
    const fn new(input: u64, output: u64) -> Self {
        Self { input, output, cache_read: None, cache_creation: None }
    }
}

impl PriceTable {
    /// Creates a table without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what a million tokens of input and of output cost, for the model of this name.
    pub fn model(mut self, name: impl Into<String>, input: u64, output: u64) -> Self {
        self.models.insert(name.into(), Price::new(input, output));
        self
    }

    /// Sets what a million tokens of input and of output cost, for all other models. Without it, a
    /// budget of money refuses models that are not in the table.
    pub fn other_models(mut self, input: u64, output: u64) -> Self {
        self.default = Some(Price::new(input, output));
        self
    }

    /// Sets what a million tokens of input cost that the provider had in its cache, and that it put there, for a model
    /// that has prices. Without it they cost what other tokens of input cost.
    ///
    /// ```
    /// use hooks_agent::message::Usage;
    /// use hooks_agent::model::PriceTable;
    ///
    /// let prices = PriceTable::new().model("large", 3_000_000, 15_000_000).cached("large", 300_000, 3_750_000);
    /// let usage = Usage::new(1_000, 100).cached(800, 0);
    /// assert_eq!(prices.cost_of("large", usage), Some(600 + 240 + 1_500));
    /// ```
    pub fn cached(mut self, name: &str, read: u64, creation: u64) -> Self {
        if let Some(price) = self.models.get_mut(name) {
            (price.cache_read, price.cache_creation) = (Some(read), Some(creation));
        }
        self
    }

    /// Returns what these tokens cost, rounded up to a millionth; `None` for a model without a
    /// price. Tokens of a cache are not told apart: [`cost_of`](Self::cost_of) does.
    #[must_use]
    pub fn cost(&self, model: &str, input_tokens: u64, output_tokens: u64) -> Option<u64> {
        self.cost_of(model, Usage::new(input_tokens, output_tokens))
    }

    /// Returns what a usage costs, rounded up to a millionth; `None` for a model without a price.
    #[must_use]
    pub fn cost_of(&self, model: &str, usage: Usage) -> Option<u64> {
        let price = self.models.get(model).or(self.default.as_ref())?;
        let read = usage.cache_read_tokens.min(usage.input_tokens);
        let created = usage.cache_creation_tokens.min(usage.input_tokens - read);
        let parts = [
            (usage.input_tokens - read - created, price.input),
            (read, price.cache_read.unwrap_or(price.input)),
            (created, price.cache_creation.unwrap_or(price.input)),
            (usage.output_tokens, price.output),
        ];
        let of = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let total = parts.into_iter().map(of).fold(0, u128::saturating_add);
        Some(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}
