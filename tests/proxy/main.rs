//! Tests of the proxy of the API of a model, against a scripted upstream.

mod access;
mod answers;
mod chunked;
mod forms;
mod history;
mod hosted;
mod passing;
mod program;
mod reads;
mod requests;
mod rig;
mod threads;
mod tool_calls;
mod upstreams;
