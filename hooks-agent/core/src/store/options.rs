//! Options of an agent's store.

/// How often a call writes to its store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Each step is written before the next one begins. A call that is cut off goes on where it was.
    #[default]
    Step,
    /// Once, at the end of the call or when it stops. A call that is cut off is as if it had not been:
    /// the effects of its tools stay.
    Call,
}

/// What becomes of a tool call whose process ended while the tool ran, if the tool is not
/// [idempotent](crate::tool::Tool::is_idempotent): whether it took effect is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unknown {
    /// The tool does not run again; the model reads that the outcome is unknown.
    #[default]
    Refuse,
    /// The tool call waits for a person, who may [respond](crate::store::Decision::Respond) with what
    /// happened, [approve](crate::store::Decision::Approve) that it runs again, or
    /// [reject](crate::store::Decision::Reject) it.
    Ask,
}
