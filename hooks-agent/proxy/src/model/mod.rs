//! The proxy of the API of a model: `server` takes a request, `request/` guards it, `upstream` sends it, `answer/` guards
//! what comes back. `guarded/` asks the hooks.

mod access;
mod answer;
mod error;
mod guarded;
mod proxy;
mod refusal;
mod request;
mod route;
mod server;
mod upstream;

pub use error::ProxyError;
pub use guarded::ProxyThreads;
pub use proxy::ModelProxy;
pub use route::Provider;
