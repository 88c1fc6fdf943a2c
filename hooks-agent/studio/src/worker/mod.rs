//! A worker: sends the runs of this process to the studio that it joined, and does what people decide there.

mod backoff;
mod batch;
mod client;
mod commands;
mod join;
mod link;
mod message;
mod sender;
mod studio_worker;

pub use studio_worker::StudioWorker;
