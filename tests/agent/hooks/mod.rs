//! Hooks of agents: their events, their decisions and their failures.

mod around_changed_calls;
mod around_checks;
mod around_event_hooks;
mod around_hooks;
mod around_model_calls;
mod attacked_order;
mod chosen_hooks;
mod described_hooks;
mod event_closures;
mod events;
mod governance;
mod hook_failures;
mod hook_models;
mod hooks_that_drop;
mod odd_closures;
mod parallel;
mod plan_settings;
mod plan_warnings;
mod relative_order;
mod replaced_history;
mod shadow;
mod shared_counters;
mod watched_hooks;
