//! The files of the page, in the binary.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ICON: &str = "image/svg+xml";

/// Returns the page.
pub(super) fn index() -> Asset {
    Asset { content_type: HTML, bytes: include_bytes!("index.html") }
}

/// Returns the file of this name below `/assets/`.
pub(super) fn asset(name: &str) -> Option<Asset> {
    let (content_type, bytes): (_, &'static [u8]) = match name {
        "icon.svg" => (ICON, include_bytes!("icon.svg")),
        "icon-waiting.svg" => (ICON, include_bytes!("icon-waiting.svg")),
        "base.css" => (CSS, include_bytes!("style/base.css")),
        "layout.css" => (CSS, include_bytes!("style/layout.css")),
        "overview.css" => (CSS, include_bytes!("style/overview.css")),
        "panels.css" => (CSS, include_bytes!("style/panels.css")),
        "threads.css" => (CSS, include_bytes!("style/threads.css")),
        "time.css" => (CSS, include_bytes!("style/time.css")),
        "tree.css" => (CSS, include_bytes!("style/tree.css")),
        "entrance.js" => (SCRIPT, include_bytes!("script/entrance.js")),
        "main.js" => (SCRIPT, include_bytes!("script/main.js")),
        "api.js" => (SCRIPT, include_bytes!("script/data/api.js")),
        "compare.js" => (SCRIPT, include_bytes!("script/data/compare.js")),
        "conversations.js" => (SCRIPT, include_bytes!("script/data/conversations.js")),
        "diff.js" => (SCRIPT, include_bytes!("script/data/diff.js")),
        "entry.js" => (SCRIPT, include_bytes!("script/data/entry.js")),
        "json.js" => (SCRIPT, include_bytes!("script/data/json.js")),
        "lint.js" => (SCRIPT, include_bytes!("script/data/lint.js")),
        "live.js" => (SCRIPT, include_bytes!("script/data/live.js")),
        "node.js" => (SCRIPT, include_bytes!("script/data/node.js")),
        "numbers.js" => (SCRIPT, include_bytes!("script/data/numbers.js")),
        "place.js" => (SCRIPT, include_bytes!("script/data/place.js")),
        "request.js" => (SCRIPT, include_bytes!("script/data/request.js")),
        "run_tree.js" => (SCRIPT, include_bytes!("script/data/run_tree.js")),
        "run_view.js" => (SCRIPT, include_bytes!("script/data/run_view.js")),
        "schema.js" => (SCRIPT, include_bytes!("script/data/schema.js")),
        "shared.js" => (SCRIPT, include_bytes!("script/data/shared.js")),
        "source.js" => (SCRIPT, include_bytes!("script/data/source.js")),
        "spans.js" => (SCRIPT, include_bytes!("script/data/spans.js")),
        "state.js" => (SCRIPT, include_bytes!("script/data/state.js")),
        "texts.js" => (SCRIPT, include_bytes!("script/data/texts.js")),
        "agents.js" => (SCRIPT, include_bytes!("script/view/agents.js")),
        "approvals.js" => (SCRIPT, include_bytes!("script/view/approvals.js")),
        "bars.js" => (SCRIPT, include_bytes!("script/view/bars.js")),
        "card.js" => (SCRIPT, include_bytes!("script/view/card.js")),
        "chart.js" => (SCRIPT, include_bytes!("script/view/chart.js")),
        "code.js" => (SCRIPT, include_bytes!("script/view/code.js")),
        "comparison.js" => (SCRIPT, include_bytes!("script/view/comparison.js")),
        "copy.js" => (SCRIPT, include_bytes!("script/view/copy.js")),
        "days.js" => (SCRIPT, include_bytes!("script/view/days.js")),
        "dom.js" => (SCRIPT, include_bytes!("script/view/dom.js")),
        "edit.js" => (SCRIPT, include_bytes!("script/view/edit.js")),
        "export.js" => (SCRIPT, include_bytes!("script/view/export.js")),
        "failure.js" => (SCRIPT, include_bytes!("script/view/failure.js")),
        "format.js" => (SCRIPT, include_bytes!("script/view/format.js")),
        "hooks.js" => (SCRIPT, include_bytes!("script/view/hooks.js")),
        "kept_rows.js" => (SCRIPT, include_bytes!("script/view/kept_rows.js")),
        "keys.js" => (SCRIPT, include_bytes!("script/view/keys.js")),
        "kinds.js" => (SCRIPT, include_bytes!("script/view/kinds.js")),
        "message.js" => (SCRIPT, include_bytes!("script/view/message.js")),
        "older.js" => (SCRIPT, include_bytes!("script/view/older.js")),
        "overview.js" => (SCRIPT, include_bytes!("script/view/overview.js")),
        "piece.js" => (SCRIPT, include_bytes!("script/view/piece.js")),
        "remember.js" => (SCRIPT, include_bytes!("script/view/remember.js")),
        "request_body.js" => (SCRIPT, include_bytes!("script/view/request_body.js")),
        "rows.js" => (SCRIPT, include_bytes!("script/view/rows.js")),
        "run.js" => (SCRIPT, include_bytes!("script/view/run.js")),
        "run_head.js" => (SCRIPT, include_bytes!("script/view/run_head.js")),
        "run_items.js" => (SCRIPT, include_bytes!("script/view/run_items.js")),
        "runs.js" => (SCRIPT, include_bytes!("script/view/runs.js")),
        "search.js" => (SCRIPT, include_bytes!("script/view/search.js")),
        "stored.js" => (SCRIPT, include_bytes!("script/view/stored.js")),
        "table.js" => (SCRIPT, include_bytes!("script/view/table.js")),
        "theme.js" => (SCRIPT, include_bytes!("script/view/theme.js")),
        "thread.js" => (SCRIPT, include_bytes!("script/view/thread.js")),
        "threads.js" => (SCRIPT, include_bytes!("script/view/threads.js")),
        "timeline.js" => (SCRIPT, include_bytes!("script/view/timeline.js")),
        "windowed.js" => (SCRIPT, include_bytes!("script/view/windowed.js")),
        _ => return None,
    };
    Some(Asset { content_type, bytes })
}
