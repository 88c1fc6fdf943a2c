//! What runs come to: the first view of the page.

mod report;
mod rows;
mod steps;

pub(super) use report::{Numbers, Overview, STEPS};
pub(super) use steps::Steps;
