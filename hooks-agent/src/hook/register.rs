//! Registers event hooks as hooks of an agent's methods. Macros create the closures where all types
//! are known.

/// Registers at a pre hook type. `$apply` applies the flow.
macro_rules! install_pre {
    (
        $target:expr, $hook:expr, $place:expr, $kind:ident at $slot:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &mut $args_type:ty| $event:expr, $apply:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $place, $kind at $slot, hook =>
            move |$agent: &$agent_type, $args: &mut $args_type| {
                let flow = {
                    let mut event = $crate::event::HookEvent::$kind($event);
                    hook.on_event_now(&mut event)?
                };
                $apply(flow, $args)
            },
            async move |$agent, $args| {
                let flow = {
                    let mut event = $crate::event::HookEvent::$kind($event);
                    hook.on_event(&mut event).await?
                };
                $apply(flow, $args)
            }
        )
    };
}
pub(crate) use install_pre;

/// Registers at a post hook type. Does nothing if `$event` is `None`.
macro_rules! install_post {
    (
        $target:expr, $hook:expr, $place:expr, $kind:ident at $slot:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty, $output:ident: &mut $output_type:ty|
        $event:expr, $apply:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $place, $kind at $slot, hook =>
            move |$agent: &$agent_type, $args: &$args_type, $output: &mut $output_type| {
                let flow = {
                    let Some(event) = $event else { return Ok(()) };
                    hook.on_event_now(&mut $crate::event::HookEvent::$kind(event))?
                };
                $apply(flow, $output)
            },
            async move |$agent, $args, $output| {
                let flow = {
                    let Some(event) = $event else { return Ok(()) };
                    hook.on_event(&mut $crate::event::HookEvent::$kind(event)).await?
                };
                $apply(flow, $output)
            }
        )
    };
}
pub(crate) use install_post;

/// Registers at an error hook type. `$fits` converts a substitute into the output.
macro_rules! install_error {
    (
        $target:expr, $hook:expr, $place:expr, $slot:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty, $error:ident: &mut $error_type:ty|
        $phase:expr, unless $skip:expr, $fits:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $place, Error at $slot, hook =>
            move |$agent: &$agent_type, $args: &$args_type, $error: &mut $error_type| {
                if $skip {
                    return hooks_core::Recovery::Fail;
                }
                let ended = {
                    let event =
                        $crate::event::ErrorEvent::new($agent, &$args.cx, $phase, &*$error);
                    let mut event = $crate::event::HookEvent::Error(event);
                    $crate::hook::contained_now(|| hook.on_event_now(&mut event))
                };
                $crate::hook::recover(&$args.cx, $phase, ended, $error, |substitute| $fits(substitute))
            },
            async move |$agent, $args, $error| {
                if $skip {
                    return hooks_core::Recovery::Fail;
                }
                let ended = {
                    let event =
                        $crate::event::ErrorEvent::new($agent, &$args.cx, $phase, &*$error);
                    let mut event = $crate::event::HookEvent::Error(event);
                    $crate::hook::contained(hook.on_event(&mut event)).await
                };
                $crate::hook::recover(&$args.cx, $phase, ended, $error, |substitute| $fits(substitute))
            }
        )
    };
}
pub(crate) use install_error;

/// Registers at a method that only reports: a failure is logged and does not affect the call.
macro_rules! install_look {
    (
        $target:expr, $hook:expr, $place:expr, $kind:ident at $slot:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty| $event:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $place, $kind at $slot, hook =>
            move |$agent: &$agent_type, $args: &mut $args_type| {
                let mut event = $crate::event::HookEvent::$kind($event);
                let ended = $crate::hook::contained_now(|| hook.on_event_now(&mut event));
                $crate::hook::report(ended, $crate::event::EventKind::$kind, &*hook);
            },
            async move |$agent, $args| {
                let mut event = $crate::event::HookEvent::$kind($event);
                let ended = $crate::hook::contained(hook.on_event(&mut event)).await;
                $crate::hook::report(ended, $crate::event::EventKind::$kind, &*hook);
            }
        )
    };
}
pub(crate) use install_look;

/// Registers the sync or the async closure, by the hook's `sync_events`.
macro_rules! install_one {
    (
        $target:expr, $hook:expr, $place:expr, $kind:ident at $slot:expr,
        $inner:ident => $now:expr, $waits:expr
    ) => {
        if $place.events.contains($crate::event::EventKind::$kind) {
            let $inner = $hook.clone();
            let options = $place.options();
            if $place.sync_events.contains($crate::event::EventKind::$kind) {
                $target.register_instance_hook($slot, options, $now);
            } else {
                $target.register_instance_hook($slot, options, hooks_core::hook!($slot, $waits));
            }
        }
    };
}
pub(crate) use install_one;

/// Registers a hook at the methods that every agent has.
macro_rules! install_call {
    ($agent_type:ty, $target:expr, $hook:expr, $place:expr, tells_inside: $tells_inside:expr) => {
        $crate::hook::install_pre!($target, $hook, $place, PreCall at <$agent_type>::PRE_REPLY,
            |agent: &$agent_type, args: &mut $crate::agent::AgentReplyArgs|
            $crate::event::PreCall::new(agent, &args.cx, &mut args.messages),
            |flow, _: &mut _| $crate::hook::answered(flow));
        $crate::hook::install_post!($target, $hook, $place, PostCall at <$agent_type>::POST_REPLY,
            |agent: &$agent_type, args: &$crate::agent::AgentReplyArgs, reply: &mut $crate::message::Msg|
            Some($crate::event::PostCall::new(agent, &args.cx, reply)),
            |flow, _: &mut _| $crate::hook::no_flow(flow, $crate::event::EventKind::PostCall));
        $crate::hook::install_error!($target, $hook, $place, <$agent_type>::ERROR_REPLY,
            |agent: &$agent_type, args: &$crate::agent::AgentReplyArgs,
             error: &mut $crate::error::AgentError|
            $crate::event::ErrorPhase::Call, unless $tells_inside && args.cx.was_told(&*error),
            $crate::hook::message_of);
        if $place.events.contains($crate::event::EventKind::Settled) {
            let hook = $hook.clone();
            let options = $place.options();
            $target.register_instance_hook(
                <$agent_type>::PRE_SETTLED,
                options,
                move |agent: &$agent_type, args: &mut $crate::agent::AgentSettledArgs| {
                    let event = $crate::event::Settled::new(agent, &args.cx, &args.outcome);
                    $crate::hook::settle_now(&*hook, &mut $crate::event::HookEvent::Settled(event));
                },
            );
        }
    };
}
pub(crate) use install_call;
