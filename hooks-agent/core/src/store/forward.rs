//! Stores behind pointers.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::identity::User;
use crate::message::Msg;
use crate::store::claim::Claim;
use crate::store::contract::{Backend, Store, StoreFuture};
use crate::store::filter::Filter;
use crate::store::inbox::Steered;
use crate::store::key::ThreadKey;
use crate::store::people::{Approval, Verdict, Waiting};
use crate::store::quota::{QuotaUse, Reservation, Window};
use crate::store::record::{HistoryRow, ThreadInfo};
use crate::store::report::StoreReport;
use crate::store::runs::RunHistory;

macro_rules! forward {
    ($($pointer:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: Store + ?Sized> Store for $pointer<S> {
            fn backend(&self) -> Backend {
                (**self).backend()
            }

            fn waiting(&self, filter: Filter) -> StoreFuture<'_, Vec<Waiting>> {
                (**self).waiting(filter)
            }

            fn decide(&self, verdicts: Vec<Verdict>) -> StoreFuture<'_, ()> {
                (**self).decide(verdicts)
            }

            fn expire(&self) -> StoreFuture<'_, u64> {
                (**self).expire()
            }

            fn threads(&self, filter: Filter) -> StoreFuture<'_, Vec<ThreadInfo>> {
                (**self).threads(filter)
            }

            fn history<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Vec<HistoryRow>> {
                (**self).history(thread)
            }

            fn values<'a>(&'a self, thread: &'a ThreadKey) -> StoreFuture<'a, Map<String, Value>> {
                (**self).values(thread)
            }

            fn import<'a>(
                &'a self,
                thread: &'a ThreadKey,
                rows: Vec<HistoryRow>,
                values: Map<String, Value>,
                user: Option<Arc<str>>,
            ) -> StoreFuture<'a, ()> {
                (**self).import(thread, rows, values, user)
            }

            fn forget(&self, filter: Filter) -> StoreFuture<'_, u64> {
                (**self).forget(filter)
            }

            fn prune(&self, filter: Filter) -> StoreFuture<'_, u64> {
                (**self).prune(filter)
            }

            fn report(&self) -> StoreFuture<'_, StoreReport> {
                (**self).report()
            }

            fn reserve(
                &self,
                reservations: Vec<Reservation>,
            ) -> StoreFuture<'_, Vec<Reservation>> {
                (**self).reserve(reservations)
            }

            fn settle(&self, used: Vec<Reservation>) -> StoreFuture<'_, ()> {
                (**self).settle(used)
            }

            fn quota_uses<'a>(
                &'a self,
                quota: &'a str,
                window: &'a Window,
            ) -> StoreFuture<'a, Vec<QuotaUse>> {
                (**self).quota_uses(quota, window)
            }

            fn steer<'a>(
                &'a self,
                thread: &'a ThreadKey,
                claim: &'a Claim,
                key: Arc<str>,
                message: Msg,
            ) -> StoreFuture<'a, Steered> {
                (**self).steer(thread, claim, key, message)
            }

            fn approvals(&self, filter: Filter) -> StoreFuture<'_, Vec<Approval>> {
                (**self).approvals(filter)
            }

            fn recall(&self, questions: Vec<Arc<str>>) -> StoreFuture<'_, Vec<Waiting>> {
                (**self).recall(questions)
            }

            fn revoke<'a>(&'a self, id: &'a str, by: &'a User) -> StoreFuture<'a, bool> {
                (**self).revoke(id, by)
            }

            fn run_history(&self) -> Option<&dyn RunHistory> {
                (**self).run_history()
            }
        }
    )*};
}

forward!(Arc, Box);
