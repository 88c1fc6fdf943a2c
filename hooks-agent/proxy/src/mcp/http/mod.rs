//! The transport Streamable HTTP: an endpoint for agents, and requests to a server behind a URL.

mod entrance;
mod events;
mod forward;
mod router;
mod sessions;
mod stream;
mod upstream;
