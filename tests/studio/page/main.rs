//! The page of the studio, in a browser.
//!
//! Each test opens a browser of its own. Without `chromium` and `chromedriver` the tests print that
//! they are skipped.

mod approvals;
mod axe;
mod compare;
mod content;
mod history;
mod keyboard;
mod large;
mod links;
mod live;
mod look;
mod overview;
mod requests;
mod roles;
mod support;
mod tabs;
mod threads;
mod time;
mod workers;
