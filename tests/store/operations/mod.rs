//! Operations on stores: open by URL, count, prune, export, import, meter.

mod counts;
mod exports;
mod hostile;
mod metrics;
#[path = "../../builtin/observe/metrics_page.rs"]
mod metrics_page;
mod opening;
mod random_exports;
mod retention;
