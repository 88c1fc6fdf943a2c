//! Quotas of policy files.

use std::fmt;

use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::options::{
    EXPECTED, HookOptions, ModelPrice, OptionError, OtherPrice, RegisteredHook, bare_number,
    duration_of, price_table,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use crate::options::{Glob, Name, UserOptions, Zone};
use crate::quotas::hook::Quotas;
use crate::quotas::quota::{Most, Over, Per, Quota, QuotaExit, Within};

inventory::submit!(RegisteredHook::of::<Options>());

/// Quotas: how much may be used in a window of time, those of a policy file, as it has them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default)]
    quotas: Settings,
    /// The quotas.
    quota: Vec<QuotaOptions>,
    /// What their names begin with in the store. Default: nothing.
    prefix: Option<String>,
}

/// What holds for all quotas.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The time zone of days and months, such as `Europe/Berlin`. Default: UTC.
    zone: Option<Zone>,
    /// What models cost, for quotas of money.
    prices: Option<Vec<ModelPrice>>,
    /// What all other models cost. Default: a model without a price is refused.
    other_models: Option<OtherPrice>,
    /// What happens to calls and model calls when a quota is used up. Default: `end`.
    exit: Option<Exit>,
}

/// A quota.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuotaOptions {
    /// A unique name.
    name: Name,
    /// What is counted.
    over: OverOption,
    /// The argument of tool calls that is counted, such as `euros`: with `over = "amount"`.
    argument: Option<String>,
    /// How much may be used; money is in millionths.
    most: Number,
    /// The window of time: `day`, `month`, or the last `"1h"`.
    within: WithinOption,
    /// Who has a quota of an own. Default: all share it.
    per: Option<PerOption>,
    /// Globs of tools, or of `server::tool`; after `!`, those left out. Default: all.
    tools: Option<Vec<Glob>>,
    /// The users for whom it counts. Default: everybody.
    users: Option<UserOptions>,
    /// Globs of called agents, into their sub-agents. Default: all.
    agents: Option<Vec<Glob>>,
    /// Globs of agents, wherever they were called from. Default: all.
    acting: Option<Vec<Glob>>,
    /// Why, for the model and for people.
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OverOption {
    Calls,
    ToolCalls,
    Amount,
    Tokens,
    Money,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PerOption {
    User,
    Team,
    Agent,
    Thread,
    Tool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Exit {
    End,
    Error,
}

/// A number from 0.
#[derive(Clone, Copy)]
enum Number {
    Whole(u64),
    Part(f64),
}

impl JsonSchema for Number {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number::Whole(number))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Number, E> {
                let whole = u64::try_from(number).map(Number::Whole);
                whole.map_err(|_| E::custom(format!("expected a number from 0, found {number}")))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Number, E> {
                Ok(Number::Part(number))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// A window of time.
#[derive(Clone, Copy)]
struct WithinOption(Within);

impl JsonSchema for WithinOption {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Within".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(day|month|[0-9]+(ms|s|m|h))$" })
    }
}

impl<'de> Deserialize<'de> for WithinOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = WithinOption;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`\"day\"`, `\"month\"` or a time such as `\"1h\"`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WithinOption, E> {
                let within = match text {
                    "day" => Some(Within::Day),
                    "month" => Some(Within::Month),
                    text => duration_of(text).map(Within::Time),
                };
                within.map(WithinOption).ok_or_else(|| {
                    let found: String = text.chars().take(64).collect();
                    let found = found.escape_debug();
                    E::custom(format!("{EXPECTED}, or `\"day\"` or `\"month\"`, found `{found}`"))
                })
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<WithinOption, E> {
                Err(E::custom(bare_number(number)))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<WithinOption, E> {
                Err(E::custom(bare_number(number)))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

impl HookOptions for Options {
    const USE: &'static str = "quotas";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let Settings { zone, prices, other_models, exit } = self.quotas;
        let prices = price_table(prices, other_models);
        let prices = prices.map_err(|error| error.below("quotas"))?;
        let mut builder = Quotas::builder().prefix(self.prefix.unwrap_or_default());
        if let Some(prices) = prices {
            builder = builder.prices(prices);
        }
        if let Some(Exit::Error) = exit {
            builder = builder.exit(QuotaExit::Error);
        }
        for (index, options) in self.quota.into_iter().enumerate() {
            let quota = options.into_quota();
            let quota = quota
                .map_err(|(key, why)| OptionError::at(format!("quota[{index}].{key}"), why))?;
            builder = builder.quota(match &zone {
                Some(zone) => quota.zone(zone.0.clone()),
                None => quota,
            });
        }
        match builder.build() {
            Ok(quotas) => Ok(Box::new(quotas)),
            Err(error) => Err(OptionError::many(error.mistakes())),
        }
    }
}

impl QuotaOptions {
    fn into_quota(self) -> Result<Quota, (&'static str, &'static str)> {
        let over = match (self.over, self.argument) {
            (OverOption::Amount, Some(argument)) => Over::Argument(argument),
            (OverOption::Amount, None) => {
                return Err(("over", "`amount` needs the argument; write `argument = \"euros\"`"));
            }
            (_, Some(_)) => return Err(("argument", "expected `over = \"amount\"` beside it")),
            (OverOption::Calls, None) => Over::Calls,
            (OverOption::ToolCalls, None) => Over::ToolCalls,
            (OverOption::Tokens, None) => Over::Tokens,
            (OverOption::Money, None) => Over::Money,
        };
        let most = match (&over, self.most) {
            #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 no amount is exact")]
            (Over::Argument(_), Number::Whole(most)) => Most::Amount(most as f64),
            (Over::Argument(_), Number::Part(most)) => Most::Amount(most),
            (_, Number::Whole(most)) => Most::Whole(most),
            (_, Number::Part(_)) => return Err(("most", "expected a whole number from 0")),
        };
        let mut quota = Quota::new(self.name, over, most).within(self.within.0);
        if let Some(per) = self.per {
            quota = quota.per(match per {
                PerOption::User => Per::User,
                PerOption::Team => Per::Team,
                PerOption::Agent => Per::Agent,
                PerOption::Thread => Per::Thread,
                PerOption::Tool => Per::Tool,
            });
        }
        if let Some(tools) = self.tools {
            quota = quota.tools(tools);
        }
        quota.named.agents = self.agents.map(|globs| globs.into_iter().map(Into::into).collect());
        quota.named.acting = self.acting.map(|globs| globs.into_iter().map(Into::into).collect());
        if let Some(users) = self.users {
            (quota.named.roles, quota.named.not_roles) = users.into_roles();
        }
        Ok(match self.reason {
            Some(reason) => quota.reason(reason),
            None => quota,
        })
    }
}
