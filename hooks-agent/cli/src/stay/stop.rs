//! The end of a program that stays.

/// Returns what ends when a person or the system stops the program. From this call on, no signal ends it in another way.
#[cfg(unix)]
pub(crate) fn stopped() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [interrupt, terminate] = signals.map(|signal| async move {
            match signal {
                Ok(mut signal) => drop(signal.recv().await),
                // Without it the system stops the program.
                Err(_) => std::future::pending().await,
            }
        });
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
        }
    }
}

/// Returns what ends when a person stops the program.
#[cfg(not(unix))]
pub(crate) fn stopped() -> impl Future<Output = ()> {
    async {
        // Without it the system stops the program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Has writes fail beyond the longest that a file may be, rather than end the program.
#[cfg(unix)]
pub(crate) fn survive_full_files() {
    use tokio::signal::unix::{SignalKind, signal};

    /// `SIGXFSZ`, on Linux and macOS.
    const FILE_TOO_LONG: i32 = 25;

    if let Ok(mut signal) = signal(SignalKind::from_raw(FILE_TOO_LONG)) {
        tokio::spawn(async move { while signal.recv().await.is_some() {} });
    }
}

#[cfg(not(unix))]
pub(crate) fn survive_full_files() {}
