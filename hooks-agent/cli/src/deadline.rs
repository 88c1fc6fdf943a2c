//! The time that a guard has: an agent that waits for it longer goes on without its answer.

use std::process::{self, ExitCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::print::print;
use hooks_agent_guest::Answer;

/// Ends the process with an answer that blocks, unless another one has been printed by then.
pub(super) struct Deadline(Arc<Mutex<Option<Answer>>>);

impl Deadline {
    /// Starts it, with the answer of a guard that is late.
    pub(super) fn start(seconds: u64, late: Answer) -> Self {
        let late = Arc::new(Mutex::new(Some(late)));
        let watched = late.clone();
        let watch = move || {
            thread::sleep(Duration::from_secs(seconds));
            let mut answer = lock(&watched);
            // While this is held nothing else is printed.
            if let Some(answer) = answer.take() {
                eprintln!("the guard took longer than {seconds} seconds");
                print(&answer);
                process::exit(i32::from(answer.code));
            }
        };
        if thread::Builder::new().spawn(watch).is_err() {
            // Nothing would end a guard that is late.
            if let Some(answer) = lock(&late).take() {
                print(&answer);
                process::exit(i32::from(answer.code));
            }
        }
        Self(late)
    }

    /// Sets the answer of a guard that is late.
    pub(super) fn set(&self, late: Answer) {
        if let Some(answer) = &mut *lock(&self.0) {
            *answer = late;
        }
    }

    /// Prints the answer in time.
    pub(super) fn end(self, answer: &Answer) -> ExitCode {
        let mut late = lock(&self.0);
        late.take();
        print(answer)
    }
}

fn lock(answer: &Mutex<Option<Answer>>) -> MutexGuard<'_, Option<Answer>> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}
