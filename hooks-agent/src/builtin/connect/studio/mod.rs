//! A page that shows what agents do, and takes decisions.
