//! Statements of SQLite.

crate::builtin::knowledge::long_term_memory::sql::statements!(
    "json_each($3) AS words",
    "word IN (SELECT value FROM json_each($2))"
);
