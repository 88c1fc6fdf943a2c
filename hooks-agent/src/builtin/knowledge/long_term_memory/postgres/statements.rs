//! Statements of PostgreSQL.

crate::builtin::knowledge::long_term_memory::sql::statements!(
    "unnest($3::text[]) AS words (value)",
    "word = ANY($2::text[])"
);

/// Lets one transaction at a time add entries of a user: two that do not see each other's entries would
/// leave more than the limit.
pub(super) const LOCK_USER: &str = "SELECT pg_advisory_xact_lock($1)";
