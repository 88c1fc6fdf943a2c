//! Questions to people, also over restarts of the worker and of the server.
