//! Counts quotas and keeps approvals for the agents of one process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::people::Book;
use crate::store::quota::reservation::{
    Admitted, LARGEST, QuotaExceeded, QuotaUse, Reservation, Used, admit,
};
use crate::store::quota::window::Window;

/// What the agents of a process have used of quotas, and the approvals that they remember.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) approvals: Book,
    uses: Mutex<Uses>,
}

/// The uses of each subject of a quota, by key.
type Uses = HashMap<(Arc<str>, Arc<str>), HashMap<Arc<str>, Use>>;

#[derive(Clone, Copy)]
struct Use {
    amount: u64,
    at: u64,
    /// When it counts no longer.
    end: u64,
}

impl Ledger {
    /// Reserves all of it or nothing, and returns what takes it back. What counts no longer is dropped.
    pub(crate) fn reserve(
        &self,
        wanted: &[Reservation],
        now: u64,
    ) -> Result<Vec<Reservation>, QuotaExceeded> {
        let mut uses = self.lock();
        let known: Vec<_> = wanted.iter().map(|it| known(&mut uses, it, now)).collect();
        let admitted = admit(wanted.iter().zip(known), now)?;
        let taken_back = admitted.iter().map(Admitted::taken_back).collect();
        for Admitted { reservation: it, .. } in admitted {
            let end = it.window.end(now).unwrap_or(u64::MAX);
            let of_subject = uses.entry((it.quota, it.subject)).or_default();
            of_subject.insert(it.key, Use { amount: it.amount, at: now, end });
        }
        Ok(taken_back)
    }

    /// Sets what was used of what was reserved.
    pub(crate) fn settle(&self, used: &[Reservation]) {
        let mut all = self.lock();
        for it in used {
            let of_subject = all.get_mut(&(it.quota.clone(), it.subject.clone()));
            if let Some(made) = of_subject.and_then(|uses| uses.get_mut(&it.key)) {
                made.amount = it.amount.min(LARGEST);
            }
        }
    }

    /// Returns what each subject has used of a quota, in order.
    pub(crate) fn uses(&self, quota: &str, window: &Window, now: u64) -> Vec<QuotaUse> {
        let start = window.start(now);
        let uses = self.lock();
        let of_quota = uses.iter().filter(|((name, _), _)| **name == *quota);
        let mut sums: Vec<_> = of_quota
            .map(|((_, subject), uses)| {
                let counted = uses.values().filter(|it| it.at >= start);
                let sum = counted.fold(0_u64, |sum, it| sum.saturating_add(it.amount));
                QuotaUse::new(subject.clone(), sum.min(LARGEST))
            })
            .filter(|it| it.amount > 0)
            .collect();
        sums.sort_by(|one, other| one.subject.cmp(&other.subject));
        sums
    }

    /// Drops what counts no longer, and returns how many uses that were.
    pub(crate) fn prune(&self, now: u64) -> u64 {
        let mut count = 0;
        self.lock().retain(|_, uses| {
            let before = uses.len();
            uses.retain(|_, it| it.end > now);
            count += (before - uses.len()) as u64;
            !uses.is_empty()
        });
        count
    }

    fn lock(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what is known about a reservation, after what counts no longer is dropped.
fn known(all: &mut Uses, wanted: &Reservation, now: u64) -> Used {
    let of_subject = all.get_mut(&(wanted.quota.clone(), wanted.subject.clone()));
    let Some(of_subject) = of_subject else { return Used::default() };
    of_subject.retain(|_, it| it.end > now);
    let start = wanted.window.start(now);
    let mut used = Used::default();
    for (key, it) in of_subject.iter().filter(|(_, it)| it.at >= start) {
        if **key == *wanted.key {
            used.reserved = Some(it.amount);
        } else {
            used.amount = used.amount.saturating_add(it.amount);
            used.oldest = Some(used.oldest.map_or(it.at, |oldest| oldest.min(it.at)));
        }
    }
    used
}
