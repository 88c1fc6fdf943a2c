//! The connections of a store.

use std::sync::Arc;
use std::time::Duration;

use crate::database::{Limit, Place, Pool};
use crate::store::statements::Statements;

/// The connections of a store to its database.
#[derive(Debug)]
pub(crate) struct Connections<D: Statements> {
    pub(crate) place: Place,
    pub(crate) lease_time: Duration,
    pub(crate) is_read_only: bool,
    /// How long an operation of a call may take.
    pub(crate) statement: Limit,
    /// How long an operation of operators may take.
    pub(crate) maintenance: Limit,
    pub(crate) reader: Arc<Pool<D::Connection>>,
    pub(crate) writer: Arc<Pool<D::Connection>>,
    pub(crate) releases: D::Releases,
}
