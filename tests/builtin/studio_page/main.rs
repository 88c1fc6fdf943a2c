//! The page of the studio, in a browser.
