//! What a subscriber of `tracing` receives.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use crate::Records;

/// A subscriber that keeps the events and spans that it receives, as text.
#[derive(Debug)]
pub struct Reports {
    records: Arc<Records<String>>,
    most: Level,
    spans: AtomicU64,
}

impl Reports {
    /// Creates a subscriber for events of this level and above. Returns it with its records.
    #[must_use]
    pub fn up_to(most: Level) -> (Self, Arc<Records<String>>) {
        // While there is only one subscriber, `tracing` takes the word of any thread that has none for
        // everybody's.
        static OTHER: OnceLock<Dispatch> = OnceLock::new();
        OTHER.get_or_init(|| {
            // One that wants next to nothing: `NoSubscriber` would ask for everything, for good.
            let (records, most) = (Arc::default(), Level::ERROR);
            Dispatch::new(Self { records, most, spans: AtomicU64::new(0) })
        });
        let records = Arc::new(Records::new());
        (Self { records: records.clone(), most, spans: AtomicU64::new(0) }, records)
    }
}

impl Subscriber for Reports {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    // Else the hooks of every other test in the process are traced too, and take another way.
    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(self.most.into())
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.spans.fetch_add(1, Ordering::Relaxed) + 1;
        let mut text = format!("new {} {id}", span.metadata().name());
        span.record(&mut |field: &Field, value: &dyn std::fmt::Debug| add(&mut text, field, value));
        self.records.push(text);
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = event.metadata().level().to_string();
        event
            .record(&mut |field: &Field, value: &dyn std::fmt::Debug| add(&mut text, field, value));
        self.records.push(text);
    }

    fn enter(&self, span: &Id) {
        self.records.push(format!("enter {}", span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        self.records.push(format!("exit {}", span.into_u64()));
    }
}

fn add(text: &mut String, field: &Field, value: &dyn std::fmt::Debug) {
    text.extend([" ", field.name(), "=", &format!("{value:?}")]);
}
