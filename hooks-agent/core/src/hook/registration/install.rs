//! Registers event hooks as hooks of an agent's methods. Macros create the closures where all types
//! are known.

/// Registers at a pre hook type. `$apply` applies the flow.
macro_rules! install_pre {
    (
        $target:expr, $hook:expr, $registration:expr, $kind:ident at $hook_type:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &mut $args_type:ty| $event:expr, $apply:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $registration, $kind at $hook_type, hook =>
            move |$agent: &$agent_type, $args: &mut $args_type| {
                let flow = {
                    hook.run_now($crate::event::HookEvent::$kind($event))?
                };
                $apply(hook.named(flow), $args)
            },
            async move |$agent, $args| {
                let flow = {
                    hook.run($crate::event::HookEvent::$kind($event)).await?
                };
                $apply(hook.named(flow), $args)
            }
        )
    };
}
pub(crate) use install_pre;

/// Registers at a post hook type. Does nothing if `$event` is `None`.
macro_rules! install_post {
    (
        $target:expr, $hook:expr, $registration:expr, $kind:ident at $hook_type:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty, $output:ident: &mut $output_type:ty|
        $event:expr, $apply:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $registration, $kind at $hook_type, hook =>
            move |$agent: &$agent_type, $args: &$args_type, $output: &mut $output_type| {
                let flow = {
                    let Some(event) = $event else { return Ok(()) };
                    hook.run_now($crate::event::HookEvent::$kind(event))?
                };
                $apply(hook.named(flow), $output)
            },
            async move |$agent, $args, $output| {
                let flow = {
                    let Some(event) = $event else { return Ok(()) };
                    hook.run($crate::event::HookEvent::$kind(event)).await?
                };
                $apply(hook.named(flow), $output)
            }
        )
    };
}
pub(crate) use install_post;

/// Registers at an error hook type. `$fits` converts a substitute into the output.
macro_rules! install_error {
    (
        $target:expr, $hook:expr, $registration:expr, $hook_type:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty, $error:ident: &mut $error_type:ty|
        $phase:expr, unless $skip:expr, $fits:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $registration, Error at $hook_type, hook =>
            move |$agent: &$agent_type, $args: &$args_type, $error: &mut $error_type| {
                if $skip {
                    return hooks_core::Recovery::Fail;
                }
                let ended = {
                    let event =
                        $crate::event::ErrorEvent::new($agent, &$args.cx, $phase, &*$error);
                    let event = $crate::event::HookEvent::Error(event);
                    $crate::hook::contained_now(|| hook.run_now(event))
                };
                $crate::hook::recover(ended, &$args.cx, |substitute| $fits(substitute))
            },
            async move |$agent, $args, $error| {
                if $skip {
                    return hooks_core::Recovery::Fail;
                }
                let ended = {
                    let event =
                        $crate::event::ErrorEvent::new($agent, &$args.cx, $phase, &*$error);
                    let event = $crate::event::HookEvent::Error(event);
                    $crate::hook::contained(hook.run(event)).await
                };
                $crate::hook::recover(ended, &$args.cx, |substitute| $fits(substitute))
            }
        )
    };
}
pub(crate) use install_error;

/// Registers at a method that only reports: a failure is logged and does not affect the call.
macro_rules! install_look {
    (
        $target:expr, $hook:expr, $registration:expr, $kind:ident at $hook_type:expr,
        |$agent:ident: &$agent_type:ty, $args:ident: &$args_type:ty| $event:expr
    ) => {
        $crate::hook::install_one!($target, $hook, $registration, $kind at $hook_type, hook =>
            move |$agent: &$agent_type, $args: &mut $args_type| {
                let event = $crate::event::HookEvent::$kind($event);
                let ended = $crate::hook::contained_now(|| hook.run_now(event));
                $crate::hook::report(ended, $crate::event::EventKind::$kind, &*hook.hook);
            },
            async move |$agent, $args| {
                let event = $crate::event::HookEvent::$kind($event);
                let ended = $crate::hook::contained(hook.run(event)).await;
                $crate::hook::report(ended, $crate::event::EventKind::$kind, &*hook.hook);
            }
        )
    };
}
pub(crate) use install_look;

/// Registers the sync or the async closure, by the hook's `sync_events`.
macro_rules! install_one {
    (
        $target:expr, $hook:expr, $registration:expr, $kind:ident at $hook_type:expr,
        $inner:ident => $now:expr, $waits:expr
    ) => {
        if $registration.events.contains($crate::event::EventKind::$kind) {
            let level = $crate::hook::level_of($target);
            let $inner = $crate::hook::Installed::new($hook, $registration, level);
            let options = $registration.options_at($crate::event::EventKind::$kind);
            let options = $inner.attached_to(options, $crate::event::EventKind::$kind);
            if $registration.runs_now($crate::event::EventKind::$kind) {
                $target.register($hook_type, options, $now);
            } else {
                let hook = hooks_core::hook!($hook_type, $waits);
                $target.register($hook_type, options, hook);
            }
        }
    };
}
pub(crate) use install_one;

/// Registers a hook at the methods that every agent has. With `knows_phases`, an error that error
/// hooks received in its phase is not reported again.
macro_rules! install_call {
    (
        $agent_type:ty, $target:expr, $hook:expr, $registration:expr,
        knows_phases: $knows_phases:expr
    ) => {
        $crate::hook::install_pre!(
            $target, $hook, $registration, PreCall at <$agent_type>::PRE_REPLY,
            |agent: &$agent_type, args: &mut $crate::agent::AgentReplyArgs|
            $crate::event::PreCall::new(agent, &args.cx, &mut args.messages),
            |flow, _: &mut _| $crate::hook::answered(flow));
        $crate::hook::install_post!(
            $target, $hook, $registration, PostCall at <$agent_type>::POST_REPLY,
            |agent: &$agent_type, args: &$crate::agent::AgentReplyArgs, reply: &mut $crate::message::Msg|
            Some($crate::event::PostCall::new(agent, &args.cx, reply)),
            |flow, _: &mut _| $crate::hook::no_flow(flow, $crate::event::EventKind::PostCall));
        $crate::hook::install_error!($target, $hook, $registration, <$agent_type>::ERROR_REPLY,
            |agent: &$agent_type, args: &$crate::agent::AgentReplyArgs,
             error: &mut $crate::error::AgentError|
            $crate::event::ErrorPhase::Call,
            unless $knows_phases && $crate::hook::was_reported(&args.cx, error),
            $crate::hook::message_of);
        if $registration.events.contains($crate::event::EventKind::Settled) {
            let level = $crate::hook::level_of($target);
            let hook = $crate::hook::Installed::new($hook, $registration, level);
            let options = $registration.options_at($crate::event::EventKind::Settled);
            $target.register(
                <$agent_type>::PRE_SETTLED,
                options,
                move |agent: &$agent_type, args: &mut $crate::agent::AgentSettledArgs| {
                    let event = $crate::event::Settled::new(agent, &args.cx, &args.outcome);
                    $crate::hook::settle_now(&hook, $crate::event::HookEvent::Settled(event));
                },
            );
        }
    };
}
pub(crate) use install_call;
