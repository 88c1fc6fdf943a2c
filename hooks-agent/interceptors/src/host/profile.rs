//! Composition: several interceptors, one verdict.

use agent_hooks::{CompositionConfig, CompositionProfile, OnApproval, SynthesisPolicy};

/// How the verdicts of several interceptors become one (section 7 of the specification), with what each way may
/// be told. In all of them a failure of an interceptor is a deny of it.
///
/// ```
/// use hooks_agent::interceptors::Profile;
/// use hooks_agent::interceptors::agent_hooks::OnApproval;
///
/// assert_eq!(Profile::default(), Profile::FirstDeny { on_approval: OnApproval::Stop });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// One after the other, each with what those before it made of the context; the first deny ends it.
    FirstDeny {
        /// What an approval of that deny does: it decides, and the interceptors after it never run, or it stands for
        /// that verdict, and the others run.
        on_approval: OnApproval,
    },
    /// One after the other, all of them; the strictest verdict decides.
    RunAll,
    /// Each with the same context; the strictest verdict decides.
    Strictest {
        /// What two transforms come to: a deny, or a question.
        on_transform_conflict: SynthesisPolicy,
    },
    /// Each with the same context; all must allow.
    Unanimous {
        /// What anything else comes to: a deny, or a question.
        on_disagreement: SynthesisPolicy,
    },
}

/// [`FirstDeny`](Profile::FirstDeny), where an approval decides: the default of the specification.
impl Default for Profile {
    fn default() -> Self {
        Self::FirstDeny { on_approval: OnApproval::Stop }
    }
}

impl From<Profile> for CompositionConfig {
    fn from(profile: Profile) -> Self {
        let of = |profile| Self {
            profile,
            on_approval: None,
            on_disagreement: None,
            on_transform_conflict: None,
        };
        match profile {
            Profile::FirstDeny { on_approval } => Self {
                on_approval: Some(on_approval),
                ..of(CompositionProfile::SequentialFirstDeny)
            },
            Profile::RunAll => of(CompositionProfile::SequentialRunAll),
            Profile::Strictest { on_transform_conflict } => Self {
                on_transform_conflict: Some(on_transform_conflict),
                ..of(CompositionProfile::ParallelStrictest)
            },
            Profile::Unanimous { on_disagreement } => Self {
                on_disagreement: Some(on_disagreement),
                ..of(CompositionProfile::ParallelUnanimous)
            },
        }
    }
}

/// What the configuration leaves open has the value of the specification: stop, and deny.
impl From<CompositionConfig> for Profile {
    fn from(config: CompositionConfig) -> Self {
        match config.profile {
            CompositionProfile::SequentialFirstDeny => {
                Self::FirstDeny { on_approval: config.on_approval.unwrap_or(OnApproval::Stop) }
            }
            CompositionProfile::SequentialRunAll => Self::RunAll,
            CompositionProfile::ParallelStrictest => Self::Strictest {
                on_transform_conflict: config
                    .on_transform_conflict
                    .unwrap_or(SynthesisPolicy::Deny),
            },
            CompositionProfile::ParallelUnanimous => Self::Unanimous {
                on_disagreement: config.on_disagreement.unwrap_or(SynthesisPolicy::Deny),
            },
        }
    }
}
