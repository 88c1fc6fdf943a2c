//! The codes of databases: their class, their cause and the cure.

/// Returns the cause and the cure of a code: of five characters for PostgreSQL, a number for SQLite.
pub(crate) fn cause_of_code(code: &str) -> Option<&'static str> {
    if code.len() == 5 { of_postgres(code) } else { of_sqlite(code) }
}

fn of_postgres(code: &str) -> Option<&'static str> {
    Some(match code {
        "28P01" | "28000" => "the user or the password is refused: check them in the URL",
        "3D000" => "there is no such database: create it first",
        "3F000" => "there is no such schema: migrate with a user that may create it",
        "42501" => {
            "the user has no right to this: grant it on the schema and its tables, or migrate as \
             their owner"
        }
        "42P01" | "42703" => {
            "a table or a column is missing: the schema is not that of a store, or was changed"
        }
        "42P07" => "the schema has a table of another program: name another one",
        "25006" => {
            "the server only reads, as a replica does: connect to the primary, or open the store \
             with `read_only`"
        }
        "53100" => "the disk of the server is full: make space",
        "53200" => "the server has no memory left",
        "53300" => {
            "the server has no connection left: lower `connections`, or raise its `max_connections`"
        }
        "55P03" | "57014" => {
            "a statement took longer than its limit: another transaction holds a lock, or there is \
             too much to do; raise `statement_timeout`, or `maintenance_timeout` for operators"
        }
        "57P01" | "57P02" | "57P05" => "the server ended the connection",
        "57P03" => "the server starts or shuts down",
        "40001" | "40P01" => "another transaction was in the way",
        "25P03" => "the server ended a transaction that was idle for too long",
        _ => return None,
    })
}

/// The low byte of a code is the primary one.
fn of_sqlite(code: &str) -> Option<&'static str> {
    Some(match code.parse::<u32>().ok()? & 0xff {
        1 => "a statement does not fit the tables: they are not those of a store, or were changed",
        3 | 23 => "the rights to the file are missing",
        5 | 6 => {
            "it is locked: another process writes to it for longer than `busy_timeout`, or holds it \
             alone"
        }
        8 => "it or its folder is read-only: allow to write them, or open it with `read_only`",
        10 => "the disk cannot be read or written",
        11 => "the database is damaged: restore a backup",
        13 => "there is no space left: make some",
        14 => "it or its folder cannot be opened: check the path and the rights",
        19 => "a row does not fit the tables: another program wrote to them",
        26 => "it is not a database",
        _ => return None,
    })
}

/// The class of a code.
pub(crate) enum Class {
    Full,
    Transient,
    Other,
}

/// Classifies a code: of five characters for PostgreSQL, a number for SQLite.
pub(crate) fn class_of_code(code: &str) -> Class {
    if code.len() == 5 {
        return match code {
            "53100" => Class::Full,
            // Serialization failures and deadlocks; a lock that is not available; a statement that was
            // cancelled; a transaction that was idle for too long; a server that shuts down, starts or
            // has too many connections.
            "40001" | "40P01" | "55P03" | "57014" | "25P03" => Class::Transient,
            _ if ["57P", "53", "08"].iter().any(|class| code.starts_with(class)) => {
                Class::Transient
            }
            _ => Class::Other,
        };
    }
    // The low byte is the primary code.
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(13) => Class::Full,
        // Busy, locked, a file that cannot be opened now.
        Ok(5 | 6 | 14) => Class::Transient,
        _ => Class::Other,
    }
}
