//! The events of `tracing` while a hook runs.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// The id of spans that the subscriber of the test leaves out.
const LEFT_OUT: u64 = u64::MAX;

/// Collects the events of `tracing` up to debug that happen in its scope, on the thread of the scope.
pub(super) struct Logs {
    dispatch: Dispatch,
    lines: Arc<Mutex<Vec<String>>>,
}

/// Notes events and forwards everything to the subscriber of the test.
struct Tap {
    /// The most verbose level to note.
    most: LevelFilter,
    outer: Dispatch,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Logs {
    /// Starts without events.
    pub(super) fn new() -> Self {
        // While there is only one subscriber, `tracing` asks the thread that first reaches an event
        // for all threads. This one wants nothing.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| {
            let (most, outer) = (LevelFilter::OFF, Dispatch::none());
            Dispatch::new(Tap { most, outer, lines: Arc::default() })
        });
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let outer = dispatcher::get_default(Dispatch::clone);
        let tap = Tap { most: LevelFilter::DEBUG, outer, lines: lines.clone() };
        Self { dispatch: Dispatch::new(tap), lines }
    }

    /// Runs the closure in the scope.
    pub(super) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        dispatcher::with_default(&self.dispatch, run)
    }

    /// Takes the lines of the events, as `WARN the message key=value`.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Subscriber for Tap {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most || self.outer.enabled(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        if self.outer.enabled(span.metadata()) {
            self.outer.new_span(span)
        } else {
            Id::from_u64(LEFT_OUT)
        }
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if span.into_u64() != LEFT_OUT {
            self.outer.record(span, values);
        }
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        if span.into_u64() != LEFT_OUT && follows.into_u64() != LEFT_OUT {
            self.outer.record_follows_from(span, follows);
        }
    }

    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() <= self.most {
            let mut line = Line { text: event.metadata().level().to_string() };
            event.record(&mut line);
            self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.text);
        }
        if self.outer.enabled(event.metadata()) {
            self.outer.event(event);
        }
    }

    fn enter(&self, span: &Id) {
        if span.into_u64() != LEFT_OUT {
            self.outer.enter(span);
        }
    }

    fn exit(&self, span: &Id) {
        if span.into_u64() != LEFT_OUT {
            self.outer.exit(span);
        }
    }

    fn clone_span(&self, span: &Id) -> Id {
        if span.into_u64() == LEFT_OUT { span.clone() } else { self.outer.clone_span(span) }
    }

    fn try_close(&self, span: Id) -> bool {
        span.into_u64() != LEFT_OUT && self.outer.try_close(span)
    }
}

/// The text of an event.
struct Line {
    text: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.text, " {value:?}"),
            name => write!(self.text, " {name}={value:?}"),
        };
    }
}
