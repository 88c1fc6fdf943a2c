//! The checks of identity and tax numbers, by region.

pub(crate) mod america;
pub(crate) mod asia;
pub(crate) mod europe_east;
pub(crate) mod europe_north;
pub(crate) mod europe_south;
pub(crate) mod europe_west;
pub(crate) mod vat;
