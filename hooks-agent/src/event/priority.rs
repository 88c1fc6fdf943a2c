//! Priorities for hooks: lower runs first. Hooks of the methods and hooks of the events are in one
//! order.

/// What keeps harm away.
pub const SECURITY: i32 = 10;
/// Who may do what.
pub const AUTH: i32 = 20;
/// Whether the input is right.
pub const VALIDATION: i32 = 50;
/// What prepares the input.
pub const PREPROCESSING: i32 = 80;
/// What the program is about.
pub const BUSINESS: i32 = 100;
/// What works on results.
pub const POSTPROCESSING: i32 = 300;
/// What writes down.
pub const LOGGING: i32 = 500;
/// What counts.
pub const METRICS: i32 = 600;

/// The priority of a hook that names none.
pub const DEFAULT: i32 = BUSINESS;
