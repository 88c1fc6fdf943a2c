//! Options of [`PiiDetection`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::pii::{PiiFormat, PiiHashKey, PiiKind, PiiStrategy};
use crate::guard::pii_detection::PiiDetection;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Finds personal data.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// What is found. Default: all kinds.
    kinds: Option<Vec<Kind>>,
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

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Email,
    CreditCard,
    Ip,
    MacAddress,
    Url,
    Phone,
    Iban,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Strategy {
    Redact,
    Mask,
    Hash,
    Block,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
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
            Some(kinds) => PiiDetection::of(kinds.iter().flat_map(Kind::kinds).copied()),
        };
        let others = [self.output, self.tool_results, self.tool_arguments];
        if self.input == Some(false) && !others.contains(&Some(true)) {
            let message = "expected something to search; `input` is off, and so is the rest";
            return Err(OptionError::at("input", message));
        }
        if self.hash_key.as_ref().is_some_and(String::is_empty) {
            return Err(OptionError::at("hash_key", "expected a key, found an empty text"));
        }
        let hook = set(hook, self.strategy.map(Into::into), PiiDetection::strategy);
        let hook = set(hook, self.format.map(Into::into), PiiDetection::format);
        let hook = set(hook, self.hash_key.map(PiiHashKey::new), PiiDetection::hash_key);
        let hook = set(hook, self.input, PiiDetection::input);
        let hook = set(hook, self.output, PiiDetection::output);
        let hook = set(hook, self.tool_results, PiiDetection::tool_results);
        Ok(Box::new(set(hook, self.tool_arguments, PiiDetection::tool_arguments)))
    }
}

impl Kind {
    fn kinds(&self) -> &'static [PiiKind] {
        match self {
            Self::Email => &[PiiKind::Email],
            Self::CreditCard => &[PiiKind::CreditCard],
            Self::Ip => &[PiiKind::Ipv4, PiiKind::Ipv6],
            Self::MacAddress => &[PiiKind::MacAddress],
            Self::Url => &[PiiKind::Url],
            Self::Phone => &[PiiKind::Phone],
            Self::Iban => &[PiiKind::Iban],
        }
    }
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
