//! Prices of tokens, by model.

use std::collections::HashMap;

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
}

impl PriceTable {
    /// Creates a table without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what a million tokens of input and of output cost, for the model of this name.
    pub fn model(mut self, name: impl Into<String>, input: u64, output: u64) -> Self {
        self.models.insert(name.into(), Price { input, output });
        self
    }

    /// Sets what a million tokens of input and of output cost, for all other models. Without it, a
    /// budget of money refuses models that are not in the table.
    pub fn other_models(mut self, input: u64, output: u64) -> Self {
        self.default = Some(Price { input, output });
        self
    }

    /// Returns what these tokens cost, rounded up to a millionth; `None` for a model without a
    /// price.
    #[must_use]
    pub fn cost(&self, model: &str, input_tokens: u64, output_tokens: u64) -> Option<u64> {
        let price = self.models.get(model).or(self.default.as_ref())?;
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let total =
            cost(input_tokens, price.input).saturating_add(cost(output_tokens, price.output));
        Some(u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}
