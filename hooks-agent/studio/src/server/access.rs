//! Lets a request to a part of the page pass if the part is for the person.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use crate::access::StudioPart;
use crate::server::answer::error;
use crate::server::app::App;

type Checked = State<(Arc<App>, StudioPart)>;

/// Returns routes that are for those alone who may use the part.
pub(super) fn only_for(
    part: StudioPart,
    app: &Arc<App>,
    routes: Router<Arc<App>>,
) -> Router<Arc<App>> {
    routes.route_layer(from_fn_with_state((app.clone(), part), check))
}

async fn check(State((app, part)): Checked, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    if !app.allows(part, &head) {
        let message = match part {
            StudioPart::Acting => "you may look, and change nothing: your roles do not allow it",
            _ => "your roles do not allow to see this",
        };
        return error(StatusCode::FORBIDDEN, "viewer", message);
    }
    next.run(Request::from_parts(head, body)).await
}
