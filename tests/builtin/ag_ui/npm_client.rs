//! npm_client
