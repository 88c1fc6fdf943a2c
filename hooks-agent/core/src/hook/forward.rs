//! Methods of a hook that another hook has.

/// Writes methods of [`AgentHook`](crate::hook::AgentHook) that go to another hook: `self`, the trait whose
/// methods are called, the other hook, and the names of the methods.
#[doc(hidden)]
#[macro_export]
macro_rules! __forward_hook {
    ($this:tt => $to:ident, $hook:expr; $($method:ident)+) => {
        $($crate::__forward_hook!(@ $method $this $to $hook);)+
    };
    // The futures of a boxed hook are borrowed for less than the lifetimes of the method.
    (@ future Sealed, $future:expr) => {
        async move { $future.await }
    };
    (@ future $to:ident, $future:expr) => {
        $future
    };
    (@ name $this:tt $to:ident $hook:expr) => {
        fn name(&$this) -> String {
            $to::name($hook)
        }
    };
    (@ priority $this:tt $to:ident $hook:expr) => {
        fn priority(&$this) -> i32 {
            $to::priority($hook)
        }
    };
    (@ order $this:tt $to:ident $hook:expr) => {
        fn order(&$this) -> $crate::hooks_core::HookOrder {
            $to::order($hook)
        }
    };
    (@ events $this:tt $to:ident $hook:expr) => {
        fn events(&$this) -> $crate::event::EventMask {
            $to::events($hook)
        }
    };
    (@ sync_events $this:tt $to:ident $hook:expr) => {
        fn sync_events(&$this) -> $crate::event::EventMask {
            $to::sync_events($hook)
        }
    };
    (@ answers $this:tt $to:ident $hook:expr) => {
        fn answers(&$this) -> $crate::event::EventMask {
            $to::answers($hook)
        }
    };
    (@ not_in_shadow $this:tt $to:ident $hook:expr) => {
        fn not_in_shadow(&$this) -> Option<String> {
            $to::not_in_shadow($hook)
        }
    };
    (@ shadow_parts $this:tt $to:ident $hook:expr) => {
        fn shadow_parts(&$this) -> Vec<$crate::hook::ShadowPart> {
            $to::shadow_parts($hook)
        }
    };
    (@ __shadow $this:tt $to:ident $hook:expr) => {
        fn __shadow(&$this) -> Option<$crate::hook::Shadow> {
            $to::__shadow($hook)
        }
    };
    (@ around $this:tt $to:ident $hook:expr) => {
        fn around(&$this) -> $crate::hook::AroundMask {
            $to::around($hook)
        }
    };
    (@ answers_around $this:tt $to:ident $hook:expr) => {
        fn answers_around(&$this) -> $crate::hook::AroundMask {
            $to::answers_around($hook)
        }
    };
    (@ tools $this:tt $to:ident $hook:expr) => {
        fn tools(&$this) -> $crate::tool::Tools {
            $to::tools($hook)
        }
    };
    (@ inherit $this:tt $to:ident $hook:expr) => {
        fn inherit(&$this) -> bool {
            $to::inherit($hook)
        }
    };
    (@ always $this:tt $to:ident $hook:expr) => {
        fn always(&$this) -> bool {
            $to::always($hook)
        }
    };
    (@ is_parallel $this:tt $to:ident $hook:expr) => {
        fn is_parallel(&$this) -> bool {
            $to::is_parallel($hook)
        }
    };
    (@ once $this:tt $to:ident $hook:expr) => {
        fn once(&$this) -> bool {
            $to::once($hook)
        }
    };
    (@ role $this:tt $to:ident $hook:expr) => {
        fn role(&$this) -> Option<$crate::hooks_core::HookRole> {
            $to::role($hook)
        }
    };
    (@ watcher $this:tt $to:ident $hook:expr) => {
        fn watcher(&$this) -> Option<std::sync::Arc<dyn $crate::hook::HookWatcher>> {
            $to::watcher($hook)
        }
    };
    (@ foreign_guard $this:tt $to:ident $hook:expr) => {
        fn foreign_guard(&$this) -> Option<std::sync::Arc<dyn $crate::call::ForeignGuard>> {
            $to::foreign_guard($hook)
        }
    };
    (@ tool_labels $this:tt $to:ident $hook:expr) => {
        fn tool_labels(&$this) -> Option<$crate::hook::ToolLabels> {
            $to::tool_labels($hook)
        }
    };
    (@ tool_names $this:tt $to:ident $hook:expr) => {
        fn tool_names(&$this) -> Vec<String> {
            $to::tool_names($hook)
        }
    };
    (@ needs_login $this:tt $to:ident $hook:expr) => {
        fn needs_login(&$this) -> bool {
            $to::needs_login($hook)
        }
    };
    (@ plan_check $this:tt $to:ident $hook:expr) => {
        fn plan_check(&$this) -> Option<$crate::hook::PlanCheck> {
            $to::plan_check($hook)
        }
    };
    (@ ends_with_process $this:tt $to:ident $hook:expr) => {
        fn ends_with_process(&$this) -> Option<String> {
            $to::ends_with_process($hook)
        }
    };
    (@ counter $this:tt $to:ident $hook:expr) => {
        fn counter(&$this) -> Option<String> {
            $to::counter($hook)
        }
    };
    (@ on_event $this:tt $to:ident $hook:expr) => {
        fn on_event(
            &$this,
            event: &mut $crate::event::HookEvent<'_>,
        ) -> impl Future<Output = $crate::hooks_core::HookResult<$crate::event::Flow>> + Send {
            $crate::__forward_hook!(@ future $to, $to::on_event($hook, event))
        }
    };
    (@ on_event_now $this:tt $to:ident $hook:expr) => {
        fn on_event_now(
            &$this,
            event: &mut $crate::event::HookEvent<'_>,
        ) -> $crate::hooks_core::HookResult<$crate::event::Flow> {
            $to::on_event_now($hook, event)
        }
    };
    (@ around_model_call $this:tt $to:ident $hook:expr) => {
        fn around_model_call(
            &$this,
            call: $crate::hook::ModelCall<'_>,
            next: $crate::hook::NextModel<'_>,
        ) -> impl Future<Output = Result<$crate::model::ModelAnswer, $crate::error::AgentError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_model_call($hook, call, next))
        }
    };
    (@ around_tool_call $this:tt $to:ident $hook:expr) => {
        fn around_tool_call(
            &$this,
            call: $crate::hook::ToolCall<'_>,
            next: $crate::hook::NextTool<'_>,
        ) -> impl Future<Output = Result<$crate::message::ToolResult, $crate::tool::ToolError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_tool_call($hook, call, next))
        }
    };
    (@ around_permission_check $this:tt $to:ident $hook:expr) => {
        fn around_permission_check(
            &$this,
            check: $crate::hook::PermissionCheck<'_>,
            next: $crate::hook::NextPermission<'_>,
        ) -> impl Future<Output = Result<$crate::tool::Permission, $crate::error::AgentError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_permission_check($hook, check, next))
        }
    };
    (@ around_compression $this:tt $to:ident $hook:expr) => {
        fn around_compression(
            &$this,
            compression: $crate::hook::Compression<'_>,
            next: $crate::hook::NextCompression<'_>,
        ) -> impl Future<Output = Result<$crate::message::Messages, $crate::error::AgentError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_compression($hook, compression, next))
        }
    };
    (@ around_call $this:tt $to:ident $hook:expr) => {
        fn around_call(
            &$this,
            call: $crate::hook::AgentCall<'_>,
            next: $crate::hook::NextCall<'_>,
        ) -> impl Future<Output = Result<$crate::message::Msg, $crate::error::AgentError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_call($hook, call, next))
        }
    };
    (@ around_model_attempt $this:tt $to:ident $hook:expr) => {
        fn around_model_attempt(
            &$this,
            attempt: $crate::hook::ModelAttempt<'_>,
            next: $crate::hook::NextAttempt<'_>,
        ) -> impl Future<Output = Result<$crate::model::ModelAnswer, $crate::error::AgentError>> + Send
        {
            $crate::__forward_hook!(@ future $to, $to::around_model_attempt($hook, attempt, next))
        }
    };
}

pub(crate) use __forward_hook as forward_hook;
