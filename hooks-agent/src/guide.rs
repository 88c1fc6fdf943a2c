//! Pages that explain one thing at length.
//!
//! Each page is a file that reads well by itself too. Its links are those of the file, and here those of
//! `docs/links.md`, which comes first: of two definitions of a link, the first one holds.

macro_rules! pages {
    ($($name:ident: $file:literal,)*) => {$(
        #[doc = include_str!("../docs/links.md")]
        #[doc = include_str!($file)]
        pub mod $name {}
    )*};
}

pages! {
    agents: "../docs/agents.md",
    events: "../docs/events.md",
    stores: "../docs/stores.md",
    builtin_guard: "../docs/builtin_guard.md",
    builtin_people: "../docs/builtin_people.md",
    builtin_limit: "../docs/builtin_limit.md",
    builtin_recover: "../docs/builtin_recover.md",
    builtin_context: "../docs/builtin_context.md",
    builtin_knowledge: "../docs/builtin_knowledge.md",
    builtin_answer: "../docs/builtin_answer.md",
    builtin_control: "../docs/builtin_control.md",
    builtin_observe: "../docs/builtin_observe.md",
    studio: "../docs/studio.md",
    ag_ui: "../docs/ag_ui.md",
    otel: "../docs/otel.md",
    command: "../docs/command.md",
    policy: "../docs/policy.md",
    rules: "../docs/rules.md",
    provenance: "../docs/provenance.md",
    provenance_scores: "../docs/provenance_scores.md",
    replay: "../docs/replay.md",
    guest: "../docs/guest.md",
    guest_agents: "../docs/guest_agents.md",
    mcp_proxy: "../docs/mcp_proxy.md",
    proxy: "../docs/proxy.md",
    interceptors: "../docs/interceptors.md",
    journal: "../docs/journal.md",
    semver: "../docs/semver.md",
}
