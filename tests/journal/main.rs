//! What the module `journal` promises.

mod common;
mod cuts;
