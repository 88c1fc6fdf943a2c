//! Every example is built, and the first one stays light and answers rightly.

mod built;
mod manifest;
mod quickstart;
