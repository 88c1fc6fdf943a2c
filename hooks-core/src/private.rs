//! Items that macro expansions name. Nothing here is public API.

pub use std::borrow::ToOwned;
pub use std::boxed::Box;
pub use std::clone::Clone;
pub use std::convert::{AsRef, Infallible as Never, Into};
pub use std::option::Option;
pub use std::string::{String, ToString};
pub use std::sync::Arc;
pub use std::vec::Vec;

pub use inventory;
#[cfg(feature = "json")]
pub use serde;

pub use crate::dispatch::receiver::{ExclusiveReceiver, SharedReceiver};
pub use crate::dispatch::run::{run, run_alone};
pub use crate::dispatch::run_now::{run_sync, run_sync_alone};
pub use crate::dispatch::snapshot::is_unhooked;
pub use crate::expansion::arguments::{
    CloneArg, ShowAny, ShowDebug, Shown, StdCow, borrowed, collect,
};
pub use crate::expansion::future::{EitherFuture, boxed, sendable};
pub use crate::expansion::link::{class_of, describe, link, type_id};
pub use crate::expansion::refused::{Refused, refused};
pub use crate::expansion::trait_method::{TraitMethod, method};
pub use crate::hook::around::{DynCall, Running};
#[cfg(feature = "json")]
pub use crate::json::JsonPoint;
pub use crate::point::call_mode::{AsyncMethod, SyncMethod};
pub use crate::point::hook_point::Reentry;
pub use crate::point::rest::{Carried, Found, FoundNow};
pub use crate::point::return_kind::{FallibleMethod, InfallibleMethod};
pub use crate::registry::class::{ClassHooks, LinkedHook};
pub use crate::registry::methods::{HookedMethod, HookedMethods, assert_unhooked};
