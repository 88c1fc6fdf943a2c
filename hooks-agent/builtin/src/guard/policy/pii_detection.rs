//! Options of [`PiiDetection`].

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, Error, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::guard::pii::{
    Kinds, PiiAllowed, PiiConfidence, PiiFormat, PiiHashKey, PiiKind, PiiStrategy,
};
use crate::guard::pii_detection::PiiDetection;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Finds personal data.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// What is found. Default: all kinds.
    kinds: Option<Vec<Kind>>,
    /// How sure it must be that an identity or tax number is one. Default: medium.
    min_confidence: Option<Confidence>,
    /// Regions whose telephone numbers are found without a country code, such as `DE`. Default: none.
    phone_regions: Option<Vec<String>>,
    /// Values that are found and left as they are. Default: none.
    allow_values: Option<Vec<String>>,
    /// Domains whose addresses and URLs are left as they are. Default: none.
    allow_domains: Option<Vec<String>>,
    /// What becomes of it. Default: redact.
    strategy: Option<Strategy>,
    /// The form of tokens, masks and hashes. Default: keyed.
    format: Option<Format>,
    /// The key of hashes: write `"${env:NAME}"`. Default: random in each process.
    hash_key: Option<String>,
    /// Whether texts of the user are searched. Default: true.
    input: Option<bool>,
    /// Whether texts of the model are searched. Default: false.
    output: Option<bool>,
    /// Whether results of tools are searched. Default: false.
    tool_results: Option<bool>,
    /// Whether arguments of tool calls are searched. Default: false.
    tool_arguments: Option<bool>,
}

/// A kind by its name, or a group of them.
struct Kind(Vec<PiiKind>);

impl Kind {
    const GROUPS: [&str; 6] = ["payment", "network", "us", "eu", "ids", "documents"];

    fn named(name: &str) -> Option<Self> {
        let kinds: Vec<_> = match name {
            "payment" => Kinds::payment().collect(),
            "network" => Kinds::network().collect(),
            "us" => Kinds::us().collect(),
            "eu" => Kinds::eu().collect(),
            "ids" => Kinds::ids().collect(),
            "documents" => Kinds::documents().collect(),
            name => PiiKind::ALL.into_iter().filter(|kind| kind.name() == name).collect(),
        };
        (!kinds.is_empty()).then_some(Self(kinds))
    }
}

/// The names of kinds and groups.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<_> = PiiKind::ALL.iter().map(|kind| kind.name()).collect();
    names.dedup();
    names.extend(Kind::GROUPS);
    names
});

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Kind", &NAMES, KindVisitor)
    }
}

/// Reads the name of a kind or a group. The error of an unknown name has its place in the file.
struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a kind of personal data")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Kind, A::Error> {
        let (name, variant) = access.variant::<String>()?;
        variant.unit_variant()?;
        Kind::named(&name).ok_or_else(|| A::Error::unknown_variant(&name, &NAMES))
    }
}

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A kind of personal data by its name, or a group of them.",
            "type": "string",
            "enum": *NAMES,
        })
    }
}

/// How sure it must be that an identity or tax number is one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Confidence {
    Low,
    Medium,
    High,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Strategy {
    Redact,
    Mask,
    Hash,
    Block,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    Keyed,
    Langchain,
    Spring,
}

impl HookOptions for Options {
    const USE: &'static str = "pii_detection";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = match self.kinds {
            None => PiiDetection::all(),
            Some(kinds) if kinds.is_empty() => {
                let message = "expected at least one kind; leave `kinds` out for all kinds";
                return Err(OptionError::at("kinds", message));
            }
            Some(kinds) => PiiDetection::of(kinds.iter().flat_map(|kind| kind.0.iter().copied())),
        };
        let others = [self.output, self.tool_results, self.tool_arguments];
        if self.input == Some(false) && !others.contains(&Some(true)) {
            let message = "expected something to search; `input` is off, and so is the rest";
            return Err(OptionError::at("input", message));
        }
        if self.hash_key.as_ref().is_some_and(String::is_empty) {
            return Err(OptionError::at("hash_key", "expected a key, found an empty text"));
        }
        let hook = set(hook, self.min_confidence.map(Into::into), PiiDetection::min_confidence);
        let hook = match self.phone_regions {
            None => hook,
            Some(regions) => hook
                .phone_regions(regions)
                .map_err(|error| OptionError::at("phone_regions", error.to_string()))?,
        };
        let hook = hook.allow(allowed(self.allow_values, self.allow_domains));
        let hook = set(hook, self.strategy.map(Into::into), PiiDetection::strategy);
        let hook = set(hook, self.format.map(Into::into), PiiDetection::format);
        let hook = set(hook, self.hash_key.map(PiiHashKey::new), PiiDetection::hash_key);
        let hook = set(hook, self.input, PiiDetection::input);
        let hook = set(hook, self.output, PiiDetection::output);
        let hook = set(hook, self.tool_results, PiiDetection::tool_results);
        Ok(Box::new(set(hook, self.tool_arguments, PiiDetection::tool_arguments)))
    }
}

/// What is left as it is.
pub(super) fn allowed(values: Option<Vec<String>>, domains: Option<Vec<String>>) -> PiiAllowed {
    let allowed = values.into_iter().flatten().fold(PiiAllowed::new(), PiiAllowed::value);
    domains.into_iter().flatten().fold(allowed, PiiAllowed::domain)
}

impl From<Strategy> for PiiStrategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Redact => Self::Redact,
            Strategy::Mask => Self::Mask,
            Strategy::Hash => Self::Hash,
            Strategy::Block => Self::Block,
        }
    }
}

impl From<Format> for PiiFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Keyed => Self::Keyed,
            Format::Langchain => Self::LangChain,
            Format::Spring => Self::Spring,
        }
    }
}

impl From<Confidence> for PiiConfidence {
    fn from(confidence: Confidence) -> Self {
        match confidence {
            Confidence::Low => Self::Low,
            Confidence::Medium => Self::Medium,
            Confidence::High => Self::High,
        }
    }
}
