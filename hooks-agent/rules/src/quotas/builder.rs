//! Builds quotas.

use std::collections::HashMap;
use std::sync::Arc;

use hooks_agent_core::model::PriceTable;

use crate::quotas::checked::Checked;
use crate::quotas::hook::{Inner, Quotas};
use crate::quotas::quota::{Over, Quota, QuotaExit};
use crate::quotas::unsettled::Unsettled;
use crate::rule::{Mistakes, RulesError};

/// Builds [`Quotas`].
#[derive(Clone, Debug)]
#[must_use = "it makes quotas by `build`"]
pub struct QuotasBuilder {
    quotas: Vec<Quota>,
    prices: Option<PriceTable>,
    exit: QuotaExit,
    prefix: String,
}

/// The longest prefix of names, in bytes.
const LONGEST_PREFIX: usize = 256;

impl QuotasBuilder {
    pub(super) fn new() -> Self {
        Self { quotas: Vec::new(), prices: None, exit: QuotaExit::End, prefix: String::new() }
    }

    /// Adds a quota. All of them must have what a call uses.
    pub fn quota(mut self, quota: Quota) -> Self {
        self.quotas.push(quota);
        self
    }

    /// Sets what tokens cost. Required for a quota of money. A model without a price is refused.
    pub fn prices(mut self, prices: PriceTable) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets what happens to a call, or to its next model call, when its quota is used up. Default: it ends with a
    /// text that names the quota.
    pub fn exit(mut self, exit: QuotaExit) -> Self {
        self.exit = exit;
        self
    }

    /// Sets what the names of the quotas begin with in the store. Quotas of one name there are one: agents that share
    /// a store share them. Default: nothing.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Checks the quotas.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn build(self) -> Result<Quotas, RulesError> {
        let Self { quotas, prices, exit, prefix } = self;
        let mut mistakes = Mistakes::default();
        let mut names = HashMap::new();
        let mut checked = Vec::with_capacity(quotas.len());
        if quotas.is_empty() {
            mistakes.add("quota", "expected at least one quota");
        }
        if prefix.len() > LONGEST_PREFIX {
            mistakes.add("prefix", format!("expected at most {LONGEST_PREFIX} bytes"));
        }
        for (index, quota) in quotas.into_iter().enumerate() {
            let place = format!("quota[{index}]");
            if let Some(first) = names.insert(quota.name.clone(), index) {
                let message = format!("the name is taken by quota[{first}]; expected another one");
                mistakes.add(format!("{place}.name"), message);
            }
            if quota.over == Over::Money && prices.is_none() {
                mistakes.add(format!("{place}.over"), "a quota of money needs `prices`");
            }
            checked.extend(Checked::new(quota, &place, &prefix, &mut mistakes));
        }
        mistakes.end()?;
        let names: Vec<_> = checked.iter().map(|quota| &*quota.stored).collect();
        let counter = format!("quotas {}", names.join(", "));
        let unsettled = Unsettled::default();
        Ok(Quotas { inner: Arc::new(Inner { quotas: checked, prices, exit, counter, unsettled }) })
    }
}
