//! Stores: where the threads of agents and the questions to people outlive the process.

mod claim;
mod clock;
mod contract;
mod error;
mod filter;
mod forward;
mod inbox;
mod key;
mod lease;
mod operations;
mod options;
mod people;
mod quota;
mod record;
mod report;
mod runs;
mod step;

pub use claim::Claim;
pub(crate) use clock::now;
pub use contract::{Backend, Steps, Store, StoreFuture};
pub use error::StoreError;
pub use filter::Filter;
pub use inbox::{InboxMessage, Steered};
pub use key::{NameError, ThreadKey, check_name};
pub use lease::{Acquired, Lease};
pub use operations::{ExportError, ForkError, ImportError, ImportOptions, export, fork, import};
pub use options::{Durability, Unknown};
pub use people::{
    Allowed, Approval, ApprovalRule, Decided, Decision, DecisionError, NotRemembered, Reach,
    Remember, Reviewed, Verdict, Waiting, recall, review,
};
pub(crate) use people::{Book, EXPIRED, EXPIRY, by_call};
pub(crate) use quota::Ledger;
pub use quota::{Admitted, QuotaExceeded, QuotaUse, Reservation, Used, Window, admit};
pub use record::{
    CallRecord, CallState, HistoryRow, SUB_THREADS, StoredMessage, ThreadInfo, ThreadRecord,
};
pub use report::StoreReport;
pub use runs::{
    KeptRun, ParseRunCursorError, RunCursor, RunError, RunFilter, RunHistory, RunPage, RunSums,
    RunTotal, SummedTotal, text_words, words_of,
};
pub use step::Step;
