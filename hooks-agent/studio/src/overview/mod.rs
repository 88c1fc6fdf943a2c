//! The first view of the page: the numbers of all runs.

mod report;
mod rows;
mod steps;

pub(super) use report::{Numbers, Overview, STEPS};
pub(super) use steps::Steps;
