//! Lines for the person who runs a proxy.

use std::fmt;
use std::sync::Arc;

/// Takes a line.
type Take = dyn Fn(&str) + Send + Sync;

/// Takes lines for the person who runs a proxy. They quote nothing of a message.
#[derive(Clone, Default)]
pub(crate) struct Report(Option<Arc<Take>>);

impl Report {
    pub(crate) fn to(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(take)))
    }

    pub(crate) fn line(&self, line: fmt::Arguments<'_>) {
        if let Some(take) = &self.0 {
            take(&line.to_string());
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").field("is_taken", &self.0.is_some()).finish()
    }
}
