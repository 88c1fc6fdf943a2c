//! Operations on stores: open by URL, count, prune, export, import, meter.

mod counts;
mod exports;
mod forks;
mod hostile;
mod metrics;
mod opening;
mod random_exports;
mod retention;
