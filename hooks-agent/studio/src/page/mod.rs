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
        "panels.css" => (CSS, include_bytes!("style/panels.css")),
        "tree.css" => (CSS, include_bytes!("style/tree.css")),
        "entrance.js" => (SCRIPT, include_bytes!("script/entrance.js")),
        "main.js" => (SCRIPT, include_bytes!("script/main.js")),
        "api.js" => (SCRIPT, include_bytes!("script/data/api.js")),
        "entry.js" => (SCRIPT, include_bytes!("script/data/entry.js")),
        "json.js" => (SCRIPT, include_bytes!("script/data/json.js")),
        "live.js" => (SCRIPT, include_bytes!("script/data/live.js")),
        "node.js" => (SCRIPT, include_bytes!("script/data/node.js")),
        "run_tree.js" => (SCRIPT, include_bytes!("script/data/run_tree.js")),
        "run_view.js" => (SCRIPT, include_bytes!("script/data/run_view.js")),
        "state.js" => (SCRIPT, include_bytes!("script/data/state.js")),
        "texts.js" => (SCRIPT, include_bytes!("script/data/texts.js")),
        "agents.js" => (SCRIPT, include_bytes!("script/view/agents.js")),
        "approvals.js" => (SCRIPT, include_bytes!("script/view/approvals.js")),
        "code.js" => (SCRIPT, include_bytes!("script/view/code.js")),
        "dom.js" => (SCRIPT, include_bytes!("script/view/dom.js")),
        "format.js" => (SCRIPT, include_bytes!("script/view/format.js")),
        "keys.js" => (SCRIPT, include_bytes!("script/view/keys.js")),
        "rows.js" => (SCRIPT, include_bytes!("script/view/rows.js")),
        "run.js" => (SCRIPT, include_bytes!("script/view/run.js")),
        "runs.js" => (SCRIPT, include_bytes!("script/view/runs.js")),
        "theme.js" => (SCRIPT, include_bytes!("script/view/theme.js")),
        "windowed.js" => (SCRIPT, include_bytes!("script/view/windowed.js")),
        _ => return None,
    };
    Some(Asset { content_type, bytes })
}
