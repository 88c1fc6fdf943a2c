//! Prices in a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use crate::model::price_table::{Price, PriceTable};

/// The name that stands for all other models.
const OTHERS: &str = "*";

/// The highest price of a million tokens.
const HIGHEST: f64 = 1e9;

/// Why prices cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// The file cannot be read.
    #[error("the prices `{}` cannot be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is no JSON of prices.
    #[error(
        "the prices cannot be read, expected models with prices of a million tokens, such as \
         {{\"large\": {{\"input\": 3, \"output\": 15}}}}"
    )]
    Json(#[source] serde_json::Error),
    /// A price is negative, or above a billion.
    #[error("the price `{what}` of model `{model}` is {price}, expected one from 0 to a billion")]
    Price {
        /// The model.
        model: String,
        /// Which price.
        what: &'static str,
        /// The price.
        price: f64,
    },
}

/// The prices of a model, in the currency.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_creation: Option<f64>,
}

impl PriceTable {
    /// Reads prices from JSON: models by name, each with the prices of a million tokens of `input` and `output`, and
    /// if it has them of `cache_read` and `cache_creation`. They are in the currency, not in millionths. The name `*`
    /// stands for all other models.
    ///
    /// ```
    /// use hooks_agent::model::PriceTable;
    ///
    /// let prices = PriceTable::from_json(
    ///     r#"{"large": {"input": 3, "output": 15, "cache_read": 0.3}, "*": {"input": 0.25, "output": 1}}"#,
    /// )?;
    /// assert_eq!(prices.cost("large", 1_000, 100), Some(4_500));
    /// assert_eq!(prices.cost("small", 1_000, 100), Some(350));
    /// # Ok::<(), hooks_agent::model::PriceError>(())
    /// ```
    ///
    /// # Errors
    /// [`PriceError::Json`], [`PriceError::Price`].
    pub fn from_json(text: &str) -> Result<Self, PriceError> {
        let lines: HashMap<String, Line> = serde_json::from_str(text).map_err(PriceError::Json)?;
        let mut table = Self::new();
        for (model, line) in lines {
            let price = line.price(&model)?;
            if model == OTHERS {
                table.default = Some(price);
            } else {
                table.models.insert(model, price);
            }
        }
        Ok(table)
    }

    /// Reads prices from a file, as [`from_json`](Self::from_json) does.
    ///
    /// # Errors
    /// [`PriceError::File`], and those of `from_json`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, PriceError> {
        let path = path.as_ref();
        let failed = |source| PriceError::File { path: path.to_owned(), source };
        Self::from_json(&fs::read_to_string(path).map_err(failed)?)
    }
}

impl Line {
    fn price(&self, model: &str) -> Result<Price, PriceError> {
        let of = |what, price: f64| {
            if !(0.0..=HIGHEST).contains(&price) {
                return Err(PriceError::Price { model: model.to_owned(), what, price });
            }
            Ok(millionths(price))
        };
        let cached = |what, price: Option<f64>| price.map(|price| of(what, price)).transpose();
        Ok(Price {
            input: of("input", self.input)?,
            output: of("output", self.output)?,
            cache_read: cached("cache_read", self.cache_read)?,
            cache_creation: cached("cache_creation", self.cache_creation)?,
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 0 to 10^15"
)]
fn millionths(price: f64) -> u64 {
    (price * 1e6).round() as u64
}
