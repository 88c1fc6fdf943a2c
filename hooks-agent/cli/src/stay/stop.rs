//! The end of a program that stays.

/// Ends when a person or the system stops the program.
pub(crate) async fn stopped() {
    tokio::select! {
        () = interrupted() => {}
        () = terminated() => {}
    }
}

async fn interrupted() {
    // Without it the system stops the program.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
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

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
