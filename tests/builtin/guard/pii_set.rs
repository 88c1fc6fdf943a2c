//! Recall and precision.
