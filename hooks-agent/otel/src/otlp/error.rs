//! Errors of exporters.

use hooks_core::BoxError;

/// The error of an exporter. Calls of agents never fail with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The exporters could not be built: an endpoint is no URL, or a thread could not be started.
    #[error("the exporters could not be built")]
    Build(#[source] BoxError),
    /// The receiver did not take what was recorded.
    #[error("not everything that was recorded could be exported")]
    Export(#[source] BoxError),
}
