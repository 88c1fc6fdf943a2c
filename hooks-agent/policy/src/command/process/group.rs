//! A process group that ends with its run.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// How long a group may take to end after it was asked to.
const TO_END: Duration = Duration::from_secs(2);
/// How often it is looked whether a group has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A program that leads a process group. Dropping it ends the group: TERM at once, and KILL after
/// two seconds by a task of the runtime, or at once if there is none.
pub(super) struct Group {
    leader: Option<Child>,
    id: Pid,
    is_reaped: bool,
}

/// Kills the group when it is dropped, also with a task that a runtime drops at its end.
struct Kill(Pid);

impl Group {
    /// Takes over a program that was started in a group of its own.
    pub(super) fn new(leader: Child) -> Option<Self> {
        let id = Pid::from_raw(i32::try_from(leader.id()?).ok()?)?;
        Some(Self { leader: Some(leader), id, is_reaped: false })
    }

    /// Waits for the end of the leader.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let leader = self.leader.as_mut().ok_or(io::ErrorKind::NotFound)?;
        let status = leader.wait().await?;
        self.is_reaped = true;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(leader) = self.leader.take() else { return };
        // The id of a group is not given to another one while a process of the group lives.
        if self.is_reaped && !exists(self.id) {
            return;
        }
        signal(self.id, Signal::TERM);
        let kill = Kill(self.id);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(end(leader, kill));
        }
    }
}

impl Drop for Kill {
    fn drop(&mut self) {
        signal(self.0, Signal::KILL);
    }
}

/// Waits until the group has ended, then kills what is left and reaps the leader.
async fn end(mut leader: Child, kill: Kill) {
    let ended = async {
        let _ = leader.wait().await;
        while exists(kill.0) {
            sleep(LOOK).await;
        }
    };
    let _ = timeout(TO_END, ended).await;
    drop(kill);
    let _ = leader.wait().await;
}

fn exists(group: Pid) -> bool {
    test_kill_process_group(group) != Err(rustix::io::Errno::SRCH)
}

/// A group that is gone needs no signal.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
