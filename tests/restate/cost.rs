//! The cost of a durable call.
