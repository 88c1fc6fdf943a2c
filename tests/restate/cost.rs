//! What a durable call costs.
