//! A reservation of a quota, and whether there is enough for it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::store::quota::window::Window;

/// An amount that is reserved of a quota, before it is used.
///
/// A [key](Self::key) is counted once, however often it is reserved.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reservation {
    /// The name of the quota, unique in the namespace of the store.
    pub quota: Arc<str>,
    /// Whose part of it is meant: the id of a user, the name of an agent. Each has as much as the others.
    pub subject: Arc<str>,
    /// What it is reserved for, once in a quota of a subject: the key of a tool call, the id of a run.
    pub key: Arc<str>,
    /// How much is reserved.
    pub amount: u64,
    /// How much may be used in a window.
    pub most: u64,
    /// The time over which it counts.
    pub window: Window,
}

/// How much a subject has used of a quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuotaUse {
    /// Whose part of the quota it is.
    pub subject: Arc<str>,
    /// What was used and is reserved in the window.
    pub amount: u64,
}

/// Why a reservation was refused. Nothing was reserved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct QuotaExceeded {
    /// The name of the quota.
    pub quota: Arc<str>,
    /// Whose part of it is meant.
    pub subject: Arc<str>,
    /// What others have used or reserved in the window.
    pub used: u64,
    /// What was to be reserved.
    pub amount: u64,
    /// How much may be used in a window.
    pub most: u64,
    /// When the first part of what is used counts no longer, in milliseconds since 1970 by the store's
    /// clock, if that is known.
    pub until: Option<u64>,
}

/// What a store knows about a reservation, for [`admit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Used {
    /// What its subject has used in the window, without what its key has reserved.
    pub amount: u64,
    /// When the oldest part of it was used, in milliseconds since 1970.
    pub oldest: Option<u64>,
    /// What its key has reserved or used in the window, if it has.
    pub reserved: Option<u64>,
}

/// A reservation that [`admit`] lets a store write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admitted {
    /// What is to be written, now as its time.
    pub reservation: Reservation,
    /// What its key had reserved or used in the window.
    pub before: u64,
}

/// What a request has of a key of a subject until now.
struct OfKey {
    amount: u64,
    /// Where it is among what is to be written.
    place: Option<usize>,
}

/// The largest amount. More is counted as this much: no database has all that is larger.
pub(crate) const LARGEST: u64 = (1 << 53) - 1;

impl Reservation {
    /// Creates a reservation.
    #[must_use]
    pub fn new(
        quota: impl Into<Arc<str>>,
        subject: impl Into<Arc<str>>,
        amount: u64,
        most: u64,
        window: Window,
    ) -> Self {
        let (quota, subject) = (quota.into(), subject.into());
        Self { quota, subject, key: "".into(), amount, most, window }
    }

    /// Sets what it is reserved for. For a tool call, the agent sets it.
    #[must_use]
    pub fn with_key(self, key: impl Into<Arc<str>>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Sets how much is reserved, or was used.
    #[must_use]
    pub fn with_amount(self, amount: u64) -> Self {
        Self { amount, ..self }
    }
}

impl QuotaUse {
    /// Creates the use of a subject.
    #[must_use]
    pub fn new(subject: impl Into<Arc<str>>, amount: u64) -> Self {
        Self { subject: subject.into(), amount }
    }
}

impl Used {
    /// Creates what is known about a reservation.
    #[must_use]
    pub fn new(amount: u64, oldest: Option<u64>, reserved: Option<u64>) -> Self {
        Self { amount, oldest, reserved }
    }
}

impl Admitted {
    /// Returns what [takes it back](crate::store::Store::settle): what its key had before.
    #[must_use]
    pub fn taken_back(&self) -> Reservation {
        self.reservation.clone().with_amount(self.before)
    }
}

/// Decides about reservations, all together: each must fit, with those before it, into what is left. What a
/// key has reserved in the window is not counted again. For a store, which calls it while nobody else reserves
/// for the same subjects.
///
/// Returns what is to be written, one for each key of a subject.
///
/// # Errors
/// [`QuotaExceeded`] for the first one that does not fit.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::store::{Reservation, Used, Window, admit};
///
/// let hour = Window::Sliding(Duration::from_secs(3600));
/// let one = Reservation::new("mails", "ada", 1, 2, hour).with_key("call 3");
/// let admitted = admit([(&one, Used::new(1, Some(5), None))], 10)?;
/// assert_eq!((&admitted[0].reservation, admitted[0].before), (&one, 0));
/// let exceeded = admit([(&one, Used::new(2, Some(5), None))], 10).unwrap_err();
/// assert_eq!(exceeded.until, Some(3_600_005));
/// assert_eq!(admit([(&one, Used::new(2, Some(5), Some(1)))], 10), Ok(vec![]));
/// # Ok::<(), hooks_agent::store::QuotaExceeded>(())
/// ```
pub fn admit<'a>(
    reservations: impl IntoIterator<Item = (&'a Reservation, Used)>,
    now: u64,
) -> Result<Vec<Admitted>, QuotaExceeded> {
    let mut before: HashMap<(&str, &str), u64> = HashMap::new();
    let mut keys: HashMap<(&str, &str, &str), OfKey> = HashMap::new();
    let mut written: Vec<Admitted> = Vec::new();
    for (wanted, known) in reservations {
        let amount = wanted.amount.min(LARGEST);
        let of_key = keys.entry((&wanted.quota, &wanted.subject, &wanted.key));
        let of_key = of_key
            .or_insert_with(|| OfKey { amount: known.reserved.unwrap_or_default(), place: None });
        let is_known = known.reserved.is_some() || of_key.place.is_some();
        if is_known && amount <= of_key.amount {
            continue;
        }
        let earlier = before.entry((&wanted.quota, &wanted.subject)).or_default();
        // Without what its key has.
        let used = known.amount.saturating_add(*earlier);
        let more = amount.saturating_sub(of_key.amount);
        let all = used.saturating_add(known.reserved.unwrap_or_default()).saturating_add(more);
        if all > wanted.most.min(LARGEST) {
            let fits_ever = wanted.amount <= wanted.most;
            return Err(QuotaExceeded {
                quota: wanted.quota.clone(),
                subject: wanted.subject.clone(),
                used,
                amount: wanted.amount,
                most: wanted.most,
                until: wanted.window.end(known.oldest.unwrap_or(now)).filter(|_| fits_ever),
            });
        }
        *earlier = earlier.saturating_add(more);
        of_key.amount = amount;
        match of_key.place {
            Some(place) => written[place].reservation.amount = amount,
            None => {
                of_key.place = Some(written.len());
                written.push(Admitted {
                    reservation: wanted.clone().with_amount(amount),
                    before: known.reserved.unwrap_or_default(),
                });
            }
        }
    }
    Ok(written)
}

impl fmt::Display for QuotaExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, used, amount, most, .. } = self;
        write!(
            f,
            "the quota \"{quota}\" is used up: {used} of {most}, and {amount} more are needed"
        )
    }
}
