//! Connections to browsers: a live view, and front ends that speak AG-UI.

#[cfg(feature = "ag-ui")]
pub mod ag_ui;
#[cfg(feature = "studio")]
mod studio;

#[cfg(feature = "studio")]
pub use studio::{Studio, StudioError, StudioHook, StudioServer};
