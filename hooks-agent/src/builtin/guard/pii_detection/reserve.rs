//! Tokens that stand in messages already, and are not to be given out again.

use serde_json::Value;

use crate::builtin::guard::pii_detection::vault::{Key, Vault};
use crate::message::{ContentBlock, Messages, ToolResult};

impl Vault {
    /// Reserves the tokens in these messages that the thread does not know: of another process, of a
    /// forgotten thread, or written by the user or the model.
    pub(super) fn reserve(&self, key: &Key, messages: &Messages) {
        for block in messages.iter().flat_map(|msg| &msg.content) {
            match block {
                ContentBlock::Text { text } => self.reserve_in(key, text),
                ContentBlock::Thinking { thinking, .. } => self.reserve_in(key, thinking),
                ContentBlock::ToolUse(call) => self.reserve_in_value(key, &call.input),
                ContentBlock::ToolResult(result) => self.reserve_in_result(key, result),
                _ => {}
            }
        }
    }

    fn reserve_in_result(&self, key: &Key, result: &ToolResult) {
        self.reserve_in(key, result.output.as_str());
        for block in result.output.blocks() {
            if let ContentBlock::Text { text } = block {
                self.reserve_in(key, text);
            }
        }
        if let Some(value) = result.output.structured() {
            self.reserve_in_value(key, value);
        }
    }

    fn reserve_in_value(&self, key: &Key, value: &Value) {
        match value {
            Value::String(text) => self.reserve_in(key, text),
            Value::Array(values) => {
                for value in values {
                    self.reserve_in_value(key, value);
                }
            }
            Value::Object(fields) => {
                for value in fields.values() {
                    self.reserve_in_value(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn reserve_in(&self, key: &Key, text: &str) {
        for token in text.split('[').skip(1).filter_map(|rest| rest.split_once(']')) {
            if let Some((label, number)) = token.0.rsplit_once('_')
                && let Ok(number) = number.parse::<u32>()
            {
                self.reserve_token(key, label, number as usize);
            }
        }
    }
}
