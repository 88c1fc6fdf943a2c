//! The address of a database: how to connect, and how errors name it.

use std::str::FromStr;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::database::error::DatabaseError;
use crate::database::place::Place;

/// What is wrong with a URL. It quotes nothing of it, which may have a password.
const UNREADABLE: &str = "the URL of the database cannot be read: write \
                          `postgres://USER@HOST:5432/DATABASE`, with `@`, `/`, `?` and `#` of a \
                          password as `%40`, `%2F`, `%3F` and `%23`";

/// Why a program that is built without TLS cannot encrypt.
const WITHOUT_TLS: &str = "the URL asks for an encrypted connection by `sslmode`: build the program with \
                           the feature `tls` or `tls-ring` of hooks-agent";

/// Reads the URL of a database: how to connect, and its place.
///
/// # Errors
/// [`Open`](crate::database::DatabaseErrorKind::Open) if it is not one of PostgreSQL, or asks for what the
/// program is built without. It quotes nothing of the URL but its scheme.
pub fn address(url: &str) -> Result<(PgConnectOptions, Place), DatabaseError> {
    match url.split_once("://") {
        Some(("postgres" | "postgresql", rest)) if !is_cut(rest) => {}
        Some((scheme, _)) if is_foreign(scheme) => {
            let reason = format!("the URL has the scheme `{scheme}`, not `postgres`");
            return Err(DatabaseError::refused(reason));
        }
        _ => return Err(DatabaseError::refused(UNREADABLE)),
    }
    let options =
        PgConnectOptions::from_str(url).map_err(|_| DatabaseError::refused(UNREADABLE))?;
    let encrypts = !matches!(
        options.get_ssl_mode(),
        PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer
    );
    if encrypts && cfg!(not(any(feature = "tls", feature = "tls-ring"))) {
        return Err(DatabaseError::refused(WITHOUT_TLS));
    }
    let place = match (options.get_socket(), options.get_host()) {
        (Some(socket), _) => format!("PostgreSQL at {}", socket.display()),
        (None, folder) if folder.starts_with('/') => format!("PostgreSQL at {folder}"),
        (None, host) => format!("PostgreSQL at {host}:{}", options.get_port()),
    };
    Ok((options.disable_statement_logging(), Place::new(place)))
}

/// Returns whether a character of the password ends the place of the host: what is taken for the host
/// and the port are then parts of the user and the password.
fn is_cut(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !authority.contains('@') && rest.contains('@')
}

fn is_foreign(scheme: &str) -> bool {
    !matches!(scheme, "" | "postgres" | "postgresql")
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
