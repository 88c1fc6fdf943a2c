//! The routes of questions and decisions.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::approvals::DecisionRequest;
use crate::join::{Order, Person, denies};
use crate::server::acts;
use crate::server::answer::{invalid, json, nobody, store_failed};
use crate::server::app::App;
use crate::server::body::read;
use crate::server::routes::join::asked;
use crate::shared::Shared;

pub(super) async fn approvals(State(app): State<Arc<App>>) -> Response {
    match app.desk.list().await {
        Ok(list) => json(StatusCode::OK, list.to_string()),
        Err(error) => store_failed(&error),
    }
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let Some(by) = app.desk.user(&head) else { return nobody() };
    let wanted = match read::<DecisionRequest>(body).await {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    let Shared { announced, joined, .. } = &*app.desk.shared;
    if !announced.knows(&id)
        && let Some(worker) = joined.of_question(&id)
    {
        if !app.desk.shared.settings.shows().content && !denies(&wanted) {
            return invalid("the arguments are not shown, so the call can only be denied");
        }
        let order = Order::Decide { id, request: wanted, by: Person::from(&by) };
        return asked(&app, &worker, order).await;
    }
    acts::decide(&app.desk, id, wanted, by).await
}

pub(super) async fn remembered(State(app): State<Arc<App>>) -> Response {
    match app.desk.remembered().await {
        Ok(list) => json(StatusCode::OK, list.to_string()),
        Err(error) => store_failed(&error),
    }
}

pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (head, _) = request.into_parts();
    let Some(by) = app.desk.user(&head) else { return nobody() };
    let answer = acts::revoke(&app.desk, &id, &by).await;
    if answer.status() == StatusCode::NOT_FOUND
        && let Some(worker) = app.desk.shared.joined.of_remembered(&id)
    {
        return asked(&app, &worker, Order::Revoke { id, by: Person::from(&by) }).await;
    }
    answer
}
