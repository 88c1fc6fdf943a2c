//! A page that shows what agents do, and takes decisions.

#[expect(dead_code, reason = "the server is next")]
mod page;
