//! Reads a tape.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use serde::de::IgnoredAny;

use crate::drift::Decided;
use crate::error::TapeError;
use crate::format::{CallLine, DecisionLine, EndLine, Key, Line, Place, Reader};
use crate::recording::call::RecordedCall;
use crate::recording::recorded::{Entry, Recording, Step};

impl Recording {
    /// Reads a tape.
    ///
    /// # Errors
    /// [`TapeError`] if there is no file, it cannot be read, or a line is cut or no line of a tape; it
    /// names the line. The file is left as it is.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TapeError> {
        Self::read_entries(path.as_ref(), usize::MAX)
    }

    /// Reads a tape with the first entries alone.
    pub(crate) fn read_entries(path: &Path, limit: usize) -> Result<Self, TapeError> {
        if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        {
            return Err(TapeError::NoTape { path: path.to_owned() });
        }
        let (mut reader, header) = Reader::open(path)?;
        let mut load = Load::default();
        let mut last = 1;
        while let Some((place, line)) = reader.next()? {
            last = place.line;
            load.add(place, line).map_err(|reason| reader.error(reason))?;
        }
        if let Some(call) = load.calls.iter().find(|call| call.end.is_none()) {
            let reason = format!("the tape ends here, and the call {} has no end", call.run);
            return Err(TapeError::line(path, last, reason));
        }
        let end = reader.end();
        load.entries.truncate(limit);
        let kept = load.entries.len();
        for call in &mut load.calls {
            call.entries.retain(|entry| *entry < kept);
            // Appended entries come later in the file than in the call.
            call.entries.sort_by_key(|entry| match load.entries[*entry].step {
                Step::Model { round, attempt } => (0, round, attempt),
                Step::Tool { n, .. } => (1, n, 0),
            });
        }
        let mut recording = Self {
            path: path.to_owned(),
            redacted: header.redacted,
            secrets: header.secrets,
            agents: Vec::new(),
            calls: load.calls,
            entries: load.entries,
            end,
            file: Mutex::new(File::open(path).map_err(TapeError::io(path, "read"))?),
            requests: Mutex::default(),
        };
        recording.agents = recording.find_agents()?;
        Ok(recording)
    }
}

#[derive(Default)]
struct Load {
    calls: Vec<RecordedCall>,
    entries: Vec<Entry>,
    by_run: HashMap<String, usize>,
}

impl Load {
    fn add(&mut self, place: Place, line: Line) -> Result<(), String> {
        match line {
            Line::Header(_) => Err("a second header".to_owned()),
            Line::Close(_) => Err("a line `close`, which no tape of version 1 has".to_owned()),
            Line::Call(line) => self.add_call(place, line),
            Line::Model(line) => {
                let step = Step::Model { round: line.round, attempt: line.attempt };
                self.add_entry(place, &line.run, &line.key, step)
            }
            Line::Tool(line) => {
                let step = Step::Tool { n: line.n, id: line.id, name: line.name };
                self.add_entry(place, &line.run, &line.key, step)
            }
            Line::Decision(line) => self.add_decision(line),
            Line::End(line) => self.add_end(place, line),
        }
    }

    fn add_call(&mut self, place: Place, line: CallLine<IgnoredAny>) -> Result<(), String> {
        let CallLine { run, agent, thread, parent, tool_call, confirmed, .. } = line;
        if self.by_run.insert(run.clone(), self.calls.len()).is_some() {
            return Err(format!("the call {run} begins twice"));
        }
        self.calls.push(RecordedCall {
            run,
            agent,
            thread,
            parent,
            tool_call,
            confirmed,
            decisions: Vec::new(),
            outcome: None,
            reason: None,
            error: None,
            place,
            end: None,
            entries: Vec::new(),
        });
        Ok(())
    }

    fn add_entry(&mut self, place: Place, run: &str, key: &str, step: Step) -> Result<(), String> {
        let call = self.call(run)?;
        let key = Key::parse(key).ok_or("`key` is no SHA-256, 64 digits in lower case")?;
        self.calls[call].entries.push(self.entries.len());
        self.entries.push(Entry { call, key, place, step });
        Ok(())
    }

    fn add_decision(&mut self, line: DecisionLine) -> Result<(), String> {
        let call = self.call(&line.run)?;
        let DecisionLine { hook, event, tool_call, flow, changed, .. } = line;
        self.calls[call].decisions.push(Decided { hook, event, tool_call, flow, changed });
        Ok(())
    }

    fn add_end(&mut self, place: Place, line: EndLine) -> Result<(), String> {
        let call = self.call(&line.run)?;
        let call = &mut self.calls[call];
        call.outcome = Some(line.outcome);
        call.error = line.error.and_then(|error| error.as_str().map(ToOwned::to_owned));
        call.reason = line.reply.and_then(|reply| Some(reply.get("reason")?.as_str()?.to_owned()));
        call.end = Some(place);
        Ok(())
    }

    fn call(&self, run: &str) -> Result<usize, String> {
        let call = self.by_run.get(run).copied();
        call.ok_or_else(|| format!("the call {run} has not begun before this line"))
    }
}
