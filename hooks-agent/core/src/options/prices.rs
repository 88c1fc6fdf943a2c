//! Prices of models in policy files.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::PriceTable;
use crate::options::error::OptionError;

/// What a model costs, in the options of a hook.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// The name of the model.
    pub model: String,
    /// What a million input tokens cost, in millionths.
    pub input: u64,
    /// What a million output tokens cost, in millionths.
    pub output: u64,
}

/// What all other models cost, in the options of a hook.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherPrice {
    /// What a million input tokens cost, in millionths.
    pub input: u64,
    /// What a million output tokens cost, in millionths.
    pub output: u64,
}

/// Returns the table of prices, if there are any: those of the key `prices`, and of `other_models`.
///
/// # Errors
/// A model with two prices, at `prices`.
pub fn price_table(
    prices: Option<Vec<ModelPrice>>,
    others: Option<OtherPrice>,
) -> Result<Option<PriceTable>, OptionError> {
    if prices.is_none() && others.is_none() {
        return Ok(None);
    }
    let mut known = HashSet::new();
    let mut table = PriceTable::new();
    for (index, price) in prices.into_iter().flatten().enumerate() {
        if !known.insert(price.model.clone()) {
            let at = format!("prices[{index}].model");
            return Err(OptionError::at(at, "expected one price for each model"));
        }
        table = table.model(price.model, price.input, price.output);
    }
    Ok(Some(match others {
        Some(price) => table.other_models(price.input, price.output),
        None => table,
    }))
}
