//! Skills: folders with instructions, which the model reads when it needs them.

mod builder;
mod error;
mod file;
mod front_matter;
mod hook;
mod loaded;
mod root;
mod skill;
mod snapshot;
mod stamp;
mod tool;

pub use builder::SkillsBuilder;
pub use error::{SkillError, SkillsError};
pub use hook::Skills;
pub use skill::Skill;
