//! Steps that fail, and journals that fail.
