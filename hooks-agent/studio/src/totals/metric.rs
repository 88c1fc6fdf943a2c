//! The names of what is counted.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What is counted. Those with a number are of durations in its [range](super::durations).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// Of runs: those that no other run began; of agents and users all.
    Runs,
    Calls,
    Failed,
    Retries,
    Input,
    Output,
    CacheRead,
    Tokens,
    /// Millionths of a currency.
    Cost,
    /// Calls of models without a price.
    Unpriced,
    Micros,
    Changes,
    Refusals,
    ShadowRuns,
    WouldHave,
    Ms(u16),
    FirstMs(u16),
    Us(u16),
    /// At an event.
    At(Arc<str>),
}

/// Those that are one number.
const NAMES: [(Metric, &str); 15] = [
    (Metric::Runs, "runs"),
    (Metric::Calls, "calls"),
    (Metric::Failed, "failed"),
    (Metric::Retries, "retries"),
    (Metric::Input, "input"),
    (Metric::Output, "output"),
    (Metric::CacheRead, "cache_read"),
    (Metric::Tokens, "tokens"),
    (Metric::Cost, "cost"),
    (Metric::Unpriced, "unpriced"),
    (Metric::Micros, "micros"),
    (Metric::Changes, "changes"),
    (Metric::Refusals, "refusals"),
    (Metric::ShadowRuns, "shadow_runs"),
    (Metric::WouldHave, "would_have"),
];

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ms(range) => write!(f, "ms {range}"),
            Self::FirstMs(range) => write!(f, "first_ms {range}"),
            Self::Us(range) => write!(f, "us {range}"),
            Self::At(event) => write!(f, "at {event}"),
            one => {
                let name = NAMES.iter().find(|(metric, _)| metric == one);
                f.write_str(name.map_or("", |(_, name)| name))
            }
        }
    }
}

/// A later program counts it, and this one does not.
#[derive(Debug)]
pub(crate) struct UnknownMetric;

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        let Some((name, rest)) = text.split_once(' ') else {
            let known = NAMES.iter().find(|(_, name)| *name == text);
            return known.map(|(metric, _)| metric.clone()).ok_or(UnknownMetric);
        };
        let range = || rest.parse().map_err(|_| UnknownMetric);
        match name {
            "ms" => range().map(Self::Ms),
            "first_ms" => range().map(Self::FirstMs),
            "us" => range().map(Self::Us),
            "at" => Ok(Self::At(rest.into())),
            _ => Err(UnknownMetric),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, NAMES};

    #[test]
    fn a_metric_is_read_as_it_was_written() {
        let others = [Metric::Ms(0), Metric::FirstMs(700), Metric::Us(9), Metric::At("a b".into())];
        for metric in NAMES.into_iter().map(|(metric, _)| metric).chain(others) {
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), metric);
        }
        for unknown in ["", "later", "ms", "ms x", "ms 70000", "later 1"] {
            unknown.parse::<Metric>().unwrap_err();
        }
    }
}
