//! Reads requests, which are written as differences to earlier ones.

use std::collections::VecDeque;
use std::sync::PoisonError;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::TapeError;
use crate::format::{ModelLine, Parts, Place, Written, parse};
use crate::recording::recorded::Recording;

/// How many requests are kept: the next one of a call is the difference to one of these.
const MOST: usize = 64;

/// The requests that were read last, by the numbers of their lines.
#[derive(Default)]
pub(crate) struct Requests(VecDeque<(usize, Parts)>);

impl Requests {
    /// Takes the request of a line out. The next one of the call takes its place.
    fn take(&mut self, line: usize) -> Option<Parts> {
        let index = self.0.iter().position(|(known, _)| *known == line)?;
        self.0.remove(index).map(|(_, parts)| parts)
    }

    fn keep(&mut self, line: usize, parts: Parts) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((line, parts));
    }
}

impl Recording {
    /// Reads the request of a call of the model, and its line without the request.
    pub(crate) fn request(
        &self,
        place: Place,
    ) -> Result<(Parts, ModelLine<IgnoredAny, Value>), TapeError> {
        let bytes = self.bytes(place)?;
        let known = self.requests().take(place.line);
        if let Some(request) = known {
            self.requests().keep(place.line, request.clone());
            return Ok((request, parse(&bytes, &self.path, place)?));
        }
        let (mut later, mut before) = (Vec::new(), None);
        let mut next = (place, self.written(&bytes, place)?);
        // Back to a request that is whole, or known.
        while let Some(like) = next.1.like {
            before = self.requests().take(like);
            if before.is_some() {
                break;
            }
            let earlier = self.place_of(like).filter(|earlier| earlier.line < next.0.line);
            let earlier = earlier.ok_or_else(|| {
                let reason = format!("its request is like line {like}, which has none");
                TapeError::line(&self.path, next.0.line, reason)
            })?;
            let written = self.written(&self.bytes(earlier)?, earlier)?;
            later.push(std::mem::replace(&mut next, (earlier, written)));
        }
        later.push(next);
        let mut request = None;
        for (place, written) in later.into_iter().rev() {
            let unusable = |reason| TapeError::line(&self.path, place.line, reason);
            let parts = written.parts(before.as_ref()).map_err(unusable)?;
            before = Some(parts.clone());
            request = Some(parts);
        }
        let request = request.expect("one is that of the line");
        self.requests().keep(place.line, request.clone());
        Ok((request, parse(&bytes, &self.path, place)?))
    }

    /// Reads the request of a call of the model as a value, with the name of the model.
    pub(crate) fn request_value(&self, place: Place) -> Result<Value, TapeError> {
        let (request, line) = self.request(place)?;
        request.value(line.model.as_deref())
    }

    fn written(&self, bytes: &[u8], place: Place) -> Result<Written, TapeError> {
        let unusable = |reason: String| TapeError::line(&self.path, place.line, reason);
        let line: ModelLine<Value, IgnoredAny> = parse(bytes, &self.path, place)?;
        Written::read(line.request).map_err(unusable)
    }

    /// Returns where the call of the model on a line is.
    fn place_of(&self, line: usize) -> Option<Place> {
        let index = self.entries.binary_search_by_key(&line, |entry| entry.place.line).ok()?;
        let entry = &self.entries[index];
        entry.step.is_model().then_some(entry.place)
    }

    fn requests(&self) -> std::sync::MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
