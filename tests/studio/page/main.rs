//! The page of the studio, in a browser.
//!
//! Each test opens a browser of its own. Without `chromium` and `chromedriver` the tests print that
//! they are skipped.

mod approvals;
mod content;
mod keyboard;
mod large;
mod links;
mod live;
mod look;
mod support;
