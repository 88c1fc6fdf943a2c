//! Plans and hook types for `serde`: to be sent to a dashboard, to be read from configuration.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::hook_order::HookOrder;
use crate::hook_type::{HookType, Level, Phase};
use crate::plan::hook_plan::{HookPlan, PlannedHook};
use crate::registry::linked::LinkedClassHook;

/// As its text: `"pre_reply"`.
impl Serialize for HookType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From its text: `"pre_reply"`.
impl<'de> Deserialize<'de> for HookType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// As its text: `"pre"`.
impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// From its text: `"pre"`.
impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// From its text: `"class"`.
impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// As its text: `"class"`.
impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// `{"agent": "Assistant", "hooks": [..]}`
impl Serialize for HookPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plan = serializer.serialize_struct("HookPlan", 2)?;
        plan.serialize_field("agent", self.agent())?;
        plan.serialize_field("hooks", self.hooks())?;
        plan.end()
    }
}

/// `{"type": "pre_reply", "level": "class", "name": "audit", "priority": 100, "registered_at":
/// "src/main.rs:7"}`, and `"order": {"before": ["pii"]}` if it asks where to stand.
impl Serialize for PlannedHook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hook =
            serializer.serialize_struct("PlannedHook", 5 + usize::from(self.order().is_some()))?;
        hook.serialize_field("type", self.hook_type())?;
        hook.serialize_field("level", &self.level())?;
        hook.serialize_field("name", self.name())?;
        hook.serialize_field("priority", &self.priority())?;
        hook.serialize_field("registered_at", &self.registered_at())?;
        match self.order() {
            Some(order) => hook.serialize_field("order", order)?,
            None => hook.skip_field("order")?,
        }
        hook.end()
    }
}

/// `{"before": ["pii"], "requires": ["audit"]}`
impl Serialize for HookOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (relation, name) in self.relations() {
            named.entry(relation.as_str()).or_default().push(name);
        }
        named.serialize(serializer)
    }
}

/// `{"agent": "Assistant", "type": "pre_reply", "name": "audit", "priority": 100, "module":
/// "app::audit", "registered_at": "src/audit.rs:7"}`
impl Serialize for LinkedClassHook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hook = serializer.serialize_struct("LinkedClassHook", 6)?;
        hook.serialize_field("agent", self.agent())?;
        hook.serialize_field("type", self.hook_type())?;
        hook.serialize_field("name", self.name())?;
        hook.serialize_field("priority", &self.priority())?;
        hook.serialize_field("module", self.module())?;
        hook.serialize_field("registered_at", &self.registered_at())?;
        hook.end()
    }
}
