//! Rounds of a call: answers of a model, and failures.

mod failures;
mod finish_reasons;
mod random_stories;
mod react_loop;
mod recorded_errors;
mod unfinished_answers;
