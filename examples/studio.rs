//! A page that shows what agents do.

fn main() {}
