//! Threads of a call with a journal, also in stores.
