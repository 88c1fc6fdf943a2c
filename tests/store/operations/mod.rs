//! What operators do with stores: opened by URL, counted, pruned, exported, imported, metered.

mod counts;
mod exports;
mod hostile;
mod metrics;
#[path = "../../builtin/observe/metrics_page.rs"]
mod metrics_page;
mod opening;
mod random_exports;
mod retention;
