//! Messages that fail, panic or end the process.
