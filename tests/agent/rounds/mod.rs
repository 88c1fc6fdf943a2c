//! What a round makes of the answers of a model, and of failures.

mod failures;
mod finish_reasons;
mod random_stories;
mod react_loop;
mod recorded_errors;
mod unfinished_answers;
