//! The server of the studio.
