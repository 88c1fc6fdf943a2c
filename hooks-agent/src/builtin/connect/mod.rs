//! Connections to browsers: a live view, and front ends that speak AG-UI.

#[cfg(feature = "ag-ui")]
pub mod ag_ui;
#[cfg(any(feature = "ag-ui", feature = "studio"))]
mod bounded_listener;
#[cfg(feature = "studio")]
mod studio;

#[cfg(any(feature = "ag-ui", feature = "studio"))]
pub use bounded_listener::{BoundedConnection, BoundedListener};
#[cfg(feature = "studio")]
pub use studio::{Studio, StudioError, StudioHook, StudioServer};
