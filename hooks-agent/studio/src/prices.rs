//! The prices of tokens, and money.

use std::sync::Arc;

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::PriceTable;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Prices, and their currency.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    pub(super) table: PriceTable,
    pub(super) currency: Arc<str>,
}

impl Prices {
    /// Returns what the tokens cost; nothing for a model without a price.
    pub(super) fn cost(&self, model: &str, usage: Usage) -> Option<Money> {
        self.table.cost_of(model, usage).map(Money)
    }
}

/// Millionths of a currency. In JSON it is the currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Money(u64);

impl Money {
    pub(super) const fn of_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    pub(super) const fn millionths(self) -> u64 {
        self.0
    }

    pub(super) fn add(&mut self, more: Self) {
        self.0 = self.0.saturating_add(more.0);
    }
}

impl Serialize for Money {
    #[expect(clippy::cast_precision_loss, reason = "a page shows cents")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 1e6)
    }
}

impl<'de> Deserialize<'de> for Money {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is no amount is none or the highest"
    )]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(|amount| Self((amount * 1e6).round() as u64))
    }
}
