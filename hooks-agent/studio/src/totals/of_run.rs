//! Counts one run.

use crate::prices::Money;
use crate::ring::{ModelUse, RunState, RunSummary, Written};
use crate::totals::counts::Counts;
use crate::totals::metric::Metric;
use crate::totals::spans::{HookRun, Span, Spans};
use crate::totals::sums::{Of, Totals};

/// Returns what a run comes to. Runs of other runs count for their agent, user, models, tools and hooks.
pub(crate) fn totals_of(summary: &RunSummary, entries: &Written, has_prices: bool) -> Totals {
    let mut totals = Totals::default();
    let mut spans = Spans::default();
    for (label, data) in entries.after(0) {
        match spans.ended(label, data) {
            None => {}
            Some(Span::Tool { name, is_error, ms }) => {
                let of_tool = totals.of(Of::Tool, name.into());
                of_tool.add(Metric::Calls, 1);
                of_tool.add(Metric::Failed, is_error.into());
                if let Some(ms) = ms {
                    of_tool.add_duration(Metric::Ms, ms);
                }
            }
            Some(Span::Hook(run)) => {
                let name = run.hook.as_str().into();
                add_hook(totals.of(Of::Hook, name), &run);
            }
            Some(Span::Model { model, is_retry, ms, first_ms }) => {
                let of_model = totals.of(Of::Model, model.into());
                of_model.add(Metric::Retries, is_retry.into());
                if let Some(ms) = ms {
                    of_model.add_duration(Metric::Ms, ms);
                }
                if let Some(first) = first_ms {
                    of_model.add_duration(Metric::FirstMs, first);
                }
            }
        }
    }
    // Entries may be gone: what was used is in the summary.
    let (mut tokens, mut cost) = (0, Money::default());
    for used in &summary.models {
        add_use(totals.of(Of::Model, used.model.clone()), used);
        let all = totals.of(Of::All, "".into());
        for (metric, number) in tokens_of(used) {
            all.add(metric, number);
        }
        all.add(Metric::Unpriced, if has_prices && used.cost.is_none() { used.calls } else { 0 });
        tokens += used.input + used.output;
        cost.add(used.cost.unwrap_or_default());
    }
    add_run(&mut totals, summary, tokens, cost);
    totals
}

fn tokens_of(used: &ModelUse) -> [(Metric, u64); 3] {
    [
        (Metric::Input, used.input),
        (Metric::Output, used.output),
        (Metric::CacheRead, used.cache_read),
    ]
}

fn add_use(of_model: &mut Counts, used: &ModelUse) {
    of_model.add(Metric::Calls, used.calls);
    of_model.add(Metric::Failed, used.failed);
    of_model.add(Metric::Cost, used.cost.unwrap_or_default().millionths());
    for (metric, number) in tokens_of(used) {
        of_model.add(metric, number);
    }
}

fn add_hook(of_hook: &mut Counts, run: &HookRun) {
    of_hook.add(Metric::At(run.event.as_str().into()), 1);
    of_hook.add_duration(Metric::Us, run.us);
    of_hook.add(Metric::Micros, run.us);
    let has_changed = !run.changed.is_empty() || run.cut;
    let refuses = matches!(&*run.flow, "refuse" | "stop" | "answer" | "jump");
    if run.shadow {
        of_hook.add(Metric::ShadowRuns, 1);
        of_hook.add(Metric::WouldHave, (refuses || has_changed).into());
        return;
    }
    of_hook.add(Metric::Runs, 1);
    of_hook.add(Metric::Changes, has_changed.into());
    of_hook.add(Metric::Refusals, refuses.into());
    of_hook.add(Metric::Failed, matches!(&*run.flow, "failed" | "panicked").into());
}

fn add_run(totals: &mut Totals, run: &RunSummary, tokens: u64, cost: Money) {
    let ms = run.ended.map(|ended| ended.saturating_sub(run.started));
    let has_failed = matches!(run.state, RunState::Failed | RunState::Panicked);
    let add = |counts: &mut Counts| {
        counts.add(Metric::Runs, 1);
        counts.add(Metric::Failed, has_failed.into());
        if let Some(ms) = ms {
            counts.add_duration(Metric::Ms, ms);
        }
    };
    let used = |counts: &mut Counts| {
        counts.add(Metric::Tokens, tokens);
        counts.add(Metric::Cost, cost.millionths());
    };
    let of_agent = totals.of(Of::Agent, run.agent.clone());
    add(of_agent);
    used(of_agent);
    if let Some(user) = &run.user {
        let of_user = totals.of(Of::User, user.clone());
        add(of_user);
        used(of_user);
    }
    if let Some(tool) = &run.tool {
        used(totals.of(Of::Tool, tool.clone()));
    }
    let all = totals.of(Of::All, "".into());
    used(all);
    if run.parent.is_none() {
        add(all);
        totals.of(Of::State, run.state.name().into()).add(Metric::Runs, 1);
    }
}
