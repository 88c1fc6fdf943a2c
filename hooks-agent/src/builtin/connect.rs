//! Connections to browsers: a live view, and front ends that speak AG-UI.

#[cfg(feature = "ag-ui")]
#[doc(inline)]
pub use hooks_agent_ag_ui as ag_ui;
#[cfg(any(feature = "ag-ui", feature = "studio"))]
pub use hooks_agent_listener::{BoundedConnection, BoundedListener};
#[cfg(feature = "studio-join")]
pub use hooks_agent_studio::StudioWorker;
#[cfg(feature = "studio")]
pub use hooks_agent_studio::{Studio, StudioError, StudioHook, StudioPart, StudioServer};
