//! Calls that were cut off.

use std::sync::atomic::Ordering;

use crate::memory::{Running, SaveThread};
use crate::store::StoreError;
use crate::thread::session::Session;

impl Session {
    /// Notes the call in progress, and counts how many times its process has ended. Returns the call if
    /// that was too often.
    pub(super) fn start(&self, mut running: Running, max_cut_offs: u32) -> Option<Running> {
        let cut_off = self.memory.running().filter(|cut_off| {
            // The call that ran this agent for an earlier task was given up, and the task with it.
            let is_given_up = cut_off.through.is_some()
                && running.through.is_some()
                && cut_off.through != running.through;
            if is_given_up {
                self.memory.set_aside(cut_off);
            }
            !is_given_up
        });
        running.since = self.memory.next_message();
        if let Some(cut_off) = &cut_off {
            running.since = cut_off.since.or(running.since);
            // The calls of sub-agents are counted with the call that they are part of.
            if cut_off.through.is_none() {
                running.cut_offs = cut_off.cut_offs.saturating_add(u32::from(!cut_off.is_left));
            }
            let is_cut_off = running.cut_offs > 0 && !cut_off.is_left;
            if is_cut_off && running.cut_offs >= max_cut_offs {
                return Some(Running { cut_offs: running.cut_offs, ..cut_off.clone() });
            }
        }
        self.is_call.store(true, Ordering::Relaxed);
        let continues = cut_off
            .as_ref()
            .is_some_and(|cut_off| cut_off.through.is_some() && cut_off.through == running.through);
        self.is_recovery.store(cut_off.is_some(), Ordering::Relaxed);
        self.continues.store(continues, Ordering::Relaxed);
        self.memory.set_running(Some(running));
        None
    }

    /// Writes that the call in progress was begun once more, before anything of it runs.
    pub(super) async fn count(&self) -> Result<(), StoreError> {
        if self.is_recovery() { self.write(false).await.map(drop) } else { Ok(()) }
    }

    /// Takes the messages of a call that was cut off too often out of the thread.
    pub(super) async fn set_aside(&self, call: &Running) -> Result<(), StoreError> {
        self.memory.set_aside(call);
        self.close().await
    }
}
