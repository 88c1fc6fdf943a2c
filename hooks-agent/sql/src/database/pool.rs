//! Connections that are lent and come back.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sqlx::Connection;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::database::error::DatabaseError;
use crate::database::limit::Limit;
use crate::database::place::Place;

type Open<C> = Box<dyn Fn() -> BoxFuture<'static, Result<C, DatabaseError>> + Send + Sync>;

/// How many connections there are, and how long a pool waits.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// How many connections there are at most.
    pub size: u32,
    /// How long an operation waits for a connection that others have.
    pub wait: Duration,
    /// A connection that was idle for longer is tested before it is lent.
    pub trusted: Duration,
    /// How long the test takes at most.
    pub test: Limit,
}

/// Connections of one kind. A connection costs nothing to lend and to give back: the pool of sqlx
/// needs a round trip for each.
///
/// A connection whose operation was dropped half-way is closed and not lent again: the database ends
/// its transaction.
pub struct Pool<C> {
    place: Place,
    options: PoolOptions,
    open: Open<C>,
    idle: Mutex<Vec<(C, Instant)>>,
    permits: Semaphore,
}

impl<C: Connection> Pool<C> {
    /// Returns a pool that opens its connections by a function, when they are needed.
    pub fn new(
        place: Place,
        options: PoolOptions,
        open: impl Fn() -> BoxFuture<'static, Result<C, DatabaseError>> + Send + Sync + 'static,
    ) -> Self {
        let permits = Semaphore::new(options.size.max(1) as usize);
        Self { place, options, open: Box::new(open), idle: Mutex::default(), permits }
    }

    /// Lends a connection.
    ///
    /// # Errors
    /// [`Unavailable`](crate::database::DatabaseErrorKind::Unavailable) if others have all connections for
    /// too long; that of opening one.
    pub async fn get(&self) -> Result<Lent<'_, C>, DatabaseError> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => tokio::time::timeout(self.options.wait, self.permits.acquire())
                .await
                .map_err(|_| self.place.unavailable("all connections are in use"))?
                .map_err(|_| self.place.unavailable("the pool is closed"))?,
        };
        loop {
            let idle = self.idle().pop();
            let conn = match idle {
                None => (self.open)().await.map_err(|error| self.place.error(error))?,
                Some((conn, since)) if since.elapsed() < self.options.trusted => conn,
                Some((mut conn, _)) => match self.options.test.run(ping(&mut conn)).await {
                    Ok(()) => conn,
                    Err(_) => {
                        // The others were idle for longer: one test tells for all of them.
                        self.idle().clear();
                        continue;
                    }
                },
            };
            return Ok(Lent { conn: Some(conn), pool: self, _permit: permit });
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(C, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ping<C: Connection>(conn: &mut C) -> Result<(), DatabaseError> {
    Ok(conn.ping().await?)
}

impl<C> fmt::Debug for Pool<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// A connection that is lent. Dropping it closes it; [`done`](Self::done) gives it back.
#[must_use]
pub struct Lent<'a, C> {
    conn: Option<C>,
    pool: &'a Pool<C>,
    _permit: SemaphorePermit<'a>,
}

impl<C: Connection> Lent<'_, C> {
    /// Gives the connection back after its operation ended, if it still works.
    ///
    /// # Errors
    /// That of the operation, with the place of the database.
    pub fn done<T>(mut self, result: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
        match &result {
            // The others of the pool are as old, and were lost with it.
            Err(error) if error.is_broken() => self.pool.idle().clear(),
            _ => self.pool.idle().extend(self.conn.take().map(|conn| (conn, Instant::now()))),
        }
        result.map_err(|error| self.pool.place.error(error))
    }
}

impl<C> Deref for Lent<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.conn.as_ref().expect("only `done` takes it, with the lent connection itself")
    }
}

impl<C> DerefMut for Lent<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        self.conn.as_mut().expect("only `done` takes it, with the lent connection itself")
    }
}

impl<C> fmt::Debug for Lent<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}
