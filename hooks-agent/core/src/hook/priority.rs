//! Priorities of hooks: lower runs first. Hooks of methods and hooks of events run in one order.
//!
//! | priority | |
//! |---|---|
//! | [`SECURITY`] | 10 |
//! | [`AUTH`] | 20 |
//! | [`VALIDATION`] | 50 |
//! | [`PREPROCESSING`] | 80 |
//! | [`BUSINESS`], [`DEFAULT`] | 100 |
//! | [`POSTPROCESSING`] | 300 |
//! | [`LOGGING`] | 500 |
//! | [`METRICS`] | 600 |

/// For security checks.
pub const SECURITY: i32 = 10;
/// For authorization.
pub const AUTH: i32 = 20;
/// For validation of the input.
pub const VALIDATION: i32 = 50;
/// For preparation of the input.
pub const PREPROCESSING: i32 = 80;
/// For the program's own logic.
pub const BUSINESS: i32 = 100;
/// For processing of results.
pub const POSTPROCESSING: i32 = 300;
/// For logging.
pub const LOGGING: i32 = 500;
/// For metrics.
pub const METRICS: i32 = 600;

/// The priority of a hook that sets none.
pub const DEFAULT: i32 = BUSINESS;
