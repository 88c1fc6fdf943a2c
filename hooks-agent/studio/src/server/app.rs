//! State that the routes share.

use std::sync::Arc;

use axum::http::request::Parts;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, StudioPart};
use crate::approvals::Desk;
use crate::server::hosts::Hosts;
use crate::server::token::Token;

/// What the routes share.
pub(super) struct App {
    pub(super) desk: Desk,
    pub(super) access: Access,
    pub(super) hosts: Hosts,
    pub(super) token: Token,
    /// The key of workers. Without it nobody joins.
    pub(super) key: Option<Token>,
    /// The name of the cookie, with the port: browsers share cookies between ports.
    pub(super) cookie: String,
    pub(super) streams: Arc<Semaphore>,
    /// Cancelled when the studio shuts down.
    pub(super) stopping: CancellationToken,
}

impl App {
    /// Returns whether a part is for the person of this request.
    pub(super) fn allows(&self, part: StudioPart, head: &Parts) -> bool {
        self.access.allows(part, self.desk.user(head).as_ref())
    }
}
