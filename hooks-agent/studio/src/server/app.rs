//! State that the routes share.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::approvals::Desk;
use crate::server::hosts::Hosts;
use crate::server::token::Token;

/// What the routes share.
pub(super) struct App {
    pub(super) desk: Desk,
    pub(super) hosts: Hosts,
    pub(super) token: Token,
    /// The name of the cookie, with the port: browsers share cookies between ports.
    pub(super) cookie: String,
    pub(super) streams: Arc<Semaphore>,
    /// Cancelled when the studio shuts down.
    pub(super) stopping: CancellationToken,
}
