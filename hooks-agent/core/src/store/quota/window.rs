//! The time over which a quota counts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The time over which a quota counts, by the clock of the store.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::store::Window;
///
/// let hour = Window::Sliding(Duration::from_secs(3600));
/// assert_eq!(hour.start(10_000_000), 6_400_000);
/// assert_eq!(hour.end(10_000_000), Some(13_600_000));
///
/// // Two days, which begin at these times.
/// let days = Window::Since(vec![86_400_000, 172_800_000]);
/// assert_eq!(days.start(100_000_000), 86_400_000);
/// assert_eq!(days.end(100_000_000), Some(172_800_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// The time of this length that ends now.
    Sliding(Duration),
    /// The time since the latest of these moments that has come, in milliseconds since 1970, in order: the
    /// begins of days or months in a time zone, around now. Before the first one, all of the past.
    Since(Vec<u64>),
}

impl Window {
    /// Returns when the window begins that a moment is in; both are milliseconds since 1970.
    #[must_use]
    pub fn start(&self, now: u64) -> u64 {
        match self {
            Self::Sliding(length) => now.saturating_sub(millis(*length)),
            Self::Since(starts) => {
                starts.iter().copied().filter(|start| *start <= now).max().unwrap_or_default()
            }
        }
    }

    /// Returns when what is used at a moment counts no longer, if that is known.
    #[must_use]
    pub fn end(&self, at: u64) -> Option<u64> {
        match self {
            Self::Sliding(length) => at.checked_add(millis(*length)),
            Self::Since(starts) => starts.iter().copied().filter(|start| *start > at).min(),
        }
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
