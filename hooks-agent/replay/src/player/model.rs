//! A model that answers with what a tape has.

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::Duration;

use futures::{StreamExt, stream};
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream};
use serde_json::Value;

use crate::format::{ModelLine, Played, played};

/// The model of one entry. It answers once.
pub(crate) struct RecordedModel {
    name: String,
    provider: String,
    chunks: Mutex<Vec<Played>>,
    wait: Duration,
}

impl RecordedModel {
    /// Reads the answer of a line. If `is_timed`, the first chunk comes after the recorded time.
    pub(crate) fn of<R>(line: &ModelLine<R, Value>, is_timed: bool) -> Result<Self, String> {
        let wait = if is_timed { line.ms } else { 0 };
        Ok(Self {
            name: line.model.clone().unwrap_or_else(|| "unknown".to_owned()),
            provider: line.provider.clone().unwrap_or_else(|| "unknown".to_owned()),
            chunks: Mutex::new(played(&line.chunks)?),
            wait: Duration::from_millis(wait),
        })
    }
}

impl ChatModel for RecordedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> Cow<'static, str> {
        Cow::Owned(self.provider.clone())
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let chunks = self.chunks.lock().map(|mut chunks| std::mem::take(&mut *chunks));
        let chunks = stream::iter(chunks.unwrap_or_default());
        if self.wait.is_zero() {
            return Box::pin(chunks);
        }
        let waiting = stream::once(tokio::time::sleep(self.wait));
        Box::pin(waiting.flat_map(move |()| stream::empty()).chain(chunks))
    }
}
