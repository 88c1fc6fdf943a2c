//! Hook points as types: a hooked method, what it returns, whether it is async, and its hook types. For
//! code that is generic over them; `#[hookable]` implements what is here.
//!
//! A hook for any async method that may fail, and a function that registers any hook under a prefix:
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use hooks_core::point::HookPoint;
//! use hooks_core::{
//!     HookAnswer, HookError, HookResult, HookTypeOf, Hookable, Hooks, IntoHook, Pre, PreHook, hookable,
//! };
//!
//! struct Quota {
//!     left: AtomicUsize,
//! }
//!
//! impl<A, Args> PreHook<A, Args> for Quota
//! where
//!     A: ?Sized + HookPoint<Args> + Sync,
//!     Args: Send + 'static,
//!     // Where a hook may fail.
//!     HookResult: HookAnswer<Pre<A, Args>>,
//! {
//!     type Answer = HookResult;
//!
//!     async fn run(&self, _: &A, _: &mut Args) -> HookResult {
//!         let take_one = |left: usize| left.checked_sub(1);
//!         let taken = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take_one);
//!         taken.map(drop).map_err(|_| format!("no call of `{}` left", A::METHOD).into())
//!     }
//! }
//!
//! /// `T` is one of the hook types of `A`, `H` a hook of it.
//! fn register_ours<A, T, H, Form>(agent: &A, hook_type: T, name: &str, hook: H)
//! where
//!     A: Hookable,
//!     T: HookTypeOf<A>,
//!     H: IntoHook<T, Form>,
//! {
//!     agent.register_instance_hook(hook_type, format!("ours.{name}"), hook);
//! }
//!
//! #[derive(Hookable, Default)]
//! struct Greeter {
//!     hooks: Hooks,
//! }
//!
//! #[hookable]
//! impl Greeter {
//!     async fn reply(&self, name: &str) -> Result<String, HookError> {
//!         Ok(format!("Hello, {name}"))
//!     }
//! }
//!
//! # futures::executor::block_on(async {
//! let greeter = Greeter::default();
//! register_ours(&greeter, Greeter::PRE_REPLY, "quota", Quota { left: 1.into() });
//! assert_eq!(greeter.reply("Ada").await.unwrap(), "Hello, Ada");
//! let refused = greeter.reply("Ada").await.unwrap_err().to_string();
//! assert_eq!(
//!     refused,
//!     "instance hook `ours.quota` failed at pre_reply: no call of `reply` left"
//! );
//! # });
//! ```

pub(crate) mod call_mode;
pub(crate) mod hook_point;
pub(crate) mod hook_slot;
pub(crate) mod rest;
pub(crate) mod return_kind;

pub use call_mode::{AsyncMethod, BoxFuture, Mode, SyncMethod};
pub use hook_point::{AroundPoint, AsyncBody, HookPoint};
pub use hook_slot::{Around, HookSlot, OnError, OnSettled, Post, Pre};
pub use return_kind::{FallibleMethod, FromHookError, InfallibleMethod, ReturnKind};
