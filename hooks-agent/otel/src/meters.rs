//! The metrics.

use std::time::Duration;

use hooks_agent_core::message::Usage;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

use crate::names;

/// The instruments of one version of the conventions.
pub(super) struct Meters {
    duration: Histogram<f64>,
    first_chunk: Histogram<f64>,
    per_chunk: Histogram<f64>,
    tokens: Tokens,
    decisions: Counter<u64>,
    agents: Option<AgentMeters>,
}

enum Tokens {
    Stable(Histogram<u64>),
    /// Of the input and of the output: the sum, and the distribution.
    Newest([(Counter<u64>, Histogram<u64>); 2]),
}

/// What only the newest version has.
struct AgentMeters {
    call: Histogram<f64>,
    inferences: Histogram<u64>,
    tools: Histogram<u64>,
    tool: Histogram<f64>,
}

impl Meters {
    pub(super) fn new(meter: &Meter, is_newest: bool) -> Self {
        let (duration, first_chunk, per_chunk) = if is_newest {
            (names::INFERENCE_DURATION, names::INFERENCE_FIRST_CHUNK, names::INFERENCE_PER_CHUNK)
        } else {
            (names::OPERATION_DURATION, names::OPERATION_FIRST_CHUNK, names::OPERATION_PER_CHUNK)
        };
        let decisions = meter.u64_counter(names::DECISIONS).with_unit("{decision}").build();
        Self {
            duration: seconds(meter, duration, 0.01),
            first_chunk: seconds(meter, first_chunk, 0.01),
            per_chunk: seconds(meter, per_chunk, 0.01),
            tokens: if is_newest { newest_tokens(meter) } else { stable_tokens(meter) },
            decisions,
            agents: is_newest.then(|| AgentMeters {
                call: seconds(meter, names::AGENT_DURATION, 0.1),
                inferences: calls(meter, names::AGENT_INFERENCES, "{inference_call}"),
                tools: calls(meter, names::AGENT_TOOLS, "{tool_call}"),
                tool: seconds(meter, names::TOOL_DURATION, 0.01),
            }),
        }
    }

    pub(super) fn duration(&self, time: Duration, labels: &[KeyValue]) {
        self.duration.record(time.as_secs_f64(), labels);
    }

    pub(super) fn first_chunk(&self, time: Duration, labels: &[KeyValue]) {
        self.first_chunk.record(time.as_secs_f64(), labels);
    }

    pub(super) fn per_chunk(&self, time: Duration, labels: &[KeyValue]) {
        self.per_chunk.record(time.as_secs_f64(), labels);
    }

    /// Records the tokens of an answer.
    pub(super) fn tokens(&self, usage: Usage, labels: [KeyValue; 4]) {
        match &self.tokens {
            Tokens::Stable(histogram) => {
                let [operation, provider, model, response_model] = labels;
                let kind = KeyValue::new(names::TOKEN_TYPE, "input");
                let mut labels = [operation, provider, model, response_model, kind];
                histogram.record(usage.input_tokens, &labels);
                labels[4] = KeyValue::new(names::TOKEN_TYPE, "output");
                histogram.record(usage.output_tokens, &labels);
            }
            Tokens::Newest(both) => {
                let tokens = [usage.input_tokens, usage.output_tokens];
                for ((sum, histogram), tokens) in both.iter().zip(tokens) {
                    sum.add(tokens, &labels);
                    histogram.record(tokens, &labels);
                }
            }
        }
    }

    pub(super) fn decision(&self, labels: &[KeyValue]) {
        self.decisions.add(1, labels);
    }

    /// Returns whether calls and tools are measured.
    pub(super) fn has_agents(&self) -> bool {
        self.agents.is_some()
    }

    /// Records a call of an agent, with how often it called models and tools.
    pub(super) fn call(&self, time: Duration, inferences: u64, tools: u64, labels: &[KeyValue]) {
        let Some(meters) = &self.agents else { return };
        meters.call.record(time.as_secs_f64(), labels);
        meters.inferences.record(inferences, labels);
        meters.tools.record(tools, labels);
    }

    pub(super) fn tool(&self, time: Duration, labels: &[KeyValue]) {
        if let Some(meters) = &self.agents {
            meters.tool.record(time.as_secs_f64(), labels);
        }
    }
}

fn stable_tokens(meter: &Meter) -> Tokens {
    Tokens::Stable(tokens(meter, names::TOKEN_USAGE))
}

fn newest_tokens(meter: &Meter) -> Tokens {
    let of = |sum, histogram| {
        let sum = meter.u64_counter(sum).with_unit("{token}").build();
        (sum, tokens(meter, histogram))
    };
    Tokens::Newest([
        of(names::INFERENCE_INPUT, names::OPERATION_INPUT),
        of(names::INFERENCE_OUTPUT, names::OPERATION_OUTPUT),
    ])
}

/// A histogram with 14 buckets, each four times as large as the one before.
fn tokens(meter: &Meter, name: &'static str) -> Histogram<u64> {
    let buckets = buckets(1.0, 4.0, 14);
    meter.u64_histogram(name).with_unit("{token}").with_boundaries(buckets).build()
}

fn calls(meter: &Meter, name: &'static str, unit: &'static str) -> Histogram<u64> {
    meter.u64_histogram(name).with_unit(unit).with_boundaries(buckets(1.0, 2.0, 8)).build()
}

fn seconds(meter: &Meter, name: &'static str, first: f64) -> Histogram<f64> {
    let count = if first < 0.1 { 14 } else { 13 };
    meter.f64_histogram(name).with_unit("s").with_boundaries(buckets(first, 2.0, count)).build()
}

fn buckets(first: f64, factor: f64, count: usize) -> Vec<f64> {
    std::iter::successors(Some(first), |bucket| Some(bucket * factor)).take(count).collect()
}
